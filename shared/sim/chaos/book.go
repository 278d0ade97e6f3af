package chaos

import (
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// book is what the calls did and what was seen, kept apart from everything that the guard keeps.
type book struct {
	// answers are the last answers of reads, for stale ones.
	answers map[string]answer
	// owner has the reason text of each suspension that a call of ours made, by group and process.
	owner map[string]string
	// holds are the holds in force, by group; moved is when one began, ended or went on to another stage, and endedAt by which look one
	// ended that was no mere observation.
	holds   map[string]string
	moved   map[string]move
	endedAt map[string]time.Time
	// firstLook and lastLook are the looks whose records were a group's first and newest; gapAt is the one that came after a gap.
	firstLook, lastLook, gapAt map[string]time.Time
	// intent has every moment at which a hold's record meant to suspend a process, by group and process.
	intent map[string]map[guard.Instant]bool
	marks  []markDone
	// unhealthyByUs are members whose present Unhealthy came from a mark of ours.
	unhealthyByUs map[string]bool
	// badSince is when a member's target was first read as bad without a good reading since; badLooks are the times at which it or
	// its heartbeat was read as bad at all.
	badSince map[string]time.Time
	badLooks map[string][]time.Time
	// seenUnhealthy is when a member was first read as Unhealthy, by the guard's clock: it counts from then, and not again when it is
	// terminated.
	seenUnhealthy map[string]time.Time
	// dependencyBad is when the dependency failed last.
	dependencyBad time.Time
	// unsound is when a member was last broken in truth.
	unsound map[string]time.Time
	pages   map[string]*told
	// since is when a fact became so; oddClock are members whose own clock was ever off.
	since    map[string]time.Time
	oddClock map[string]bool
	// launched are the members that came after the beginning, by group in their order, and launches what became of them.
	launched map[string][]string
	launches map[string]*launch
	// returned are members that came back from Standby, of which no run need have seen that they were there.
	returned map[string]bool
	// muddled is when a group last launched, or was made to launch, for another reason than a mark.
	muddled map[string]time.Time
	// policies are what layers came to, by their content.
	policies map[string]guard.Resolution
}

// move is a change of a hold or of its stage.
type move struct {
	at       time.Time
	by       *process
	id       string
	stage    int
	observed bool
}

// noteHold notes what a written record says of the hold.
func (p *process) noteHold(group string, h *guard.Hold) {
	b, pic := p.book, p.picture(group)
	if b.firstLook[group].IsZero() {
		b.firstLook[group] = pic.began
	}
	if last := b.lastLook[group]; !last.IsZero() && pic.began.Sub(last) > 3*interval {
		b.gapAt[group] = pic.began
	}
	b.lastLook[group] = pic.began
	now, was := move{at: p.cloud.Now(), by: p}, b.moved[group]
	if h != nil {
		now.id, now.stage, now.observed = h.ID, h.Stage, h.Observed
	}
	if now.id == was.id && now.stage == was.stage && now.observed == was.observed {
		return
	}
	if was.id != "" && now.id == "" && !was.observed {
		b.endedAt[group] = pic.began
	}
	b.moved[group] = now
}

// markDone is a mark that reached the world.
type markDone struct {
	at, guardAt   time.Time
	group, member string
	// sure says that a record calls it done, seen that a look read the member as Unhealthy afterwards, and undone that somebody called it
	// Healthy again before either: nobody can know of such a mark.
	sure, seen, undone bool
	// lapsed says that some run's clock was past the Region's hour already, which drops the mark from the Region's item for good.
	lapsed bool
}

func newBook() *book {
	return &book{
		answers: map[string]answer{}, holds: map[string]string{}, moved: map[string]move{}, endedAt: map[string]time.Time{}, firstLook: map[string]time.Time{}, lastLook: map[string]time.Time{}, gapAt: map[string]time.Time{}, owner: map[string]string{}, intent: map[string]map[guard.Instant]bool{}, unhealthyByUs: map[string]bool{},
		badSince: map[string]time.Time{}, seenUnhealthy: map[string]time.Time{}, badLooks: map[string][]time.Time{}, unsound: map[string]time.Time{}, pages: map[string]*told{}, policies: map[string]guard.Resolution{},
		since: map[string]time.Time{}, oddClock: map[string]bool{}, launched: map[string][]string{}, launches: map[string]*launch{}, muddled: map[string]time.Time{}, returned: map[string]bool{},
	}
}

func key(parts ...string) string { return strings.Join(parts, " ") }

func (b *book) owned(group, process, reason string) { b.owner[key(group, process)] = reason }

// intents notes the processes that a written hold means to suspend.
func (b *book) intents(group string, s guard.State) {
	if s.Hold == nil {
		return
	}
	for _, p := range s.Hold.Ours {
		k := key(group, p.Process)
		if b.intent[k] == nil {
			b.intent[k] = map[guard.Instant]bool{}
		}
		b.intent[k][p.IntentAt] = true
	}
}

// meant says that a suspension lies so near to an intent of ours that its maker cannot be told: by design it is ours then.
func (b *book) meant(group, process, reason string) bool {
	at, err := time.Parse("User suspended at 2006-01-02T15:04:05Z", reason)
	if err != nil {
		return false
	}
	for intent := range b.intent[key(group, process)] {
		if d := at.Sub(intent.Time()); d >= -6*time.Second && d <= 121*time.Second {
			return true
		}
	}
	return false
}

func (b *book) marked(p *process, group, member string) {
	b.marks = append(b.marks, markDone{at: p.cloud.Now(), guardAt: p.Now(), group: group, member: member})
	b.unhealthyByUs[member] = true
}

// markOf is the newest mark of a member, nil if there is none.
func (b *book) markOf(member string) *markDone {
	for i := len(b.marks) - 1; i >= 0; i-- {
		if b.marks[i].member == member {
			return &b.marks[i]
		}
	}
	return nil
}

// clockSays takes moments that lie in the future of a clock for that clock's present, as the guard does with its own.
func (b *book) clockSays(now time.Time) {
	for i := range b.marks {
		d := &b.marks[i]
		d.lapsed = d.lapsed || now.Sub(d.guardAt) >= time.Hour-blur
		if d.guardAt.After(now) {
			d.guardAt = now
		}
	}
	for id, at := range b.seenUnhealthy {
		if at.After(now) {
			b.seenUnhealthy[id] = now
		}
	}
}

// badTarget says that a member's targets, as read, speak against it.
func badTarget(m guard.Member) bool {
	for _, t := range m.Targets {
		if !t.Shifted && (t.State == "unhealthy" || t.State == "unused" && t.Reason == "Target.InvalidState") {
			return true
		}
	}
	return false
}

func goodTarget(m guard.Member) bool {
	for _, t := range m.Targets {
		if t.State == "healthy" {
			return !badTarget(m)
		}
	}
	return false
}

// saw notes what a look has read of each member, at a true time and at the guard's.
func (b *book) saw(pic *picture, now, guardNow time.Time) {
	if pic.reads != (guard.Reads{}) {
		return
	}
	for _, m := range pic.group.Members {
		if d := b.markOf(m.ID); m.Unhealthy && d != nil && !d.undone {
			d.seen = true
		}
		if !m.Unhealthy {
			delete(b.seenUnhealthy, m.ID)
		} else if b.seenUnhealthy[m.ID].IsZero() {
			b.seenUnhealthy[m.ID] = guardNow
		}
		switch {
		case badTarget(m):
			if b.badSince[m.ID].IsZero() {
				b.badSince[m.ID] = now
			}
			b.badLooks[m.ID] = append(b.badLooks[m.ID], now)
		case m.Beat.Status == "failing": // enough where the policy takes a member's own word
			b.badLooks[m.ID] = append(b.badLooks[m.ID], now)
		case goodTarget(m):
			delete(b.badSince, m.ID)
		}
	}
}

// watchTruth notes which members are broken in truth, and which marks of ours no longer stand.
func (s *stage) watchTruth() {
	now := s.cloud.Now()
	if s.cloud.Dependency(dependency) != sim.DependencyOK {
		s.book.dependencyBad = now
	}
	s.watchFacts()
	s.watchLaunches()
	for _, g := range s.cloud.Groups() {
		for _, m := range g.Members {
			if t, ok := s.cloud.Truth(m.ID); ok && (!t.Sound || t.Broken != "") {
				s.book.unsound[m.ID] = now
			}
			if m.Health == sim.Healthy {
				delete(s.book.unhealthyByUs, m.ID)
				if d := s.book.markOf(m.ID); d != nil {
					d.undone = d.undone || !d.sure && !d.seen
				}
			}
		}
	}
}

// told is what is known of a delivered condition.
type told struct {
	// decided is the guard's clock of the run that told it.
	decided time.Time
	// run counts the processes that had begun by then.
	run int
	// by is the run that told it; since is when the condition began.
	by     *process
	since  guard.Instant
	urgent bool
	repeat time.Duration
	// loose says that the condition may come again at once: its record may not know that it was told.
	loose bool
}

// paged notes what became of a delivery.
func (b *book) paged(p *process, n runner.Notice, arrived bool, err error) {
	k := key(n.Group, n.Key, n.Subject)
	if !arrived {
		return
	}
	pic := p.picture(n.Group)
	resent := false
	for _, u := range pic.prior.State.Unsent {
		resent = resent || u.Key == n.Key && u.Subject == n.Subject
	}
	b.pages[k] = &told{
		decided: n.At, run: len(p.clocks), by: p, since: n.Since, urgent: n.Urgent, repeat: time.Duration(p.policy(n.Group).PageRepeatSeconds) * time.Second,
		loose: err != nil || resent || pic.loadErr != nil || pic.unwritten,
	}
}
