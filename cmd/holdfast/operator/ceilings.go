package operator

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// limit is a policy key with a compiled ceiling: what the policy says and what a sweep takes for this group.
type limit struct {
	key         string
	have, limit int
}

// capped are the limits of the group itself. That of the Region is not among them: its ceiling is of all groups together.
func (d *Desk) capped(f *file, p guard.Policy) []limit {
	l := d.limits(f, p)
	return []limit{
		{"max_in_flight", p.MaxInFlight, l.InFlightMax},
		{"marks_per_10_minutes", p.MarksPer10Minutes, l.TenMinutesMax},
		{"marks_per_hour", p.MarksPerHour, l.HourMax},
		{"marks_per_day", p.MarksPerDay, l.DayMax},
	}
}

// ceilings refuses a limit that was just set above the ceiling of the group as it is now: it would be clamped and paged at every
// sweep. A limit from another layer is not this command's business.
func (d *Desk) ceilings(f *file, p guard.Policy, settings []Setting) error {
	for _, c := range d.capped(f, p) {
		set := slices.ContainsFunc(settings, func(s Setting) bool { return s.Key == c.key && s.Raw != nil })
		if set && c.have > c.limit {
			return refuse("%s: %d is above the compiled ceiling of %d for this group of %s; nothing was written", c.key, c.have, c.limit, guard.Counted(len(f.group.Members), "member"))
		}
	}
	return nil
}

// inForce is the policy in force as a sweep takes it for the group: a limit above its compiled ceiling is shown as that, with what its
// layer says.
func (d *Desk) inForce(f *file, r guard.Resolution) []Effective {
	out := effective(r)
	for _, c := range d.capped(f, r.Policy) {
		i := slices.IndexFunc(out, func(e Effective) bool { return e.Key == c.key })
		if i < 0 || c.have <= c.limit {
			continue
		}
		out[i].From = fmt.Sprintf("%s says %d, clamped to the compiled ceiling for %s", out[i].From, c.have, guard.Counted(len(f.group.Members), "member"))
		out[i].Value = strconv.Itoa(c.limit)
	}
	return out
}
