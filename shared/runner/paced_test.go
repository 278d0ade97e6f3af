package runner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// pacing gives one world for each sweep of a paced exit that makes a call, each at the moment of that sweep: two of eight members are
// bad for good, AWS calls both Unhealthy, and the hold is past its maximum.
func pacing(t *testing.T) []*bench {
	t.Helper()
	b := newBench()
	g := b.Add("web", 8)
	g.Policy = `{"hold_exit":"paced","hold_max_seconds":600,"quiet_seconds":60}`
	b.ticks(t, 7)
	b.Break(g, 2, 5)
	b.before(t, guard.ActSuspend)
	b.look(t, nil)
	g.Members[2].Unhealthy, g.Members[5].Unhealthy = true, true
	var out []*bench
	for range 90 {
		b.Step()
		at := b.clone(t)
		have := len(b.Done)
		b.look(t, nil)
		if len(b.Done) > have {
			out = append(out, at)
		}
		if _, left := g.Suspended[guard.ProcessHealthCheck]; !left {
			return out
		}
	}
	t.Fatal("the paced exit did not come to its end")
	return nil
}

// pacedWell wants both members replaced one after the other, and HealthCheck resumed after the last.
func pacedWell(t *testing.T, b *bench) {
	t.Helper()
	settled(t, b, b.Groups[0])
	if s := b.state(t, b.Groups[0]); s.Paced != nil {
		t.Errorf("still paced: %+v", *s.Paced)
	}
	marks := b.Marks()
	if len(marks) != 2 {
		t.Fatalf("marks %+v, want both members", marks)
	}
	at := func(process string) int {
		return slices.IndexFunc(b.Done, func(d runnertest.Done) bool { return d.Op == guard.ActResume && slices.Contains(d.Processes, process) })
	}
	health, replace := at(guard.ProcessHealthCheck), at(guard.ProcessReplaceUnhealthy)
	if replace < 0 || health < replace || !b.Done[health].At.After(marks[1].At) {
		t.Errorf("calls %+v, want HealthCheck after everything else", b.Done)
	}
	for _, d := range b.Calls(guard.ActRestore) {
		if !d.At.Before(b.Done[replace].At) {
			t.Errorf("%s restored at %s, ReplaceUnhealthy resumed at %s", d.Member, d.At, b.Done[replace].At)
		}
	}
}

func TestAV07APacedExitRestoresThenResumesThenRepairsThenResumesHealthCheck(t *testing.T) {
	b := pacing(t)[0]
	b.look(t, nil)
	b.ticks(t, 60)
	pacedWell(t, b)
	for _, p := range safe(b) {
		t.Error(p)
	}
}

func TestACrashAtAnyCallOfAPacedExitKeepsItsOrderAndItsBudget(t *testing.T) {
	for i, from := range pacing(t) {
		t.Run(fmt.Sprintf("acting sweep %d", i), func(t *testing.T) {
			eachCrash(t, from, func(t *testing.T, b *bench) {
				b.ticks(t, 70)
				pacedWell(t, b)
			})
		})
	}
}
