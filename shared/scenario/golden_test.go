package scenario_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/scenario"
)

const updateFlag = "update"

func TestMain(m *testing.M) {
	flag.Bool(updateFlag, false, "write the golden files anew")
	flag.Parse()
	os.Exit(m.Run())
}

func TestTheJSONOfACaseIsAsWrittenDown(t *testing.T) {
	for _, name := range []string{"r18-failed-read-is-not-absence", "r48-second-look-sees-a-mass", "r63b-alarm-red-for-minutes"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, "testdata/cases/"+name+".yaml")
			have := asJSON(t, replay(t, s, scenario.Options{}))
			golden := filepath.Join("testdata", "golden", name+".jsonl")
			if flag.Lookup(updateFlag).Value.String() == "true" {
				if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if have != string(want) {
				t.Errorf("differs from %s (go test -update writes it anew)\nhave %s\nwant %s", golden, have, want)
			}
		})
	}
}

// The format promises the keys of a sweep in this order.
func TestTheKeysOfASweepStandInTheOrderOfTheFormat(t *testing.T) {
	s := load(t, "testdata/cases/r29b-two-of-four-hold.yaml")
	line, _, _ := strings.Cut(asJSON(t, replay(t, s, scenario.Options{})), "\n")
	at := -1
	for _, key := range []string{"scenario", "group", "step", "at", "mode", "cause", "would", "actions", "deferred", "pages", "members", "failures"} {
		next := strings.Index(line, `"`+key+`":`)
		if next <= at {
			t.Errorf("key %q at %d, want it after %d in %s", key, next, at, line)
		}
		at = next
	}
}

// A-V19: mode observe is the same path. As long as the worlds are the same, that is until the first call in mode act, both modes
// must want the same calls for the same reasons; and observe must never make one.
func TestObserveWantsTheSameAndCallsNothing(t *testing.T) {
	compared := 0
	for _, file := range caseFiles(t) {
		t.Run(caseName(file), func(t *testing.T) {
			s := load(t, file)
			act := replay(t, s, scenario.Options{Mode: guard.ModeAct}).Sweeps
			observe := replay(t, s, scenario.Options{Mode: guard.ModeObserve}).Sweeps
			if len(act) != len(observe) {
				t.Fatalf("%d sweeps in mode act, %d in observe", len(act), len(observe))
			}
			for i := range observe {
				if len(observe[i].Actions) > 0 {
					t.Errorf("%s at %s: observe made calls: %v", observe[i].Group, observe[i].At, observe[i].Actions)
				}
			}
			for i := 0; i < sameWorld(s, act); i++ {
				compared++
				if have, want := wanted(t, observe[i]), wanted(t, act[i]); have != want {
					t.Errorf("%s at %s\nobserve %s\nact     %s", act[i].Group, act[i].At, have, want)
				}
			}
		})
	}
	if compared < 150 {
		t.Errorf("compared %d sweeps, want 150 at least", compared)
	}
}

// sameWorld is the number of sweeps for which both modes have the same input: up to the moment at which mode act made its first
// call, that moment included, and before a second look that differs, because observe has nothing to look twice for. A hold that was
// made for real is paused in observe, which is another input from the start.
func sameWorld(s *scenario.Scenario, act []scenario.Sweep) int {
	for _, g := range s.Groups {
		if g.History.Held != nil {
			return 0
		}
	}
	end := len(act)
	for _, step := range s.Steps {
		if slices.ContainsFunc(step.Changes, func(c scenario.Change) bool { return c.Reread != nil }) {
			at := fmt.Sprintf("%ds", int(step.Times[0].Seconds()))
			end = min(end, slices.IndexFunc(act, func(s scenario.Sweep) bool { return s.At == at }))
		}
	}
	if first := slices.IndexFunc(act, func(s scenario.Sweep) bool { return len(s.Actions) > 0 }); first >= 0 {
		for first < len(act)-1 && act[first+1].At == act[first].At {
			first++
		}
		end = min(end, first+1)
	}
	return end
}

// wanted is what a sweep decided, without what tells the two modes apart: where a call stands, the deferral mode, and the texts
// and extra notice of observe.
func wanted(t *testing.T, s scenario.Sweep) string {
	t.Helper()
	calls := append(slices.Clone(s.Actions), s.Would...)
	for i := range calls {
		calls[i].Error = ""
	}
	deferred := slices.DeleteFunc(slices.Clone(s.Deferred), func(d scenario.Deferred) bool { return d.Reason == guard.ReasonMode })
	var pages []string
	for _, p := range s.Pages {
		if p.Key != guard.PagePausedWhileHeld {
			pages = append(pages, p.Key)
		}
	}
	raw, err := json.Marshal([]any{s.Mode, s.Cause, calls, deferred, pages, s.Members, s.Verdict.Triggers})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
