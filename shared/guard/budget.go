package guard

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Windows of the budget, the time after which a reservation without an outcome is settled, and how long marks are kept.
const (
	tenMinutes  = 10 * time.Minute
	settleAfter = tenMinutes
	marksKept   = 25 * time.Hour
)

// seenPrefix begins the IDs of members that were only seen to be Unhealthy; those of terminations begin with aws/.
const seenPrefix = "seen/"

// healthCauses are what the cause of a health termination contains. Source: Auto Scaling user guide, "Replace unhealthy
// instances" and "Troubleshoot unhealthy instances".
func healthCauses() []string {
	return []string{userCause, "ELB system health check failure", "EC2 instance status check failure", "EBS volume health check failure", "application status check"}
}

// userCause is what the cause of a termination contains that a call to SetInstanceHealth led to, ours or a person's.
const userCause = "user health-check"

// HealthTermination says that an activity ended a member because of a health check.
func (a Activity) HealthTermination() bool {
	if a.Kind != "terminate" || a.Status == "Failed" || a.Status == "Cancelled" {
		return false
	}
	for _, c := range healthCauses() {
		if strings.Contains(a.Cause, c) {
			return true
		}
	}
	return false
}

// account brings the marks up to date: what AWS did counts too, reservations without an outcome are settled, and slots of
// members whose capacity is back are free again.
func (k *look) account() {
	k.next.Marks = slices.Clone(k.prev.Marks)
	if k.in.Reads.Group != "" {
		return // a member that cannot be seen is not gone
	}
	k.addTerminations()
	var kept []Mark
	for _, m := range k.next.Marks {
		if p := k.prev.Paced; p != nil && m.At >= p.Since && slices.Contains(p.Members, m.Member) {
			m.Paced = true
		}
		if k.settle(&m) {
			kept = append(kept, m)
		}
	}
	k.next.Marks = kept
	k.pair()
}

// markOf is the newest mark of a member, nil if it has none.
func (k *look) markOf(member string) *Mark {
	for i := len(k.next.Marks) - 1; i >= 0; i-- {
		if m := &k.next.Marks[i]; m.Member == member && member != "" {
			return m
		}
	}
	return nil
}

// addTerminations adds health terminations that no mark explains: AWS's own, or a person's.
func (k *look) addTerminations() {
	for _, a := range k.in.Group.Activities {
		at := At(a.At)
		if !a.HealthTermination() || k.now.sub(at) >= marksKept {
			continue
		}
		id := "aws/" + a.ID
		if m := k.markOf(a.Member); m != nil && !m.overridden() {
			m.turnsOut(at)
			if strings.HasPrefix(m.ID, seenPrefix) {
				m.ID = id
				k.take(a, id)
			}
			continue
		}
		if slices.ContainsFunc(k.next.Marks, func(m Mark) bool { return m.ID == id }) {
			continue
		}
		k.next.Marks = append(k.next.Marks, Mark{ID: id, Member: a.Member, At: at, By: "aws", Outcome: OutcomeDone, Weight: 1})
		k.take(a, id)
	}
	slices.SortStableFunc(k.next.Marks, func(a, b Mark) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
}

// take notes a member that AWS terminates for a health check of its own, and not for a call, and that the last look did not find bad: it
// began to fail.
func (k *look) take(a Activity, id string) {
	if !strings.Contains(a.Cause, userCause) && !k.prev.bad(a.Member) {
		k.taken = append(k.taken, Onset{Member: cmp.Or(a.Member, id), At: min(At(a.At), k.now)})
	}
}

// overridden says that the member was called Healthy again and stayed: what comes later is another failure.
func (m *Mark) overridden() bool { return m.Closed && !m.Gone }

// turnsOut notes that a mark was done after all. When, or by whom, is not known if its call was never answered: its windows begin
// with what shows it.
func (m *Mark) turnsOut(at Instant) {
	if m.Outcome != OutcomeDone {
		m.Outcome, m.Called = OutcomeDone, max(m.Called, at)
	}
}

// settle updates one mark and says whether it is kept.
func (k *look) settle(m *Mark) bool {
	v := k.find(m.Member)
	age := k.ageOf(m)
	m.Gone = v == nil
	leaving := v == nil || strings.HasPrefix(v.m.Lifecycle, "Terminating") || v.m.Unhealthy
	if m.Outcome == OutcomeReserved || m.Outcome == OutcomeUnknown {
		switch {
		case leaving:
			m.turnsOut(k.now) // the activity that says when may be listed later, or not be readable now
		case age >= settleAfter:
			return false // the group's activities know nothing of it: it was not done
		}
	}
	if v != nil && inService(v.m) && !v.m.Unhealthy {
		if strings.HasPrefix(m.ID, seenPrefix) {
			return false // the health check found it well again before anything was done
		}
		if age >= settleAfter {
			m.Closed = true // the mark was overridden: the member stays, and its slot is free
		}
	}
	if m.Gone && k.arrived >= k.desired {
		m.Closed = true
	}
	return !m.Closed || age < marksKept
}

// find returns the view of a member, nil if it is not in the group.
func (k *look) find(id string) *view {
	i := sort.Search(len(k.views), func(i int) bool { return k.views[i].m.ID >= id })
	if i == len(k.views) || k.views[i].m.ID != id {
		return nil
	}
	return &k.views[i]
}

// pair matches marks with later successful launches, oldest first, and notes which replacement served and which failed.
func (k *look) pair() {
	if len(k.next.Marks) == 0 {
		return
	}
	var launches []Activity
	taken := map[string]bool{}
	for i := range k.next.Marks {
		taken[k.next.Marks[i].Replacement] = true
	}
	for _, a := range k.in.Group.Activities {
		if a.Kind == "launch" && a.Status == "Successful" && a.Member != "" && !taken[a.Member] {
			launches = append(launches, a)
		}
	}
	slices.SortStableFunc(launches, func(a, b Activity) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Member, b.Member))
	})
	for i := range k.next.Marks {
		m := &k.next.Marks[i]
		// One that was overridden has no replacement: its member stayed, and the next launch is for another.
		if m.Outcome == OutcomeDone && !m.Observed && !m.overridden() {
			launches = k.pairOne(m, launches)
		}
	}
}

func (k *look) pairOne(m *Mark, launches []Activity) []Activity {
	if m.Replacement == "" {
		from := k.endedAt(m)
		i := slices.IndexFunc(launches, func(a Activity) bool { return At(a.At) >= from })
		if i < 0 {
			return launches
		}
		m.Replacement = launches[i].Member
		launches = slices.Delete(launches, i, i+1)
	}
	if m.Served || m.Failed {
		return launches
	}
	v := k.find(m.Replacement)
	switch {
	case v != nil && k.serves(v):
		m.Served = true
	case k.markOf(m.Replacement) != nil, v != nil && v.class == broken && !k.blind():
		m.Failed = true
	}
	return launches
}

// endedAt is from when a launch can be for a mark: the mark's time, or that of its member's termination if AWS gives an earlier one. The
// mark's time is by the guard's clock, which may be fast, and that of launches by AWS's.
func (k *look) endedAt(m *Mark) Instant {
	from := m.At
	for _, a := range k.in.Group.Activities {
		if a.Member == m.Member && a.Member != "" && a.HealthTermination() {
			from = min(from, At(a.At))
		}
	}
	return from
}

// failedInARow counts the newest replacements that did not serve, since the last release.
func (k *look) failedInARow() int {
	n := 0
	for i := range k.next.Marks {
		switch m := &k.next.Marks[i]; {
		case m.At <= k.next.ReleasedAt:
		case m.Served:
			n = 0
		case m.Failed:
			n++
		}
	}
	return n
}

// converge holds the group when replacements in a row did not serve: replacing more is useless.
func (k *look) converge() {
	if n := k.failedInARow(); n >= k.p.ConvergeFailures {
		k.trigger(Trigger{Cause: CauseNotConverging, Have: n, Limit: k.p.ConvergeFailures, Text: "the last replacements did not come to serve: " + Counted(n, "replacement") + " in a row"})
		k.page(Page{Key: PageNotConverging, Urgent: true, Text: Counted(n, "replacement") + " in a row did not come to serve: repair is useless until the launch template, the image or the application is mended; a person ends this with holdfast release, and --force has those that do not serve replaced one by one"})
	}
}

// noticeMarked adds members that AWS itself calls Unhealthy, outside a hold: they count like marks of ours.
func (k *look) noticeMarked() {
	if k.next.Hold != nil {
		return
	}
	for i := range k.views {
		v := &k.views[i]
		here := inService(v.m) || strings.HasPrefix(v.m.Lifecycle, "Terminating")
		if m := k.markOf(v.m.ID); v.m.Unhealthy && here && (m == nil || m.overridden()) {
			k.next.Marks = append(k.next.Marks, Mark{ID: seenPrefix + v.m.ID, Member: v.m.ID, At: k.now, By: "aws", Outcome: OutcomeDone, Weight: v.m.weight()})
		}
	}
}

// measure computes the limits from the policy and the live group, and what is used of them.
func (k *look) measure() {
	n, l := k.inService, &k.limits
	l.InFlightMax = k.clamp("this group", "max_in_flight", k.p.MaxInFlight, max(1, floorPercent(n, 5)))
	l.TenMinutesMax = k.clamp("this group", "marks_per_10_minutes", k.p.MarksPer10Minutes, max(1, floorPercent(n, 5)))
	l.HourMax = k.clamp("this group", "marks_per_hour", k.p.MarksPerHour, max(3, floorPercent(n, 10)))
	l.DayMax = k.clamp("this group", "marks_per_day", k.p.MarksPerDay, max(8, floorPercent(n, 50)))
	eligible := k.scale
	for group, e := range k.in.Region.Eligible {
		if group != k.in.Group.ARN {
			eligible += e
		}
	}
	l.RegionHourMax = k.clamp("the Region", "region_marks_per_hour", k.p.RegionMarksPerHour, max(6, floorPercent(eligible, 10)))
	for i := range k.next.Marks {
		m := &k.next.Marks[i]
		l.add(m, k.ageOf(m))
		if !m.Closed {
			k.flying += max(1, m.Weight)
		}
	}
	for _, m := range k.in.Region.Marks {
		if k.now.sub(m.At) < time.Hour {
			l.RegionHour++
		}
	}
}

// ageOf is how long ago a mark was answered, or reserved if that is not known: where its windows begin.
func (k *look) ageOf(m *Mark) time.Duration { return k.now.sub(max(m.At, m.Called)) }

// add counts one mark of a given age in the windows that it is in.
func (l *Limits) add(m *Mark, age time.Duration) {
	if age < tenMinutes {
		l.TenMinutes++
	}
	if age < time.Hour {
		l.Hour++
	}
	if age < 24*time.Hour {
		l.Day++
	}
	if !m.Closed {
		l.InFlight++
	}
}

// clamp bounds a value by its compiled ceiling and pages a value that is above it.
func (k *look) clamp(of, key string, value, ceiling int) int {
	if value <= ceiling {
		return value
	}
	if k.in.Reads.Group != "" {
		return ceiling // the members are not known, so neither is the true ceiling
	}
	k.page(Page{Key: PageConfig, Subject: key, Text: fmt.Sprintf("%s: %d is above the compiled ceiling of %d for %s, which is in force", key, value, ceiling, of)})
	return ceiling
}
