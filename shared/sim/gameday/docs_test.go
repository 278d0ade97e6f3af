package gameday_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

func TestTheDocumentTellsOfEveryDayAndNoOther(t *testing.T) {
	text, err := os.ReadFile("../../../docs/game-days.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllSubmatch(text, -1) {
		told[string(row[1])] = true
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
