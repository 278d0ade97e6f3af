package gameday

import (
	"fmt"
	"slices"
	"time"
)

// RepairsMax is how many truly broken members one day can have.
const RepairsMax = 16

// aftermath is how long after a trouble a page may still speak of it.
const aftermath = 15 * time.Minute

// Measure is what one day cost with one guardian, summed over the day's groups. Two measures of the same day, guardian and seed are equal.
type Measure struct {
	// HealthyLost counts members that were terminated for a health reason although nothing was wrong with them.
	HealthyLost int32
	// BrokenReplaced counts members that were terminated for a health reason and were broken.
	BrokenReplaced int32
	// CapacityMinutes is desired less really serving capacity, in members, never below 0, summed over minutes.
	CapacityMinutes float64
	// ErrorMinutes is the share of the requests that fail, 0 to 1, summed over minutes and groups. Requests go to the healthy targets, or to
	// all when fewer than the fail-open threshold are healthy.
	ErrorMinutes float64
	// Broken counts truly broken members: InService and not sound, of which at some time a replacement would have served. One that
	// scale-in took counts no more, nor does a replacement that is itself bad: it belongs to the member that it stands for.
	Broken int32
	// Unrepaired counts those that were not made good by the end of the day.
	Unrepaired int32
	// Repairs are the times to repair of the first Broken entries, sorted, in seconds: from the break, or from when a replacement would first
	// have served, until a replacement serves and its target is healthy, or the member is well again. One that was never made good
	// counts with the time to the end of the day.
	Repairs [RepairsMax]int32
	// Pages counts urgent pages, reminders included.
	Pages int32
	// FalsePages counts those with no truth behind them: from 15 minutes before the page until it, nothing was really the matter with its
	// group. The matter is a member that is broken or of a bad version, or without its agent; a launch that would not serve; a
	// dependency of the group that is not ok; lost heartbeats or throttled tables; or requests that fail. A health check that is wrong
	// about a member is none.
	FalsePages int32
	// Notices counts the other messages, reminders included.
	Notices int32
	// Calls counts SetInstanceHealth, SuspendProcesses and ResumeProcesses, refusals included, the script's own left out.
	Calls int32
}

// measure sums up a day that was played.
func (r *recorder) measure(g Guardian) (Measure, error) {
	m := Measure{Calls: int32(r.w.Cloud.Calls() - r.calls)}
	var repairs []int32
	for _, group := range r.groups {
		stats, err := r.w.Cloud.Stats(group.name)
		if err != nil {
			return Measure{}, fmt.Errorf("measure %s: %w", r.w.Day.Name, err)
		}
		m.HealthyLost += int32(stats.HealthyTerminated)
		m.BrokenReplaced += int32(stats.BrokenTerminated)
		m.CapacityMinutes += stats.CapacityMinutesLost
		m.ErrorMinutes += stats.ErrorMinutes
		for _, one := range group.all {
			if one.left || one.from.IsZero() {
				continue
			}
			m.Broken++
			if one.to.IsZero() {
				m.Unrepaired++
				one.to = r.w.Cloud.Now()
			}
			repairs = append(repairs, int32(one.to.Sub(one.from)/time.Second))
		}
	}
	if len(repairs) > RepairsMax {
		return Measure{}, fmt.Errorf("measure %s: %d broken members, want at most %d", r.w.Day.Name, len(repairs), RepairsMax)
	}
	slices.Sort(repairs)
	copy(m.Repairs[:], repairs)
	for _, p := range g.Pages() {
		r.count(&m, p)
	}
	return m, nil
}

func (r *recorder) count(m *Measure, p Page) {
	if !p.Urgent {
		m.Notices++
		return
	}
	m.Pages++
	for _, group := range r.groups {
		if group.name == p.Group && !group.troubled(p.At, aftermath) {
			m.FalsePages++
		}
	}
}
