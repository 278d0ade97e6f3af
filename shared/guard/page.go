package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// page notes a condition that is true in this look; whether it is told is decided at the end.
func (k *look) page(p Page) { k.told = append(k.told, p) }

// notices adds the conditions that are read off the whole look.
func (k *look) notices() {
	k.noticeTrust()
	k.noticeHold()
	k.noticePaced()
	k.noticeMembers()
	k.noteBeats()
	k.noticeMarks()
	for _, s := range k.foreign() {
		if k.in.Reads.State != "" {
			break
		}
		age := ""
		if at, ok := suspendedAt(s.Reason); ok {
			age = ", " + span(k.now.sub(At(at))) + " ago"
		}
		k.page(Page{Key: PageForeignSuspension, Subject: s.Process, Text: fmt.Sprintf("%s is suspended, not by Holdfast: %s%s. It is never undone by Holdfast", s.Process, s.Reason, age)})
	}
	for _, p := range k.in.Problems {
		k.page(Page{Key: PageConfig, Subject: strings.TrimSpace(p.Layer + " " + p.Key), Text: p.String()})
	}
}

func (k *look) noticeTrust() {
	if !k.blind() {
		return
	}
	why := strings.Join(k.blindWhy, "; ")
	late := k.next.BlindRun > blindRunMax
	if k.silentKey != "" {
		most := 2*k.silentOnes() > k.counts.Eligible
		k.page(Page{Key: k.silentKey, Urgent: k.silentKey == PageHeartbeatCoverage || most, Text: why + ": silence proves nothing about anyone, nothing is marked or released"})
	}
	if k.silentKey == "" || len(k.blindWhy) > 1 {
		k.page(Page{Key: PageBlind, Urgent: late, Text: "cannot trust what was read: " + why + "; nothing is marked or released"})
	}
}

func (k *look) noticeHold() {
	h := k.next.Hold
	if h == nil {
		return
	}
	if k.p.Mode == ModeOff {
		if !h.Observed {
			k.page(k.pausedPage(h))
		}
		return
	}
	if k.in.Reads.State == "" || len(k.v.actions(ActSuspend)) > 0 {
		held := Page{Key: PageHeld, Urgent: true, Since: h.Since}
		if k.due(held, k.pageState(held)) { // its text looks at every member, so it is made only when it is told
			held.Text = k.heldText(h)
		}
		k.page(held)
	}
	if age := k.now.sub(h.Since); age >= seconds(k.p.HoldMaxSeconds) {
		k.page(Page{Key: PageHoldTooLong, Urgent: true, Since: h.Since, Text: fmt.Sprintf("held for %s, the maximum is %s; cause %s", span(age), span(seconds(k.p.HoldMaxSeconds)), h.Cause)})
	}
	if h.Conflict {
		k.page(Page{Key: PageSuspensionConflict, Urgent: true, Text: "somebody resumed a second time what this hold had suspended; it is left to people now"})
	}
}

// noticePaced pages a paced exit that does not come to its end, because a HealthCheck that is suspended for ever is nobody's guard.
func (k *look) noticePaced() {
	p := k.next.Paced
	if p == nil || p.Process == nil || p.Process.Reason == "" {
		return
	}
	if k.p.Mode == ModeOff {
		k.page(Page{Key: PagePausedWhileHeld, Since: p.Since, Text: "mode is off while a paced exit is under way since " + clock(p.Since) + ": HealthCheck stays suspended"})
		return
	}
	if age := k.now.sub(p.Since); age >= seconds(k.p.HoldMaxSeconds) {
		k.page(Page{Key: PageHoldTooLong, Since: p.Since, Text: fmt.Sprintf("the paced exit keeps HealthCheck suspended for %s, until the last of its members is well or gone: %s", span(age), listed(p.Members))})
	}
}

func (k *look) pausedPage(h *Hold) Page {
	return Page{Key: PagePausedWhileHeld, Since: h.Since, Text: "mode is " + k.p.Mode + " while a hold of Holdfast is in force since " + clock(h.Since) + ": nothing will be released; the hold's processes stay suspended: " + k.heldProcesses(h)}
}

// noticeMembers pages what single members show.
func (k *look) noticeMembers() {
	var disagree, late, lag, skew, quiet, lost, stuck, daily []string
	for _, d := range k.v.Deferred {
		if !d.Broken {
			continue
		}
		v := k.find(d.Member)
		if k.next.Hold == nil && k.now.sub(v.next.BrokenSince) >= seconds(k.p.DeferredPageSeconds) {
			stuck = append(stuck, fmt.Sprintf("%s since %s (%s)", d.Member, clock(v.next.BrokenSince), d.why()))
		}
		switch {
		case d.Reason == ReasonBudget && k.limits.Day >= k.limits.DayMax:
			daily = append(daily, d.Member)
		case d.Reason == ReasonCannotReplace:
			k.page(Page{Key: PageCannotReplace, Urgent: true, Text: "a broken member cannot be replaced: " + d.Text})
		case d.Reason == ReasonLastInstance:
			k.page(Page{Key: PageLastInstance, Urgent: true, Text: d.Member + " is broken and the only member in service; act_on_last_instance is false"})
		}
	}
	for i := range k.views {
		v := &k.views[i]
		switch {
		case v.class == outside && !k.idle(v):
		case v.pulse == pulseLate:
			late = append(late, v.m.ID)
		case v.pulse == pulseOK || v.pulse == pulseFailing:
			switch age := k.now.sub(v.next.Stamp); {
			case age >= seconds(k.p.HeartbeatFreshSeconds):
				lag = append(lag, v.m.ID)
			case -age >= seconds(k.p.HeartbeatFreshSeconds):
				skew = append(skew, v.m.ID)
			}
		case v.silent() && !v.deaf && (v.aim != aimBad || k.p.Kind == KindWorker):
			quiet = append(quiet, v.m.ID)
		}
		if v.m.Beat.Detail != "" {
			k.note("the heartbeat row of %s makes no sense: %s", v.m.ID, v.m.Beat.Detail)
		}
		if v.pulse == pulseFailing && v.aim == aimHealthy && v.class != outside {
			disagree = append(disagree, v.m.ID)
		}
		if k.unregistered(v) {
			lost = append(lost, v.m.ID)
		}
	}
	k.pageLag(late, lag, skew)
	k.pageList(PageSignalsDisagree, disagree, "heartbeat says failing, target is healthy: ")
	k.pageList(PageHeartbeatPath, quiet, "silent although they serve, so the heartbeat's path is in doubt: ")
	k.pageList(PageDeferredTooLong, stuck, "broken and not repaired: ")
	k.pageList(PageNotRegistered, lost, "in service and registered nowhere"+k.notAdded()+": ")
	if len(daily) > 0 {
		k.page(Page{Key: PageDailyLimit, Urgent: true, Text: fmt.Sprintf("%d marks in a day, the limit is %d; still broken: %s", k.limits.Day, k.limits.DayMax, listed(daily))})
	}
	k.pageStalled()
}

// noteBeats notes heartbeats that say little or nothing about members that serve or are idle: they are no reason to act.
func (k *look) noteBeats() {
	var late, unread, never, dependency, failing []string
	for i := range k.views {
		v := &k.views[i]
		id := v.m.ID
		if v.class != healthy && !k.idle(v) {
			continue
		}
		if v.pulse == pulseLate {
			late = append(late, id)
		}
		if v.pulse == pulseUnread {
			unread = append(unread, id)
		}
		if v.pulse == pulseNever {
			never = append(never, id)
		}
		if v.pulse == pulseOK && v.m.Beat.Status == "failing" {
			dependency = append(dependency, id)
		}
		if v.pulse == pulseFailing && v.aim == aimSilent && k.p.Kind != KindWorker {
			failing = append(failing, id)
		}
	}
	k.noteList("heartbeat late: ", late)
	k.noteList("heartbeat cannot be read: ", unread)
	k.noteList("no heartbeat yet, and the time for the first is not over: ", never)
	k.noteList("only dependency checks fail: ", dependency)
	k.noteList("heartbeat says failing, and no target says anything: ", failing)
}

func (k *look) noteList(what string, names []string) {
	if len(names) > 0 {
		k.note("%s%s", what, listed(names))
	}
}

// idle says that a member is outside only because its targets say nothing.
func (k *look) idle(v *view) bool {
	return inService(v.m) && !v.starting && v.pulse != pulseDraining && v.aim == aimSilent
}

// unregistered says that a member in service, past its grace, has no registration in a target group that is in use.
func (k *look) unregistered(v *view) bool {
	if !k.idle(v) || k.p.Kind == KindWorker {
		return false
	}
	inUse := slices.ContainsFunc(k.in.Group.TargetGroups, func(t TargetGroup) bool { return t.InUse })
	for i := range v.m.Targets {
		if v.m.Targets[i].Reason != "Target.NotRegistered" {
			return false
		}
	}
	return inUse
}

func (k *look) notAdded() string {
	if _, there := k.suspension("AddToLoadBalancer"); there {
		return " (AddToLoadBalancer is suspended)"
	}
	return ""
}

func (k *look) pageList(key string, names []string, what string) {
	if len(names) > 0 {
		k.page(Page{Key: key, Text: what + listed(names)})
	}
}

// pageLag tells one odd clock from a slow path.
func (k *look) pageLag(late, lag, skew []string) {
	if n := len(late) + len(lag); n >= 2 {
		k.page(Page{Key: PageHeartbeatLag, Text: fmt.Sprintf("beats arrive late from %d members: %s", n, listed(append(late, lag...)))})
	} else {
		skew = append(skew, lag...)
	}
	slices.Sort(skew)
	k.pageList(PageClockSkew, skew, "the clock of these members is off, their beats advance: ")
}

func (k *look) pageStalled() {
	if k.p.Kind != KindWorker || !k.queueStalled() {
		return
	}
	if n := k.silentOnes(); n > 0 {
		q := k.in.Group.Queue
		k.page(Page{Key: PageWorkerStalled, Urgent: true, Text: fmt.Sprintf("%d workers are silent and the queue is deep (%d, limit %d) and %s", n, q.Depth, k.p.Queue.Deep, q.Trend)})
	}
}

// noticeMarks pages marks whose replacement does not come.
func (k *look) noticeMarks() {
	var stuck []string
	for i := range k.next.Marks {
		m := &k.next.Marks[i]
		if age := k.now.sub(m.At); !m.Closed && !m.Observed && age >= seconds(k.p.ReplacementTimeoutSeconds) {
			stuck = append(stuck, fmt.Sprintf("%s marked by %s %s ago", m.Member, m.By, span(age)))
		}
	}
	if len(stuck) > 0 {
		k.page(Page{Key: PageReplacementStuck, Urgent: true, Text: "no replacement serves yet: " + listed(stuck)})
	}
}

// once says that a key is an event, told each time it happens, and not a condition that lasts.
func once(key string) bool { return key == PageReleased || key == PageSuspensionRemoved }

// tell keeps what is due: a condition is told when it begins, again after each interval, and at once when it turns urgent.
func (k *look) tell() {
	slices.SortStableFunc(k.told, func(a, b Page) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Subject, b.Subject)) })
	k.told = slices.CompactFunc(k.told, func(a, b Page) bool { return a.Key == b.Key && a.Subject == b.Subject })
	var states []PageState
	for _, p := range k.told {
		if once(p.Key) {
			p.Since = k.now
			k.v.Pages = append(k.v.Pages, p)
			continue
		}
		s := k.pageState(p)
		if k.due(p, s) {
			p.Reminder = s.Open
			p.Since = s.Since
			s.Last, s.Urgent = k.now, p.Urgent
			k.v.Pages = append(k.v.Pages, p)
		}
		s.Open = true
		states = append(states, s)
	}
	for _, s := range k.prev.Pages {
		open := slices.ContainsFunc(states, func(n PageState) bool { return n.Key == s.Key })
		over := s.Key == PageHeld && k.next.Hold == nil // the next hold is another condition; one that is only paused is not
		if !open && !over && k.now.sub(s.Last) < seconds(k.p.PageRepeatSeconds) {
			s.Open = false
			states = append(states, s)
		}
	}
	slices.SortFunc(states, func(a, b PageState) int { return cmp.Compare(a.Key, b.Key) })
	k.next.Pages = states
	k.resend()
}

// due says that a condition is to be told in this look.
func (k *look) due(p Page, s PageState) bool {
	return k.now.sub(s.Last) >= seconds(k.p.PageRepeatSeconds) || p.Urgent && !s.Urgent
}

// resend adds pages of earlier looks that are not known to be delivered, unless the same condition is told anew.
func (k *look) resend() {
	for _, u := range k.prev.Unsent {
		same := func(p Page) bool { return p.Key == u.Key && p.Subject == u.Subject }
		if !slices.ContainsFunc(k.v.Pages, same) {
			k.v.Pages = append(k.v.Pages, u)
		}
	}
	k.next.Unsent = k.v.Pages
}

// pageState is what is remembered of a condition; a hold that began in this look is a new condition.
func (k *look) pageState(p Page) PageState {
	key := strings.TrimSpace(p.Key + " " + p.Subject)
	for _, s := range k.prev.Pages {
		if s.Key == key && (p.Key != PageHeld || p.Since <= s.Since) {
			if !s.Open {
				s.Since = k.now
			}
			return s
		}
	}
	since := p.Since
	if since == 0 {
		since = k.now
	}
	return PageState{Key: key, Since: since}
}
