package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// machine is a group in a world where anything may happen in any order; look checks every verdict against the rules that no
// state of the world may break. It keeps its own book of what was done, and never asks the guard's state for it.
type machine struct {
	f *guardtest.Fleet
	// marked are all marks; suspended are the reason texts of what the guard suspended.
	marked    []made
	suspended map[string]string
	looked    time.Time
	requests  int
}

// made is a mark: when, and whether the call went through. One that did not is given back after ten minutes.
type made struct {
	at   time.Time
	done bool
}

func newMachine(t *rapid.T) *machine {
	m := &machine{f: guardtest.New(rapid.IntRange(1, 45).Draw(t, "members")), suspended: map[string]string{}}
	p := &m.f.In.Policy
	if rapid.Bool().Draw(t, "loose") {
		calm(m.f) // so that marks are met as often as holds
	}
	p.MaxInFlight = rapid.IntRange(0, 5).Draw(t, "max_in_flight")
	p.MarksPer10Minutes = rapid.IntRange(0, 5).Draw(t, "marks_per_10_minutes")
	p.MarksPerHour = rapid.IntRange(0, 9).Draw(t, "marks_per_hour")
	p.ConfirmSweeps = rapid.IntRange(1, 3).Draw(t, "confirm_sweeps")
	p.QuietSeconds = rapid.SampledFrom([]int{60, 600}).Draw(t, "quiet_seconds")
	p.HoldMaxSeconds = rapid.SampledFrom([]int{600, 86400}).Draw(t, "hold_max_seconds")
	p.HoldExit = rapid.SampledFrom([]string{guard.ExitOperator, guard.ExitPaced}).Draw(t, "hold_exit")
	p.HoldProcesses = rapid.SampledFrom([][]string{{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}, {"ReplaceUnhealthy"}}).Draw(t, "hold_processes")
	m.looked = m.f.In.Now.Add(-guardtest.Interval)
	return m
}

func (m *machine) one(t *rapid.T) int {
	return rapid.IntRange(0, len(m.f.In.Group.Members)-1).Draw(t, "member")
}

func (m *machine) sweep(t *rapid.T) { m.step(t, guardtest.Interval) }

// quietly is a time in which nothing else happens, long enough for a release.
func (m *machine) quietly(t *rapid.T) {
	for range rapid.IntRange(5, 20).Draw(t, "sweeps") {
		m.sweep(t)
	}
}

func (m *machine) soon(t *rapid.T) {
	m.step(t, time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds"))*time.Second)
}

func (m *machine) later(t *rapid.T) {
	m.step(t, time.Duration(rapid.IntRange(2, 60).Draw(t, "minutes"))*time.Minute)
}

func (m *machine) fail(t *rapid.T) {
	i := m.one(t)
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0, 1:
		m.f.Break(i)
	case 2:
		m.f.Aim(i, "unhealthy", "Target.Timeout")
	case 3:
		m.f.Silence(i)
	default:
		m.f.M(i).Beat.Status = "failing"
	}
}

func (m *machine) heal(t *rapid.T) { m.f.Heal(m.one(t)) }

func (m *machine) healAll(*rapid.T) { m.f.Heal(upTo(len(m.f.In.Group.Members))...) }

func (m *machine) fence(t *rapid.T) {
	i := m.one(t)
	m.f.M(i).OptedOut = rapid.Bool().Draw(t, "opted out")
	m.f.M(i).Protected = rapid.Bool().Draw(t, "protected")
}

// aws replaces one member that it calls Unhealthy, if it may.
func (m *machine) aws(t *rapid.T) {
	i := m.one(t)
	if rapid.Bool().Draw(t, "marks") && !slices.Contains(m.f.Suspended(), "HealthCheck") {
		m.f.M(i).Unhealthy = true
	}
	if slices.Contains(m.f.Suspended(), "ReplaceUnhealthy") {
		return
	}
	if i := slices.IndexFunc(m.f.In.Group.Members, func(v guard.Member) bool { return v.Unhealthy }); i >= 0 {
		m.f.Replace(i)
	}
}

func (m *machine) reads(t *rapid.T) {
	r := &m.f.In.Reads
	*r = guard.Reads{}
	switch rapid.IntRange(0, 5).Draw(t, "which") {
	case 0:
		r.Heartbeats = "throttled"
	case 1:
		r.Targets = "throttled"
	case 2:
		r.OptOuts = "throttled"
	case 3:
		r.Region = "throttled"
	}
}

func (m *machine) alarm(t *rapid.T) {
	depend(m.f, rapid.SampledFrom([]string{guard.AlarmOK, guard.AlarmOK, guard.AlarmOK, guard.AlarmRed, guard.AlarmNoData, guard.AlarmUnread, guard.AlarmMissing}).Draw(t, "state"))
}

func (m *machine) people(t *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		m.f.Resume(rapid.SampledFrom([]string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}).Draw(t, "process"))
	case 1:
		m.f.Suspend(m.f.In.Now.Add(-time.Hour), rapid.SampledFrom([]string{"ReplaceUnhealthy", "AZRebalance", "Launch"}).Draw(t, "process"))
	case 2, 3:
		m.requests++
		m.f.Ask(fmt.Sprint(m.requests), rapid.SampledFrom([]string{guard.RequestHold, guard.RequestRelease, guard.RequestRelease}).Draw(t, "request"))
		m.f.In.Request.Force = rapid.Bool().Draw(t, "forced")
	default:
		m.f.Resume("Launch", "ReplaceUnhealthy", "AZRebalance", "HealthCheck")
	}
}

func (m *machine) mode(t *rapid.T) {
	m.f.In.Policy.Mode = rapid.SampledFrom([]string{guard.ModeAct, guard.ModeAct, guard.ModeOff}).Draw(t, "mode")
	m.f.Failing = rapid.IntRange(0, 3).Draw(t, "calls fail") == 0
}

// step lets time pass, looks, and checks the verdict before it is carried out.
func (m *machine) step(t *rapid.T, d time.Duration) {
	f := m.f
	before, gap := f.In, f.In.Now.Add(d).Sub(m.looked)
	before.Group.Members = slices.Clone(f.In.Group.Members)
	v := f.Step(d)
	m.looked = f.In.Now
	if gap > 3*guardtest.Interval && len(v.Marks()) > 0 {
		t.Fatalf("a mark in the first look after %s", gap)
	}
	for _, a := range v.Actions {
		m.check(t, before, v, a)
	}
	m.checkDeferrals(t, v)
	m.checkHeld(t, before, v)
}

// checkHeld wants a group with too many bad members held whenever AWS may take them: only while HealthCheck is suspended may a paced exit
// keep some of them out of the triggers. And what the guard suspended must be in its record, or paged.
func (m *machine) checkHeld(t *rapid.T, before guard.Input, v guard.Verdict) {
	p := before.Policy
	if limit := max(p.CorrelatedMin, (v.Members.Eligible*p.CorrelatedPercent+99)/100); p.Mode != guard.ModeOff && before.Reads.Targets == "" && v.Members.Bad >= limit && v.State.Hold == nil &&
		!slices.ContainsFunc(before.Group.Suspended, func(s guard.Suspension) bool { return s.Process == "HealthCheck" }) {
		t.Fatalf("%d bad, the limit is %d, and no hold: %s", v.Members.Bad, limit, strings.Join(v.Explain(), "\n"))
	}
	for _, s := range m.f.In.Group.Suspended {
		if m.suspended[s.Process] != s.Reason || m.recorded(s.Process) {
			continue
		}
		if !slices.ContainsFunc(m.f.In.State.Pages, func(p guard.PageState) bool { return p.Key == guard.PageForeignSuspension+" "+s.Process && p.Open }) {
			t.Fatalf("%s was suspended by the guard, which has no record of it and pages nothing: %s", s.Process, strings.Join(v.Explain(), "\n"))
		}
	}
}

// recorded says that the state has a process as the guard's own.
func (m *machine) recorded(process string) bool {
	s := m.f.In.State
	if s.Paced != nil && s.Paced.Process != nil && s.Paced.Process.Process == process {
		return true
	}
	return s.Hold != nil && slices.ContainsFunc(s.Hold.Ours, func(p guard.HeldProcess) bool { return p.Process == process })
}

func (m *machine) check(t *rapid.T, before guard.Input, v guard.Verdict, a guard.Action) {
	if before.Policy.Mode == guard.ModeOff {
		t.Fatalf("a call in mode off: %v", a)
	}
	blind := before.Reads.Heartbeats != "" || before.Reads.Targets != "" || before.Reads.OptOuts != ""
	if blind && a.Kind != guard.ActSuspend {
		t.Fatalf("%s in a blind look", a.Kind)
	}
	switch a.Kind {
	case guard.ActMark:
		m.checkMark(t, before, v, a)
	case guard.ActSuspend:
		if len(a.Processes) == 0 || slices.ContainsFunc(a.Processes, func(p string) bool {
			return !slices.Contains([]string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}, p)
		}) {
			t.Fatalf("suspend %v", a.Processes)
		}
		for _, s := range m.f.In.Group.Suspended {
			if slices.Contains(a.Processes, s.Process) {
				m.suspended[s.Process] = s.Reason
			}
		}
	case guard.ActResume:
		m.checkResume(t, before, v, a)
	case guard.ActRestore:
		i := slices.IndexFunc(before.Group.Members, func(x guard.Member) bool { return x.ID == a.Member })
		if !before.Group.Members[i].Unhealthy || before.State.Hold == nil {
			t.Fatalf("restore of %s without a hold, Unhealthy %v", a.Member, before.Group.Members[i].Unhealthy)
		}
	}
}

func (m *machine) checkMark(t *rapid.T, before guard.Input, v guard.Verdict, a guard.Action) {
	i := slices.IndexFunc(before.Group.Members, func(x guard.Member) bool { return x.ID == a.Member })
	x := before.Group.Members[i]
	if x.OptedOut || x.Protected || x.Unhealthy || x.Lifecycle != "InService" || x.Targets[0].State != "unhealthy" {
		t.Fatalf("a mark of %+v", x)
	}
	if before.State.Hold != nil || v.State.Hold != nil || len(v.Triggers) > 0 {
		t.Fatalf("a mark while held: %v", v.Explain())
	}
	if before.Reads.Region != "" {
		t.Fatal("a mark though the Region's budget could not be read")
	}
	if slices.ContainsFunc(before.Group.Suspended, func(s guard.Suspension) bool { return s.Process == "ReplaceUnhealthy" || s.Process == "Launch" }) {
		t.Fatalf("a mark into %v", before.Group.Suspended)
	}
	m.marked = append(m.marked, made{m.f.In.Now, !m.f.Failing})
	n, p := len(before.Group.Members), before.Policy
	m.within(t, 10*time.Minute, min(p.MarksPer10Minutes, max(1, n*5/100)))
	m.within(t, time.Hour, min(p.MarksPerHour, max(3, n*10/100)))
	m.within(t, 24*time.Hour, min(p.MarksPerDay, max(8, n*50/100)))
	open := 0
	for _, mark := range v.State.Marks {
		open += btoi(!mark.Closed)
	}
	if limit := min(p.MaxInFlight, max(1, n*5/100)); open+len(v.Marks()) > limit {
		t.Fatalf("%d in flight and %d more, the limit is %d", open, len(v.Marks()), limit)
	}
}

// within counts the marks of a window by the machine's own book.
func (m *machine) within(t *rapid.T, window time.Duration, limit int) {
	n := 0
	for _, mark := range m.marked {
		age := m.f.In.Now.Sub(mark.at)
		n += btoi(age < window && (mark.done || age < 10*time.Minute))
	}
	if n > limit {
		t.Fatalf("%d marks within %s, the limit is %d", n, window, limit)
	}
}

func (m *machine) checkResume(t *rapid.T, before guard.Input, v guard.Verdict, a guard.Action) {
	if len(a.Processes) == 0 {
		t.Fatal("resume of nothing, which AWS reads as everything")
	}
	for _, s := range before.Group.Suspended {
		if slices.Contains(a.Processes, s.Process) && m.suspended[s.Process] != s.Reason {
			t.Fatalf("%s is resumed, though its text %q is not ours (%q)", s.Process, s.Reason, m.suspended[s.Process])
		}
	}
	unhealthy := 0
	for _, x := range before.Group.Members {
		unhealthy += btoi(x.Unhealthy && x.Lifecycle == "InService")
	}
	if slices.Contains(a.Processes, "ReplaceUnhealthy") && unhealthy > v.Limits.InFlightMax {
		t.Fatalf("ReplaceUnhealthy is resumed with %d Unhealthy members, the limit is %d", unhealthy, v.Limits.InFlightMax)
	}
}

// checkDeferrals wants every bad member marked or deferred, once.
func (m *machine) checkDeferrals(t *rapid.T, v guard.Verdict) {
	seen := map[string]bool{}
	for _, d := range v.Deferred {
		if seen[d.Member] {
			t.Fatalf("%s is deferred twice", d.Member)
		}
		seen[d.Member] = true
	}
	for _, a := range v.Marks() {
		if seen[a.Member] {
			t.Fatalf("%s is marked and deferred", a.Member)
		}
		seen[a.Member] = true
	}
	if len(seen) < v.Members.Bad {
		t.Fatalf("%d bad members, %d told of: %s", v.Members.Bad, len(seen), strings.Join(v.Explain(), "\n"))
	}
}

func TestNoWorldBreaksTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"a sweep": m.sweep, "another sweep": m.sweep, "sweeps for a while": m.quietly, "a look soon after": m.soon, "a pause": m.later,
			"a member fails": m.fail, "a member recovers": m.heal, "all recover": m.healAll, "owners fence members": m.fence,
			"AWS acts": m.aws, "reads fail or work": m.reads, "an alarm changes": m.alarm, "people act": m.people, "the switch": m.mode,
		})
	})
}
