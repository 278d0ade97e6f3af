package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// rollingFloor is the fewest different members that make a rolling hold; onsetPercent and the floors below scale the onset rule.
const (
	rollingFloor = 3
	onsetPercent = 1
)

// share counts the eligible and the bad of one zone or target group.
type share struct {
	name     string
	eligible int
	bad      int
}

func addShare(shares []share, name string, isBad bool) []share {
	for i := range shares {
		if shares[i].name == name {
			shares[i].eligible++
			if isBad {
				shares[i].bad++
			}
			return shares
		}
	}
	s := share{name: name, eligible: 1}
	if isBad {
		s.bad = 1
	}
	return append(shares, s)
}

// correlate lists every trigger that is true, those that can prolong a hold first.
func (k *look) correlate() {
	k.dependencies()
	k.shares()
	k.onsets()
	k.rolling()
}

// dependencies sorts the policy's alarms: hard and red holds; hard and unreadable stops marks; red for very long is soft.
func (k *look) dependencies() {
	for _, d := range k.in.Group.Dependencies {
		age := k.now.sub(At(d.Since))
		old := d.State == AlarmRed && !d.Since.IsZero() && age > seconds(k.p.AlarmMaxAgeSeconds)
		if old {
			k.page(Page{Key: PageStuckAlarm, Subject: d.Alarm, Text: fmt.Sprintf("alarm %s has been in ALARM since %s (%s), longer than alarm_max_age_seconds: it is treated as soft", d.Alarm, clock(At(d.Since)), span(age))})
		}
		if d.Kind != DependencyHard {
			if d.State != AlarmOK {
				k.note("soft dependency %s is %s", d.Alarm, d.State)
			}
			continue
		}
		switch d.State {
		case AlarmRed:
			if !old {
				k.trigger(Trigger{Cause: CauseDependency, Name: d.Alarm, Prolongs: true, Text: fmt.Sprintf("hard dependency %s is in ALARM since %s", d.Alarm, clock(At(d.Since)))})
			}
		case AlarmOK:
		case AlarmNoData:
			if d.Missing != MissingOK {
				k.nodata = append(k.nodata, d.Alarm)
				k.note("hard dependency %s has no data: unknown%s", d.Alarm, suffix(d.Detail))
			}
		case AlarmMissing:
			k.unread = append(k.unread, d.Alarm)
			k.page(Page{Key: PageConfig, Subject: d.Alarm, Text: fmt.Sprintf("dependencies: alarm %s does not exist; it is unknown, never OK: marks wait and nothing is released", d.Alarm)})
		default:
			k.unread = append(k.unread, d.Alarm)
			k.note("hard dependency %s cannot be read%s", d.Alarm, suffix(d.Detail))
		}
	}
	k.unreadRun()
}

// unreadRun pages an alarm that stays unreadable; it makes nothing blind.
func (k *look) unreadRun() {
	k.next.UnreadRun = 0
	var names []string
	for _, d := range k.in.Group.Dependencies {
		if d.State != AlarmMissing && slices.Contains(k.unread, d.Alarm) {
			names = append(names, d.Alarm)
		}
	}
	if len(names) == 0 {
		return
	}
	k.next.UnreadRun = k.prev.UnreadRun + 1
	if k.next.UnreadRun > blindRunMax {
		k.page(Page{Key: PageBlind, Subject: "alarms", Urgent: true, Text: "hard dependencies cannot be read for " + fmt.Sprint(k.next.UnreadRun) + " sweeps: " + strings.Join(names, ", ")})
	}
}

// shares applies correlated_percent to the group and each target group, and zone_percent to each zone.
func (k *look) shares() {
	all := share{}
	var zones, groups []share
	for i := range k.views {
		v := &k.views[i]
		if v.class == outside && !v.unseen() {
			continue
		}
		isBad := v.isBad() && !v.permanent
		all.eligible++
		if isBad {
			all.bad++
		}
		zones = addShare(zones, v.m.Zone, isBad)
		groups = k.addTargets(groups, v)
	}
	k.overShare(CauseCorrelated, "the group", all, k.p.CorrelatedPercent)
	for _, z := range sortedShares(zones) {
		k.overShare(CauseZone, z.name, z, k.p.ZonePercent)
	}
	for _, t := range sortedShares(groups) {
		k.overShare(CauseTargetGroup, t.name, t, k.p.CorrelatedPercent)
	}
}

// addTargets counts a member once in each target group in which it is not silent, with its worst state there.
func (k *look) addTargets(groups []share, v *view) []share {
	ts := v.m.Targets
	for i := range ts {
		first := true
		for j := 0; j < i && first; j++ {
			first = ts[j].Group != ts[i].Group
		}
		if !first {
			continue
		}
		worst := targetAim(&ts[i])
		for j := i + 1; j < len(ts); j++ {
			if ts[j].Group != ts[i].Group {
				continue
			}
			if a := targetAim(&ts[j]); a == aimBad || worst == aimSilent {
				worst = a
			}
		}
		if worst != aimSilent {
			groups = addShare(groups, ts[i].Group, worst == aimBad && !v.permanent)
		}
	}
	return groups
}

func sortedShares(s []share) []share {
	slices.SortFunc(s, func(a, b share) int { return cmp.Compare(a.name, b.name) })
	return s
}

func (k *look) overShare(cause, name string, s share, percent int) {
	limit := max(k.p.CorrelatedMin, ceilPercent(s.eligible, percent))
	if s.bad < limit {
		return
	}
	where := map[string]string{CauseCorrelated: "the group", CauseZone: "zone " + name, CauseTargetGroup: "target group " + name}[cause]
	t := Trigger{Cause: cause, Have: s.bad, Limit: limit, Of: s.eligible, Prolongs: true, Text: fmt.Sprintf("%d of %d eligible members of %s are bad, the limit is %d", s.bad, s.eligible, where, limit)}
	if cause != CauseCorrelated {
		t.Name = name
	}
	k.trigger(t)
}

// onsets keeps who began to fail of late, and applies onset_count to the group and to the Region.
func (k *look) onsets() {
	window := seconds(k.p.OnsetWindowSeconds)
	var fresh []Onset
	for i := range k.views {
		v := &k.views[i]
		if v.isBad() && !v.wasBad && !k.warmUp && !v.permanent {
			fresh = append(fresh, Onset{Member: v.m.ID, At: k.now})
		}
	}
	// Who began to fail and was terminated by AWS between two looks was never seen to be bad.
	fresh = append(fresh, k.taken...)
	slices.SortStableFunc(fresh, func(a, b Onset) int { return cmp.Compare(a.Member, b.Member) })
	k.next.Onsets = mergeOnsets(k.prev.Onsets, fresh, k.recent(window))
	k.v.Region = RegionDelta{Group: k.in.Group.ARN, Eligible: k.scale}
	for _, o := range k.next.Onsets {
		k.v.Region.Onsets = append(k.v.Region.Onsets, RegionOnset{Group: k.in.Group.ARN, Member: o.Member, At: o.At})
	}
	have := len(k.next.Onsets)
	if limit := max(k.p.OnsetCount, ceilPercent(k.scale, onsetPercent)); have >= limit {
		k.trigger(Trigger{Cause: CauseOnset, Have: have, Limit: limit, Text: fmt.Sprintf("%d members began to fail within %s, the limit is %d", have, span(window), limit)})
	}
	if have > 0 {
		k.regionOnsets(have)
	}
}

// regionOnsets adds the other groups' onsets to this group's: a group that has none is not held by them.
func (k *look) regionOnsets(own int) {
	window := seconds(k.p.OnsetWindowSeconds)
	have, eligible, others := own, k.scale, map[string]bool{}
	for _, o := range k.in.Region.Onsets {
		if o.Group != k.in.Group.ARN && k.now.sub(o.At) < window {
			have++
			others[o.Group] = true
		}
	}
	for group, n := range k.in.Region.Eligible {
		if group != k.in.Group.ARN {
			eligible += n
		}
	}
	limit := max(k.p.OnsetCount, ceilPercent(eligible, onsetPercent))
	if len(others) > 0 && have >= limit {
		k.trigger(Trigger{Cause: CauseRegion, Have: have, Limit: limit, Text: fmt.Sprintf("%d members of %d groups of the Region began to fail within %s, the limit is %d", have, len(others)+1, span(window), limit)})
	}
}

// rolling keeps the different members that were bad of late; marks and health terminations count with them.
func (k *look) rolling() {
	window := seconds(k.p.RollingWindowSeconds)
	var seen []Onset
	for i := range k.views {
		if v := &k.views[i]; v.isBad() && !v.permanent {
			seen = append(seen, Onset{Member: v.m.ID, At: k.now})
		}
	}
	alive := k.recent(window)
	k.next.Rolling = mergeOnsets(k.prev.Rolling, seen, alive)
	var marked []Onset
	for i := range k.next.Marks {
		m := &k.next.Marks[i]
		if m.Paced {
			continue
		}
		name := m.Member
		if name == "" {
			name = m.ID
		}
		marked = append(marked, Onset{Member: name, At: m.At})
	}
	slices.SortStableFunc(marked, func(a, b Onset) int { return cmp.Compare(a.Member, b.Member) })
	have := len(mergeOnsets(k.next.Rolling, marked, alive))
	limit := max(rollingFloor, ceilPercent(k.scale, k.p.RollingPercent))
	if have >= limit {
		k.trigger(Trigger{Cause: CauseRolling, Have: have, Limit: limit, Of: k.scale, Text: fmt.Sprintf("%d different members were bad or terminated for health within %s, the limit is %d", have, span(window), limit)})
	}
}

// recent says whether a moment lies in a window that ends now and after the last release.
func (k *look) recent(window time.Duration) func(Instant) bool {
	return func(at Instant) bool { return k.now.sub(at) < window && at > k.next.ReleasedAt }
}

// mergeOnsets merges two lists sorted by member, the later moment of each member, and drops what is no longer alive.
func mergeOnsets(a, b []Onset, alive func(Instant) bool) []Onset {
	var out []Onset
	put := func(o Onset) {
		if !alive(o.At) {
			return
		}
		if n := len(out); n > 0 && out[n-1].Member == o.Member {
			out[n-1].At = max(out[n-1].At, o.At)
			return
		}
		out = append(out, o)
	}
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Member <= b[0].Member {
			put(a[0])
			a = a[1:]
			continue
		}
		put(b[0])
		b = b[1:]
	}
	return out
}

func (k *look) trigger(t Trigger) { k.triggers = append(k.triggers, t) }

// prolonging is the first trigger that keeps a hold from ending, or nil.
func (k *look) prolonging() *Trigger {
	for i := range k.triggers {
		if k.triggers[i].Prolongs {
			return &k.triggers[i]
		}
	}
	return nil
}
