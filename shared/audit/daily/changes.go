package daily

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// Brief is a finding as it is remembered: enough to know it again and to say what is gone.
type Brief struct {
	Rule     string         `json:"r"`
	Kind     string         `json:"k"`
	Name     string         `json:"n,omitempty"`
	Severity audit.Severity `json:"s"`
	// Part is the finding's. With a Hash it is a hash too.
	Part string `json:"p,omitempty"`
	// Hash stands in for rule, kind and name where names would take too much room.
	Hash string `json:"h,omitempty"`
}

// Known is what the last audit left. The zero value says that there was none.
type Known struct {
	// Version is the fence: a save succeeds only on the version that was loaded; 0 says that there is no item yet.
	Version int64 `json:"-"`
	// At is when it ran.
	At time.Time `json:"at"`
	// Findings are the open ones, sorted.
	Findings []Brief `json:"findings"`
	// Accepted are those that were accepted, each by a hash, for a day on which the list cannot be read; sorted.
	Accepted []string `json:"accepted,omitempty"`
	// Least is set when there was no room for all: findings of this severity or a lower one may have been left out.
	Least audit.Severity `json:"least,omitempty"`
	// Notes are what was wrong with its settings.
	Notes []string `json:"notes,omitempty"`
}

// Unsaid is what people have said and could not be read or understood this time: then it is not known what they say, not that they say
// nothing.
type Unsaid struct{ Accepted, Promises bool }

// Changes is an audit beside the one before.
type Changes struct {
	// First says that there was none before.
	First bool
	// New and Lasting are the open findings, worst first; one whose severity changed is new.
	New, Lasting []audit.Finding
	// Gone are no longer found, or were accepted; Kept were found before and could not be judged now.
	Gone, Kept []Brief
	// Accepted are hashes of the findings that people accept.
	Accepted []string
	// Notes are what is wrong with the settings now; NewNotes those that were not so before.
	Notes, NewNotes []string
}

// Any says whether there is something to tell.
func (c Changes) Any() bool {
	return c.First || len(c.New) > 0 || len(c.Gone) > 0 || len(c.NewNotes) > 0
}

// Next is what is to be remembered, as far as there is room.
func (c Changes) Next(known Known, at time.Time) Known {
	next := Known{Version: known.Version, At: at, Notes: c.Notes, Accepted: c.Accepted, Findings: slices.Clone(c.Kept)}
	for _, f := range slices.Concat(c.New, c.Lasting) {
		next.Findings = append(next.Findings, briefOf(f))
	}
	if len(c.Kept) > 0 {
		next.Least = known.Least // what was left out could not be judged either
	}
	slices.SortFunc(next.Findings, compareBriefs)
	next.Findings = slices.Compact(next.Findings)
	return next.fit()
}

// notes say what was left out for want of room.
func (k Known) notes() []string {
	if k.Least == "" {
		return nil
	}
	return []string{fmt.Sprintf(
		"There are more findings than can be remembered: of those of severity %s or below, some are not, so that no new ones of these severities are told and some end untold.", k.Least)}
}

func briefOf(f audit.Finding) Brief {
	return Brief{Rule: f.Rule, Kind: f.Kind, Name: f.Name, Severity: f.Severity, Part: f.Part}
}

// short is the finding without the texts that take room.
func (b Brief) short() Brief {
	if b.Hash == "" {
		b.Hash = idOf(b.Rule, b.Kind, b.Name)
		if b.Part != "" {
			b.Part = idOf(b.Part)[:partDigits]
		}
	}
	b.Name = ""
	return b
}

// partDigits are enough to tell the few findings of one rule about one resource apart.
const partDigits = 8

// id knows a finding again, whatever its severity.
func (b Brief) id() string {
	b = b.short()
	return b.Hash + b.Part
}

// title is the name, or what is left of it.
func (b Brief) title() string {
	if b.Name == "" && b.Hash != "" {
		return "whose name there was no room to remember"
	}
	return b.Name
}

// idOf is a hash so short that thousands fit, and so long that no two are the same by chance.
func idOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func compareBriefs(a, b Brief) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Severity, b.Severity))
}

// Compare puts an audit beside what is known. The account is the one that the report is about: what could not be read of it keeps what
// was known, and so does what people have said and could not be read.
func Compare(known Known, a audit.Account, r audit.Report, u Unsaid) Changes {
	c := &comparison{known: known, unsaid: u, unread: unreadOf(a), before: map[string][]audit.Severity{}, now: map[string][]audit.Severity{}, told: map[string]bool{}}
	c.First = known.Version == 0
	for _, b := range known.Findings {
		c.before[b.id()] = append(c.before[b.id()], b.Severity)
	}
	accepted := map[string]bool{}
	if u.Accepted {
		c.Accepted = known.Accepted
		for _, id := range known.Accepted {
			accepted[id] = true
		}
	}
	for _, f := range r.Findings {
		id := briefOf(f).id()
		switch {
		case f.Acknowledged != nil:
			accepted[id] = true
			c.Accepted = append(c.Accepted, id)
		case !accepted[id]:
			c.sees(f)
		}
	}
	c.Accepted = slices.Clone(c.Accepted)
	slices.Sort(c.Accepted)
	c.Accepted = slices.Compact(c.Accepted)
	for _, b := range known.Findings {
		c.misses(c.unread.named(b), accepted[b.id()])
	}
	return c.Changes
}

// comparison is Changes in the making.
type comparison struct {
	Changes
	known  Known
	unsaid Unsaid
	unread *unread
	// before and now are the severities of each finding; told are those that are new now.
	before, now map[string][]audit.Severity
	told        map[string]bool
}

// sees takes an open finding. One that may only be there, or be milder than it was, because something is not known changes nothing.
func (c *comparison) sees(f audit.Finding) {
	b := briefOf(f)
	id := b.id()
	before := c.before[id]
	doubtful := !c.First && c.unsaid.Promises && c.unread.needs[f.Rule].promises
	milder := len(before) > 0 && !slices.ContainsFunc(before, func(s audit.Severity) bool { return rank(s) >= rank(f.Severity) }) && c.unread.touches(b)
	switch {
	case slices.Contains(before, f.Severity):
		c.Lasting = append(c.Lasting, f)
	case doubtful || milder || !c.First && len(before) == 0 && c.unread.excuses(b):
		return
	case len(before) == 0 && c.known.Least != "" && rank(f.Severity) >= rank(c.known.Least):
		c.Lasting = append(c.Lasting, f) // there was no room to remember it
	default:
		c.New = append(c.New, f)
		c.told[id] = true
	}
	c.now[id] = append(c.now[id], f.Severity)
}

// misses takes a finding that was known.
func (c *comparison) misses(b Brief, accepted bool) {
	id := b.id()
	switch {
	case slices.Contains(c.now[id], b.Severity), c.told[id]:
		// It is there, perhaps with another severity, which is told as new.
	case !accepted && (c.unread.touches(b) || c.unsaid.Promises && c.unread.needs[b.Rule].promises && !c.unread.deleted(b.Kind, b.Name)):
		c.Kept = append(c.Kept, b)
	default:
		c.Gone = append(c.Gone, b)
	}
}

// rank is the place of a severity, worst first.
func rank(s audit.Severity) int { return slices.Index(severities(), s) }
