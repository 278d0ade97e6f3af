package guard_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

const (
	walks    = 160
	walkLong = 60
)

// flags of this test; a package has no variable of its own, so they are looked up by name.
func init() {
	flag.Bool("update", false, "write the golden files anew")
	flag.Int("walk", -1, "print one walk in full, to be compared with the same walk before a change")
}

// TestEveryWalkDecidesWhatItDecidedBefore lets groups walk through a world in which nearly everything happens, drawn by the walk's number, and
// compares everything that was decided with what was written down: a line a walk, with what happened and a sum over all verdicts, texts, states and
// numbers. It knows no rule, so it says nothing about what is right. It says that a decision has changed, and a change must be meant: print the walk
// before and after it (-walk N) and look at the first line that differs; then write the file anew (-update).
func TestEveryWalkDecidesWhatItDecidedBefore(t *testing.T) {
	golden := filepath.Join("testdata", "walks.golden")
	shown := flag.Lookup("walk").Value.(flag.Getter).Get().(int)
	if flag.Lookup("update").Value.String() == "true" {
		var out strings.Builder
		for n := range walks {
			out.WriteString(newWalk(n).run(nil) + "\n")
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != walks {
		t.Fatalf("%d lines, want %d", len(lines), walks)
	}
	for n, line := range lines {
		var all bytes.Buffer
		if n == shown {
			defer func() { t.Log("\n" + all.String()) }()
		}
		if have := newWalk(n).run(&all); have != line {
			t.Fatalf("a decision has changed\nhave %s\nwant %s\nlook at it with: go test ./shared/guard -run Walk -v -walk %d", have, line, n)
		}
	}
}

// walk is one group and its dice.
type walk struct {
	*guardtest.Fleet
	r                        *rand.Rand
	n, requests              int
	marks, holds, ends, told int
	sum                      uint32
}

func newWalk(n int) *walk {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	w := &walk{Fleet: guardtest.New(pick(r, 1, 2, 3, 4, 5, 6, 8, 8, 12, 45)), r: r, n: n}
	p := &w.In.Policy
	if n%2 == 0 {
		calm(w.Fleet) // so that marks are met as often as holds
	}
	if n%5 == 4 {
		p.Kind, p.Queue = guard.KindWorker, &guard.QueueSpec{SQSURL: "q", Deep: 100}
	}
	if n%3 == 0 {
		w.In.Group.TargetGroups = append(w.In.Group.TargetGroups, guard.TargetGroup{Name: "admin", InUse: n%2 == 0})
	}
	p.HoldExit = pick(r, guard.ExitOperator, guard.ExitPaced)
	p.QuietSeconds, p.HoldMaxSeconds = pick(r, 60, 180, 600), pick(r, 600, 3600)
	p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay = r.IntN(4), r.IntN(4), 1+r.IntN(5), 1+r.IntN(12)
	p.ConfirmSweeps, p.ConvergeFailures = 1+r.IntN(3), 1+r.IntN(3)
	p.PageRepeatSeconds, p.DeferredPageSeconds, p.ReplacementTimeoutSeconds = pick(r, 60, 600), pick(r, 120, 1800), pick(r, 180, 900)
	p.SelfReportAlone, p.ActOnLastInstance = n%7 == 0, n%11 == 0
	p.BootGraceSeconds, p.DisagreeSeconds = pick(r, 0, 60, 300), pick(r, 120, 900)
	w.In.Region.Eligible = map[string]int{"a": 30, "b": 45}
	if len(w.In.Group.Members) > 1 {
		w.M(0).Weight, w.M(1).InstanceType = 1+r.IntN(3), "c7g.large"
	}
	return w
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// run walks, writes every look to out, and returns the line of the walk.
func (w *walk) run(out *bytes.Buffer) string {
	for i := range walkLong {
		if i%20 == 0 {
			w.settle()
		}
		if i%20 > 5 && w.r.IntN(4) > 0 {
			w.look(out, guardtest.Interval) // a time in which little happens, so that things come to their end
			continue
		}
		if w.n%2 == 0 && w.r.IntN(2) == 0 {
			w.Break(w.r.IntN(len(w.In.Group.Members))) // one member, which is to be replaced
		} else {
			w.happen()
		}
		w.look(out, pick(w.r, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute, 30*time.Second, time.Second, 3*time.Minute, 10*time.Minute, time.Hour, 24*time.Hour, -time.Minute))
	}
	return fmt.Sprintf("walk %3d: %d marks, %d holds, %d releases, %d pages, sum %08x", w.n, w.marks, w.holds, w.ends, w.told, w.sum)
}

func (w *walk) look(out *bytes.Buffer, d time.Duration) {
	held := w.In.State.Hold != nil
	input := w.In
	v := w.Step(d)
	input.Now = w.In.Now
	w.marks += len(v.Marks())
	w.told += len(v.Pages)
	switch now := v.State.Hold != nil; {
	case now && !held:
		w.holds++
	case held && !now:
		w.ends++
	}
	line, err := json.Marshal(struct {
		At             time.Time
		Verdict, Seen  guard.Verdict
		Explain        []string
		State, Pre     guard.State
		Delta          guard.RegionDelta
		Region         guard.RegionState
		Recorded       guard.State
		Suspended      []guard.Suspension
		HealthCheckEnd bool
	}{
		w.In.Now, v, guard.Withhold(input, v), v.Explain(), v.State, guard.Prepare(input.State, input.Policy), v.Region, w.In.Region, w.In.State, w.In.Group.Suspended,
		len(w.In.Group.Activities) > 0 && w.In.Group.Activities[0].HealthTermination(),
	})
	if err != nil {
		panic(err) // a verdict is always JSON
	}
	w.sum = crc32.Update(w.sum, crc32.IEEETable, line)
	if out != nil {
		fmt.Fprintf(out, "%s\n", line)
	}
}

// settle makes the world quiet, so that what follows is not only the end of what was before.
func (w *walk) settle() {
	g, p := &w.In.Group, &w.In.Policy
	w.In.Reads, g.Refresh, g.OptedIn, g.Operator, g.Dependencies, g.ForeignTargets = guard.Reads{}, "", true, "", nil, nil
	p.Mode, p.Action, w.Failing, g.Desired = guard.ModeAct, guard.ActionReplace, false, len(g.Members)
	w.Resume("Launch", "Terminate", "AddToLoadBalancer")
	for i := range g.Members {
		m := w.M(i)
		m.Lifecycle, m.OptedOut, m.Protected = "InService", false, false
		m.Beat.Found, m.Beat.Unreadable = true, false
		if len(m.Targets) == 0 {
			m.Targets = []guard.Target{{Group: guardtest.TargetGroup, Port: 80, State: "healthy"}}
		}
		w.Heal(i)
	}
}

// happen lets one thing happen.
func (w *walk) happen() {
	things := []func(int){
		w.fails, w.fails, w.fails, w.recovers, w.recovers, w.beats, w.beats, w.targets, w.targets, w.lifecycle, w.aws, w.aws, w.activities,
		w.owners, w.alarms, w.people, w.people, w.reads, w.settings, w.elsewhere,
	}
	things[w.r.IntN(len(things))](w.r.IntN(len(w.In.Group.Members)))
}
