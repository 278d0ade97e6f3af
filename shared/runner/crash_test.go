package runner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// crashAt ends a process at its n-th call, before or after the call's effect.
func crashAt(n int, after bool) runnertest.Hook {
	return func(c runnertest.Call) runnertest.Effect {
		return runnertest.Effect{CrashBefore: c.N == n && !after, CrashAfter: c.N == n && after}
	}
}

// eachCrash runs the next sweep of a world once for each call that it makes, and ends it there, before and after the call's effect.
func eachCrash(t *testing.T, from *bench, then func(t *testing.T, b *bench)) {
	t.Helper()
	whole := from.clone(t)
	var calls []runnertest.Call
	whole.look(t, func(c runnertest.Call) runnertest.Effect { calls = append(calls, c); return runnertest.Effect{} })
	for _, c := range calls {
		for _, after := range []bool{false, true} {
			when := map[bool]string{false: "before", true: "after"}[after]
			t.Run(fmt.Sprintf("%s call %d, %s", when, c.N, c.Op), func(t *testing.T) {
				b := from.clone(t)
				b.look(t, crashAt(c.N, after))
				then(t, b)
				for _, p := range safe(b) {
					t.Error(p)
				}
			})
		}
	}
}

// settled wants a world in which nothing is left to be done: every member serves, no hold, no suspension of ours, no open
// reservation, and no notice that was not handed over.
func settled(t *testing.T, b *bench, g *runnertest.Group) {
	t.Helper()
	for _, m := range g.Members {
		if m.Unhealthy || m.Lifecycle != "InService" || m.Targets[0].State != "healthy" {
			t.Errorf("%s is %s, Unhealthy %v, target %s", m.ID, m.Lifecycle, m.Unhealthy, m.Targets[0].State)
		}
	}
	s := b.state(t, g)
	if s.Hold != nil {
		t.Errorf("still held: %+v", *s.Hold)
	}
	for process := range g.Own {
		t.Errorf("%s of ours is still suspended", process)
	}
	for _, m := range s.Marks {
		if m.Outcome == guard.OutcomeReserved || m.Outcome == guard.OutcomeUnknown || !m.Closed {
			t.Errorf("a reservation is open: %+v", m)
		}
	}
	if len(s.Unsent) != 0 {
		t.Errorf("not sent: %+v", s.Unsent)
	}
}

func TestACrashAtAnyCallOfAMarkConverges(t *testing.T) {
	from, g := ripe(t, 8, 3)
	broken := g.Members[3].ID
	eachCrash(t, from, func(t *testing.T, b *bench) {
		b.ticks(t, 30)
		g := b.Groups[0]
		settled(t, b, g)
		if slices.ContainsFunc(g.Members, func(m *runnertest.Member) bool { return m.ID == broken }) {
			t.Error("the broken member was never replaced")
		}
		if n := len(b.Marks()); n != 1 {
			t.Errorf("%d marks, want 1", n)
		}
	})
}

func TestACrashAtAnyCallWithTwoRipeMembersStaysInTheBudget(t *testing.T) {
	from, _ := ripe(t, 12, 2, 7)
	eachCrash(t, from, func(t *testing.T, b *bench) {
		b.ticks(t, 40)
		settled(t, b, b.Groups[0])
		if n := len(b.Marks()); n != 2 {
			t.Errorf("%d marks, want one for each broken member", n)
		}
	})
}

// failing is a world whose next sweep holds: six of eight fail at once; somebody had suspended AZRebalance before.
func failing(t *testing.T, foreign bool) (*bench, *runnertest.Group) {
	t.Helper()
	b, g := quiet(t, 8)
	if foreign {
		b.Suspend(g, guard.ProcessAZRebalance)
		b.tick(t)
	}
	b.Fail(g, 0, 1, 2, 3, 4, 5)
	b.before(t, guard.ActSuspend)
	return b, g
}

// heldWell wants the hold adopted as ours: all three processes suspended, ours with AWS's text, and the before-image kept.
func heldWell(t *testing.T, b *bench, foreign bool) {
	t.Helper()
	g, ours := b.Groups[0], 3
	if foreign {
		ours = 2
	}
	h := b.state(t, g).Hold
	if h == nil {
		t.Fatal("not held")
	}
	if len(g.Suspended) != 3 || len(h.Ours) != ours || len(h.Before) != 3-ours {
		t.Fatalf("suspended %v, ours %+v, before %+v", g.Suspended, h.Ours, h.Before)
	}
	for _, p := range h.Ours {
		if p.Reason == "" || p.Reason != g.Suspended[p.Process] || p.Process == guard.ProcessAZRebalance && foreign {
			t.Errorf("ours: %+v, AWS says %q", p, g.Suspended[p.Process])
		}
	}
	if h.Removed != 0 {
		t.Error("the crash was taken for somebody who resumed our processes")
	}
}

func TestACrashAtAnyCallOfAHoldIsAdoptedOrMadeGood(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		for _, renew := range []bool{false, true} {
			from, _ := failing(t, foreign)
			from.Renew = renew
			t.Run(fmt.Sprintf("AZRebalance suspended before %v, text renewed %v", foreign, renew), func(t *testing.T) {
				eachCrash(t, from, func(t *testing.T, b *bench) {
					b.tick(t)
					heldWell(t, b, foreign)
					if len(b.pages(guard.PageHeld)) == 0 {
						t.Error("the hold was never paged")
					}
					g := b.Groups[0]
					b.Heal(g, 0, 1, 2, 3, 4, 5)
					b.ticks(t, 20)
					settled(t, b, g)
					if _, left := g.Suspended[guard.ProcessAZRebalance]; left != foreign {
						t.Errorf("AZRebalance suspended: %v, want %v", left, foreign)
					}
					if len(b.pages(guard.PageReleased)) == 0 {
						t.Error("the release was never paged")
					}
				})
			})
		}
	}
}

// releasing gives one world for each sweep of a release, from the first quiet look to the end of the hold, each at the moment of
// that sweep. Before the hold AWS had called two members Unhealthy, so that restores are part of it.
func releasing(t *testing.T) []*bench {
	t.Helper()
	b, g := failing(t, false)
	b.look(t, nil)
	g.Members[0].Unhealthy, g.Members[1].Unhealthy = true, true
	b.tick(t)
	b.Heal(g, 0, 1, 2, 3, 4, 5)
	var out []*bench
	for b.state(t, g).Hold != nil {
		b.Step()
		out = append(out, b.clone(t))
		b.look(t, nil)
		if len(out) > 40 {
			t.Fatal("never released")
		}
	}
	return out
}

// inOrder judges the calls of a release: HealthCheck in a sweep before ReplaceUnhealthy, restores before both.
func inOrder(t *testing.T, b *bench) {
	t.Helper()
	resumes := b.Calls(guard.ActResume)
	first := func(process string) int {
		return slices.IndexFunc(resumes, func(d runnertest.Done) bool { return slices.Contains(d.Processes, process) })
	}
	health, replace := first(guard.ProcessHealthCheck), first(guard.ProcessReplaceUnhealthy)
	if health < 0 || replace < 0 {
		t.Fatalf("not all was resumed: %+v", resumes)
	}
	if !resumes[health].At.Before(resumes[replace].At) {
		t.Errorf("HealthCheck resumed at %s, ReplaceUnhealthy at %s; want a sweep between", resumes[health].At, resumes[replace].At)
	}
	for _, d := range b.Calls(guard.ActRestore) {
		if !d.At.Before(resumes[replace].At) {
			t.Errorf("%s restored at %s, not before ReplaceUnhealthy was resumed at %s", d.Member, d.At, resumes[replace].At)
		}
	}
}

func TestAV07ACrashAtAnyCallOfAReleaseKeepsItsOrder(t *testing.T) {
	for i, from := range releasing(t) {
		t.Run(fmt.Sprintf("sweep %d of the release", i), func(t *testing.T) {
			eachCrash(t, from, func(t *testing.T, b *bench) {
				b.ticks(t, 20)
				settled(t, b, b.Groups[0])
				inOrder(t, b)
				if len(b.Marks()) != 0 {
					t.Errorf("marked %+v", b.Marks())
				}
			})
		})
	}
}

// After a crash the world may have changed: now AWS calls four members Unhealthy that answer their checks. Resuming
// ReplaceUnhealthy would replace them all at once.
func TestACrashInAReleaseNeverResumesOverMoreUnhealthyMembersThanTheBudget(t *testing.T) {
	for i, from := range releasing(t) {
		t.Run(fmt.Sprintf("sweep %d of the release", i), func(t *testing.T) {
			eachCrash(t, from, func(t *testing.T, b *bench) {
				if g := b.Groups[0]; b.state(t, g).Hold != nil && g.Own[guard.ProcessReplaceUnhealthy] {
					for _, m := range g.Members[2:6] {
						m.Unhealthy = true
						m.Beat.Status, m.Beat.Failing = "failing", []string{"disk"} // so that they are not restored
					}
				}
				b.ticks(t, 20)
			})
		})
	}
}
