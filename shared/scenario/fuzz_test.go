package scenario_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// FuzzParse feeds files to the parser and replays what it accepts, if that is small: neither may panic, and a file that is
// accepted can be replayed to its end.
func FuzzParse(f *testing.F) {
	files, err := os.ReadDir("testdata/cases")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile("testdata/cases/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 500 {
			f.Add(string(text))
		}
	}
	for _, bad := range append(badRows(), badSteps()...) {
		f.Add(bad.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse("x", []byte(text))
		if err != nil {
			if err.Error() == "" {
				t.Error("refused without a problem")
			}
			return
		}
		if !small(s) {
			return
		}
		r, err := scenario.Replay(t.Context(), s, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, sweep := range r.Sweeps {
			if strings.Contains(sweep.Trouble, "panic") {
				t.Errorf("%s at %s: %s", sweep.Group, sweep.At, sweep.Trouble)
			}
		}
	})
}

func small(s *scenario.Scenario) bool {
	members, sweeps := 0, 0
	for _, g := range s.Groups {
		for _, row := range g.Start.Fleet {
			members += len(row.Members)
		}
	}
	for _, step := range s.Steps {
		sweeps += len(step.Times)
		for _, c := range step.Changes {
			for _, row := range c.Fleet {
				members += len(row.Members)
			}
		}
	}
	return members <= 50 && sweeps <= 20 && s.Interval >= time.Second
}
