package gameday_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

func TestTheDocumentTellsOfEveryDayAndNoOther(t *testing.T) {
	text, err := os.ReadFile("../../../docs/game-days.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## The days")
	section, _, _ := strings.Cut(rest, "\n## ")
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(section, -1) {
		told[row[1]] = true
	}
	for _, day := range gameday.Days() {
		if !told[day.Name] {
			t.Errorf("the document does not tell of %s", day.Name)
		}
		delete(told, day.Name)
	}
	for name := range told {
		t.Errorf("the document tells of %s, which is no day", name)
	}
}
