package guard

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Instant is a moment as Unix milliseconds, which keeps the state of ten thousand members small; 0 says never.
type Instant int64

// At converts a time; the zero time gives 0.
func At(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return Instant(t.UnixMilli())
}

// Time converts back, in UTC; 0 gives the zero time.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(i)).UTC()
}

func (i Instant) add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// sub is the time from j to i; one longer than the 292 years of a Duration is cut to them, so that it keeps its sign.
func (i Instant) sub(j Instant) time.Duration {
	const most = Instant(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(max(i-j, -most), most)) * time.Millisecond
}

// State is what the sweeps of one group leave for the next. The ledger keeps it under a version, which is the fence.
type State struct {
	// LastSweep is when the group was last looked at; 0 says that there is no state.
	LastSweep Instant `json:"last,omitempty"`
	// BlindRun counts blind sweeps in a row; UnreadRun counts sweeps in a row with an unreadable hard alarm.
	BlindRun  int `json:"blind_run,omitempty"`
	UnreadRun int `json:"unread_run,omitempty"`
	// Members is sorted by ID.
	Members []MemberState `json:"members,omitempty"`
	Hold    *Hold         `json:"hold,omitempty"`
	// Watch is set for a while after a release.
	Watch *Watch `json:"watch,omitempty"`
	// Marks are the reservations and health terminations that count in budgets, oldest first.
	Marks []Mark `json:"marks,omitempty"`
	// Onsets and Rolling are sorted by member.
	Onsets  []Onset `json:"onsets,omitempty"`
	Rolling []Onset `json:"rolling,omitempty"`
	// ReleasedAt is when the last hold ended; what happened before it starts no new hold.
	ReleasedAt Instant `json:"released,omitempty"`
	// Paced lists members that a paced exit set Healthy and that are repaired one by one.
	Paced *Paced `json:"paced,omitempty"`
	// Pages is sorted by key.
	Pages []PageState `json:"pages,omitempty"`
	// Unsent are pages that are due and not known to be delivered; the next sweep sends them again.
	Unsent []Page `json:"unsent,omitempty"`
	// RequestID is the last operator request that was obeyed.
	RequestID string `json:"request,omitempty"`
}

// Known says whether there was a state item.
func (s *State) Known() bool { return s.LastSweep != 0 }

// bad says that the last look found a member bad.
func (s *State) bad(id string) bool {
	i, found := slices.BinarySearchFunc(s.Members, id, func(m MemberState, id string) int { return strings.Compare(m.ID, id) })
	return found && s.Members[i].Bad
}

// MemberState is what is remembered of one member. Its JSON names are short because there may be ten thousand.
type MemberState struct {
	ID        string `json:"i"`
	Lifecycle string `json:"l,omitempty"`
	// Since is the first sight of Lifecycle; for InService that is where grace begins.
	Since Instant `json:"s,omitempty"`
	// Old says that it was InService at a first look without a state item: past its first grace as evidence.
	Old bool `json:"o,omitempty"`
	// Seq, Boot and Stamp are the newest beat seen; AdvancedAt is when the guard saw it advance, 0 if it never did.
	Seq        int64   `json:"q,omitempty"`
	Boot       string  `json:"b,omitempty"`
	Stamp      Instant `json:"t,omitempty"`
	AdvancedAt Instant `json:"a,omitempty"`
	// Beat says that a row was ever seen.
	Beat bool `json:"e,omitempty"`
	// Bad says that the last look found it bad; BadSince is the first such look, or its onset.
	Bad      bool    `json:"x,omitempty"`
	BadSince Instant `json:"xs,omitempty"`
	// BrokenLooks and GoodLooks count looks in a row with that verdict; LookAt is the last one that counted.
	BrokenLooks int     `json:"k,omitempty"`
	GoodLooks   int     `json:"g,omitempty"`
	LookAt      Instant `json:"la,omitempty"`
	// BrokenSince is since when it has been broken without being marked.
	BrokenSince Instant `json:"ks,omitempty"`
	// NoMarkBefore is the end of a grace against marks only.
	NoMarkBefore Instant `json:"n,omitempty"`
	// RestoreTries counts restores in the present hold.
	RestoreTries int `json:"r,omitempty"`
	// BadAllHold says that it was bad in every look since the hold began, or since a person forced its release.
	BadAllHold bool `json:"p,omitempty"`
}

// Onset is a moment at which a member began to fail, or was last seen bad.
type Onset struct {
	Member string  `json:"m"`
	At     Instant `json:"t"`
}

// Outcomes of a mark.
const (
	OutcomeReserved = "reserved" // written, not yet called, or the run crashed
	OutcomeDone     = "done"
	OutcomeUnknown  = "unknown" // called, and the answer does not say what happened
)

// Mark is one unit of the velocity budget: a mark of ours, or a health termination that AWS or a person caused.
type Mark struct {
	ID     string  `json:"id"`
	Member string  `json:"m"`
	At     Instant `json:"t"`
	// Called is when the call was answered, 0 while that is not known: a run may take a while between reservation and call, and the
	// windows of the budget begin at the later of the two.
	Called Instant `json:"c,omitempty"`
	// By is guard or aws.
	By      string `json:"by"`
	Outcome string `json:"o"`
	// Weight is the member's capacity weight.
	Weight int `json:"w,omitempty"`
	// Observed says that the call was not made, because of mode observe.
	Observed bool `json:"ob,omitempty"`
	// Gone says that the member has left; Closed that its slot is free again.
	Gone   bool `json:"gone,omitempty"`
	Closed bool `json:"closed,omitempty"`
	// Replacement is the launch paired with it; Served and Failed are what became of that.
	Replacement string `json:"rep,omitempty"`
	Served      bool   `json:"served,omitempty"`
	Failed      bool   `json:"failed,omitempty"`
	// Paced says that a paced exit repairs the member, so that it counts in no rolling share.
	Paced bool `json:"paced,omitempty"`
	// Note says what was not known when it was made.
	Note string `json:"note,omitempty"`
}

// Stages of a release.
const (
	StageQuiet       = 1
	StageRestore     = 2
	StageHealthCheck = 3
	StageResume      = 4
	StageResumed     = 5
)

// Hold is the record of a hold.
type Hold struct {
	ID    string  `json:"id"`
	Since Instant `json:"since"`
	// Cause is the kind of trigger that began it; Text is its sentence.
	Cause string `json:"cause"`
	Text  string `json:"text,omitempty"`
	// Sticky says that only a person ends it: an operator's own hold, or replacements that do not converge.
	Sticky bool `json:"sticky,omitempty"`
	// Observed says that no call was made, because of mode observe or action alert-only.
	Observed bool `json:"observed,omitempty"`
	// Before is what was suspended before the hold.
	Before []Suspension `json:"before,omitempty"`
	// Ours are the processes that this hold suspended or means to.
	Ours []HeldProcess `json:"ours,omitempty"`
	// Removed counts how often someone else resumed what this hold had suspended; Conflict says that it is left to people.
	Removed  int  `json:"removed,omitempty"`
	Conflict bool `json:"conflict,omitempty"`
	// QuietSince is since when no trigger that can prolong the hold was true; 0 while one is.
	QuietSince Instant `json:"quiet,omitempty"`
	Stage      int     `json:"stage"`
	// StageAt is when the present stage began.
	StageAt Instant `json:"stage_at,omitempty"`
	// ReleaseBy names the operator's request to release; it takes the place of quiet.
	ReleaseBy string `json:"release_by,omitempty"`
	// Forced says that the request was to take the paced exit, without waiting for the maximum of a hold.
	Forced bool `json:"forced,omitempty"`
	// Paced says that the paced exit is on its way.
	Paced bool `json:"paced,omitempty"`
}

// HeldProcess is one process that a hold suspended.
type HeldProcess struct {
	Process string `json:"process"`
	// IntentAt is when the call was decided; Reason is AWS's text, recorded after the call, "" until then.
	IntentAt Instant `json:"intent"`
	Reason   string  `json:"reason,omitempty"`
	// Resumed is when a resume was decided, 0 before.
	Resumed Instant `json:"resumed,omitempty"`
}

// Watch is the time after a release during which terminations beyond the budget start the hold again.
type Watch struct {
	Since  Instant `json:"since"`
	Until  Instant `json:"until"`
	Budget int     `json:"budget"`
}

// Paced is what a paced exit left to repair.
type Paced struct {
	Since Instant `json:"since"`
	// Members are sorted; HealthCheck stays suspended, under Process, until they are repaired.
	Members []string     `json:"members"`
	Process *HeldProcess `json:"process,omitempty"`
}

// PageState remembers a notice, so that it is not repeated faster than its interval.
type PageState struct {
	// Key is the page's key and, after a space, its subject if it has one.
	Key string `json:"k"`
	// Since is when the condition began, Last when it was last told, Urgent whether it was told as urgent.
	Since  Instant `json:"s"`
	Last   Instant `json:"l,omitempty"`
	Urgent bool    `json:"u,omitempty"`
	// Open says that the condition was true at the last look.
	Open bool `json:"o,omitempty"`
}

// RegionState is what the groups of a Region share: the Region's budget and its onsets.
type RegionState struct {
	// Marks are the marks of the last hour over all groups, oldest first.
	Marks []RegionMark `json:"marks,omitempty"`
	// Onsets are the members that began to fail of late, sorted by group and member.
	Onsets []RegionOnset `json:"onsets,omitempty"`
	// Eligible is the number of eligible members of each group.
	Eligible map[string]int `json:"eligible,omitempty"`
}

// RegionMark is one unit of the Region's budget.
type RegionMark struct {
	ID string  `json:"id"`
	At Instant `json:"t"`
}

// RegionOnset is a member of some group that began to fail.
type RegionOnset struct {
	Group  string  `json:"g"`
	Member string  `json:"m"`
	At     Instant `json:"t"`
}
