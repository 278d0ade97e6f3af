package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// straysMax bounds what the Region's item keeps of parameters that nobody reads; the first ones by name are told.
const straysMax = 50

// strayWait is how long a parameter may be there before its group: a stack makes both, in any order.
const strayWait = 10 * time.Minute

// Stray is a parameter that nobody reads: since when it has been seen, and whether that was told.
type Stray struct {
	Name  string        `json:"name"`
	Since guard.Instant `json:"since"`
	Told  bool          `json:"told,omitempty"`
}

// strayStems begin the names that somebody types who means a policy or the switch, in lower case and without their last letters.
// Whatever else lies below /holdfast/ may be somebody's own.
func strayStems() []string {
	return []string{"/holdfast/group", "/holdfast/declared", "/holdfast/default", "/holdfast/mode"}
}

// Strays are the parameters among others that look like a policy or the switch and are read for none of the groups: of a group that
// does not exist or is not guarded, or with a name that is spelled in another way. Names have one spelling: see guard.EscapeName.
func Strays(others []string, groups []guard.Group) []string {
	read := make(map[string]bool, 2*len(groups)+2)
	read[guard.LayerDefaults], read[guard.ModeParameter] = true, true
	for i := range groups {
		name := guard.EscapeName(groups[i].Name)
		read[guard.LayerDeclared+name], read[guard.LayerGroups+name] = true, true
	}
	var out []string
	for _, name := range others {
		like := func(stem string) bool { return strings.HasPrefix(strings.ToLower(name), stem) }
		if !read[name] && slices.ContainsFunc(strayStems(), like) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// tellStrays pages each parameter that nobody reads, once for as long as it is there: somebody believes that it does something. One
// shard tells them all, because a parameter belongs to none.
func (s *sweep) tellStrays(all []guard.Group) {
	if len(s.req.Groups)+len(s.req.Alarms) > 0 || s.req.Shard != 0 || s.region.readErr != "" || len(s.jobs) == 0 || s.unreadPolicies {
		return
	}
	names := Strays(s.others, all)
	known := s.region.rec.Strays
	var now []Stray
	for _, name := range names[:min(len(names), straysMax)] {
		it := Stray{Name: name, Since: guard.At(s.start)}
		if i := slices.IndexFunc(known, func(k Stray) bool { return k.Name == name }); i >= 0 {
			it = known[i]
		}
		if !it.Told && s.start.Sub(it.Since.Time()) >= strayWait {
			err := s.p.Reporter.Page(s.work, strayNotice(it, all[0].ARN, s.start))
			if it.Told = err == nil; err != nil {
				s.extra = append(s.extra, GroupResult{Group: "region", Failure: "page that nobody reads " + name + ": " + err.Error()})
			}
		}
		now = append(now, it)
	}
	s.strays, s.strayed = now, !slices.Equal(now, known)
}

// strayNotice is about a parameter, so its ARN is the parameter's, in the account and the Region of a guarded group.
func strayNotice(it Stray, groupARN string, at time.Time) Notice {
	name, arn := it.Name, it.Name
	if p := strings.SplitN(groupARN, ":", 6); len(p) == 6 {
		arn = strings.Join([]string{p[0], p[1], "ssm", p[3], p[4], "parameter" + name}, ":")
	}
	text := name + " is read by no sweep: it is the policy of no guarded group. Such a group does not exist or lacks the tag holdfast:guard=true, " +
		"or the name is spelled in another way: holdfast tune GROUP shows what is in force and from where"
	return Notice{
		GroupARN: arn, Group: name[strings.LastIndex(name, "/")+1:], At: at,
		Page: guard.Page{Key: guard.PageConfig, Subject: name, Text: text, Since: it.Since},
	}
}
