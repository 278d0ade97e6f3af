package daily

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// Brief is a finding as it is remembered: enough to know it again and to say what is gone.
type Brief struct {
	Rule     string         `json:"r"`
	Kind     string         `json:"k"`
	Name     string         `json:"n"`
	Severity audit.Severity `json:"s"`
}

// Known is what the last audit left. The zero value says that there was none.
type Known struct {
	// Version is the fence: a save succeeds only on the version that was loaded; 0 says that there is no item yet.
	Version int64 `json:"-"`
	// At is when it ran.
	At time.Time `json:"at"`
	// Findings are the open ones, sorted.
	Findings []Brief `json:"findings"`
	// Notes are what was wrong with its settings.
	Notes []string `json:"notes,omitempty"`
}

// Changes is an audit beside the one before.
type Changes struct {
	// First says that there was none before.
	First bool
	// New and Lasting are the open findings, worst first; one whose severity changed is new.
	New, Lasting []audit.Finding
	// Gone are no longer found, or were accepted; Kept were found before and could not be judged now.
	Gone, Kept []Brief
	// Notes are what is wrong with the settings now; NewNotes those that were not so before.
	Notes, NewNotes []string
}

// Any says whether there is something to tell.
func (c Changes) Any() bool {
	return c.First || len(c.New) > 0 || len(c.Gone) > 0 || len(c.NewNotes) > 0
}

// Next is what is to be remembered.
func (c Changes) Next(known Known, at time.Time) Known {
	next := Known{Version: known.Version, At: at, Notes: c.Notes, Findings: slices.Clone(c.Kept)}
	for _, f := range slices.Concat(c.New, c.Lasting) {
		next.Findings = append(next.Findings, briefOf(f))
	}
	slices.SortFunc(next.Findings, compareBriefs)
	next.Findings = slices.Compact(next.Findings)
	return next
}

func briefOf(f audit.Finding) Brief { return Brief{f.Rule, f.Kind, f.Name, f.Severity} }

func compareBriefs(a, b Brief) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Severity, b.Severity))
}

// Compare puts an audit beside what is known. The account is the one that the report is about: what could not be read of it keeps what
// was known.
func Compare(known Known, a audit.Account, r audit.Report) Changes {
	c := Changes{First: known.Version == 0}
	before := map[Brief]bool{}
	for _, b := range known.Findings {
		before[b] = true
	}
	now := map[Brief]bool{}
	resources := map[Brief]bool{}
	for _, f := range r.Findings {
		b := briefOf(f)
		if f.Acknowledged != nil {
			continue
		}
		now[b] = true
		resources[Brief{Rule: b.Rule, Kind: b.Kind, Name: b.Name}] = true
		if before[b] {
			c.Lasting = append(c.Lasting, f)
		} else {
			c.New = append(c.New, f)
		}
	}
	accepted := map[Brief]bool{}
	for _, f := range r.Findings {
		if f.Acknowledged != nil {
			accepted[briefOf(f)] = true
		}
	}
	unread := unreadOf(a)
	for _, b := range known.Findings {
		switch {
		case now[b], resources[Brief{Rule: b.Rule, Kind: b.Kind, Name: b.Name}]:
			// It is there, perhaps with another severity, which is told as new.
		case !accepted[b] && unread.touches(b.Kind, b.Name):
			c.Kept = append(c.Kept, b)
		default:
			c.Gone = append(c.Gone, b)
		}
	}
	return c
}

// unread is what could not be read, by kind and name; the name "" stands for all of the kind.
type unread struct {
	names map[[2]string]bool
	// targets are the target groups of each group, by name and by id.
	targets map[string][]string
}

func unreadOf(a audit.Account) unread {
	u := unread{names: map[[2]string]bool{}, targets: map[string][]string{}}
	for _, entry := range a.Unread {
		u.names[[2]string{entry.Kind, entry.Name}] = true
	}
	titles := map[string]string{}
	for _, t := range a.TargetGroups {
		titles[t.ID] = t.Name
	}
	for _, g := range a.Groups {
		for _, id := range slices.Concat(g.TargetGroups, g.LatticeGroups) {
			u.targets[g.Name] = append(u.targets[g.Name], id, titles[id])
		}
	}
	return u
}

// touches says whether a finding about a resource may be missing only because something was not read: the resource itself, all of its
// kind, or, for a group, any of its target groups.
func (u unread) touches(kind, name string) bool {
	if u.names[[2]string{kind, name}] || u.names[[2]string{kind, ""}] || u.names[[2]string{"account", ""}] {
		return true
	}
	if kind != audit.KindGroup {
		return false
	}
	if u.names[[2]string{audit.KindTargetGroup, ""}] {
		return true
	}
	return slices.ContainsFunc(u.targets[name], func(target string) bool {
		return target != "" && u.names[[2]string{audit.KindTargetGroup, target}]
	})
}
