package chaos

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// The limits by which marks are judged are those of the policy that the run had read, under the compiled ceilings of the group as it
// had read it.

func percentOf(n, percent int) int { return n * percent / 100 }

func (m *markSeen) inFlightMax() int {
	return min(m.pol.MaxInFlight, max(1, percentOf(m.inService, 5)))
}

// whyInFlight counts members that our own marks made Unhealthy and that are still there.
func whyInFlight(m *markSeen) string {
	g, _ := m.cloud.Group(m.group)
	n := 0
	for _, x := range g.Members {
		if x.ID != m.id && m.book.unhealthyByUs[x.ID] && x.Health == "Unhealthy" {
			n++
		}
	}
	if limit := m.inFlightMax(); n+1 > limit {
		return fmt.Sprintf("%d marked members are still there, the limit is %d", n, limit)
	}
	return ""
}

// whyBudget counts the marks that reached the world, by the guard's clock, and the health terminations that this run had read and
// no mark of ours explains.
func whyBudget(m *markSeen) string {
	for _, w := range []struct {
		window time.Duration
		limit  int
	}{
		{10 * time.Minute, min(m.pol.MarksPer10Minutes, max(1, percentOf(m.inService, 5)))},
		{time.Hour, min(m.pol.MarksPerHour, max(3, percentOf(m.inService, 10)))},
		{24 * time.Hour, min(m.pol.MarksPerDay, max(8, percentOf(m.inService, 50)))},
	} {
		n := m.marksWithin(w.window, m.group) + m.foreignWithin(w.window)
		if n+1 > w.limit {
			return fmt.Sprintf("%d marks and health terminations within %s, the limit is %d: %s", n, w.window, w.limit, m.counted(w.window))
		}
	}
	return ""
}

// marksWithin counts marks of a group, or of all for "". A reservation bears the time at which its run began, so windows are
// counted less that.
func (m *markSeen) marksWithin(window time.Duration, group string) int {
	n := 0
	for _, d := range m.book.marks {
		if (group == "" && !d.lapsed || d.group == group) && !d.undone && m.Now().Sub(d.guardAt) < window-blur {
			n++
		}
	}
	return n
}

// counted lists what counts in a window, for people.
func (m *markSeen) counted(window time.Duration) string {
	var out []string
	for _, d := range m.book.marks {
		if d.group == m.group && !d.undone && m.Now().Sub(d.guardAt) < window-blur {
			out = append(out, fmt.Sprintf("marked %s at %s", d.member, d.guardAt.Format(time.TimeOnly)))
		}
	}
	for _, a := range m.pic.group.Activities {
		if m.foreign(a, window) {
			out = append(out, fmt.Sprintf("terminated %s at %s, first seen %s", a.Member, a.At.Format(time.TimeOnly), m.book.seenUnhealthy[a.Member].Format(time.TimeOnly)))
		}
	}
	return strings.Join(out, "; ")
}

func (m *markSeen) foreignWithin(window time.Duration) int {
	n := 0
	for _, a := range m.pic.group.Activities {
		if m.foreign(a, window) {
			n++
		}
	}
	return n
}

// foreign says that an activity is a health termination within a window that no mark of ours explains.
func (m *markSeen) foreign(a guard.Activity, window time.Duration) bool {
	at := a.At
	if seen := m.book.seenUnhealthy[a.Member]; !seen.IsZero() && seen.Before(at) {
		at = seen
	}
	return a.HealthTermination() && m.book.markOf(a.Member) == nil && m.Now().Sub(at) < window-blur
}

func whyRegionBudget(m *markSeen) string {
	if m.regionErr != nil {
		return "the Region's item could not be read: " + m.regionErr.Error()
	}
	all := 0
	for _, g := range m.cloud.Groups() {
		all += len(g.Members)
	}
	limit := min(m.pol.RegionMarksPerHour, max(6, percentOf(all, 10)))
	if n := m.marksWithin(time.Hour, ""); n+1 > limit {
		return fmt.Sprintf("%d marks within an hour over all groups, the limit is %d", n, limit)
	}
	return ""
}

func whyCapacity(m *markSeen) string {
	if m.pol.ActOnLastInstance && m.inService == 1 {
		return ""
	}
	lost := max(1, m.m.Weight)
	g, _ := m.cloud.Group(m.group)
	for _, x := range g.Members {
		if x.ID != m.id && m.book.unhealthyByUs[x.ID] && x.Health == "Unhealthy" {
			lost += x.Weight
		}
	}
	if limit := percentOf(m.pic.group.Desired, m.pol.CapacityLossPercentMax); lost > limit {
		return fmt.Sprintf("weight %d would be lost, the limit is %d", lost, limit)
	}
	return ""
}

// whyMinHealthy counts the members whose targets were read as healthy.
func whyMinHealthy(m *markSeen) string {
	if m.pol.ActOnLastInstance && m.inService == 1 {
		return ""
	}
	healthy := 0
	for _, x := range m.pic.group.Members {
		if x.ID != m.id && x.Lifecycle == "InService" && goodTarget(x) {
			healthy += max(1, x.Weight)
		}
	}
	if want := (m.pic.group.Desired*m.pol.MinHealthyPercent + 99) / 100; healthy < want {
		return fmt.Sprintf("weight %d would be healthy, the limit is %d", healthy, want)
	}
	return ""
}

// whyShared counts the members that were read as bad although they are long past any grace. The threshold is taken of all members in
// service, which is never less than what the guard takes it of.
func whyShared(m *markSeen) string {
	bad := 0
	for _, x := range m.pic.group.Members {
		now, ok := m.cloud.Instance(x.ID)
		old := ok && !now.EnteredInService.IsZero() && m.cloud.Now().Sub(now.EnteredInService) > 30*time.Minute
		if old && x.Lifecycle == "InService" && badTarget(x) && x.Beat.Status != "draining" && !m.repairedOneByOne(x.ID) {
			bad++
		}
	}
	limit := max(m.pol.CorrelatedMin, (m.inService*m.pol.CorrelatedPercent+99)/100)
	if bad >= limit {
		return fmt.Sprintf("%d of %d members in service were read as bad, from %d on the group is to be held", bad, m.inService, limit)
	}
	return ""
}

// repairedOneByOne says that a paced exit is repairing a member: it counts in no threshold then.
func (m *markSeen) repairedOneByOne(id string) bool {
	for _, s := range []guard.State{m.pic.prior.State, m.pic.rec.State} {
		if s.Paced != nil {
			for _, x := range s.Paced.Members {
				if x == id {
					return true
				}
			}
		}
	}
	return false
}

// steady says that the guard's clock has been right all along, so that its ages and the true ones can be compared.
func (b *book) steady(s *stage) bool { return !s.stepped }

// shared says that a shared cause is at work in truth.
func (b *book) shared(s *stage) bool {
	for _, z := range s.fleet.zones {
		if s.zonesDown[z] {
			return true
		}
	}
	return false
}
