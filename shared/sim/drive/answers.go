package drive

import (
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// answers are what the ports gave last, kept for as long as asking again would give the same: the guard looks anew every time, and the
// simulator is asked only when something has happened. Nobody may change what was given.
type answers struct {
	// told is [sim.Cloud.Told] of the groups below.
	told   uint64
	groups []answer
	// guarded are the groups that carry the opt-in tag, sorted by name, if they are listed.
	guarded []guard.Group
	listed  bool
	// set is what was answered about the policies of the groups of these names.
	names []string
	set   runner.PolicySet
}

// answer is what was told about one group.
type answer struct {
	group    guard.Group
	detailed bool
	details  guard.Group
	reads    guard.Reads
	// beats are good until the group's next heartbeats are asked for.
	beats map[string]guard.Beat
}

// fresh forgets what may not be so any more.
func (a *answers) fresh(told uint64) {
	if a.told != told {
		a.told, a.listed = told, false
		a.groups, a.guarded = a.groups[:0], nil // a look that is under way may still have the guarded ones
	}
}

// of is what was told about a group, nil if nothing.
func (a *answers) of(name string) *answer {
	for i := range a.groups {
		if a.groups[i].group.Name == name {
			return &a.groups[i]
		}
	}
	return nil
}

func (a *answers) add(g guard.Group) *answer {
	a.groups = append(a.groups, answer{group: g})
	return &a.groups[len(a.groups)-1]
}

// sameGroup says that a group is the very one that was given, and not what was given at an earlier time.
func sameGroup(a, b *guard.Group) bool {
	return a.ARN == b.ARN && len(a.Members) > 0 && len(a.Members) == len(b.Members) && &a.Members[0] == &b.Members[0]
}

// outlived says that some activities have become too old to be told.
func (a *answer) outlived(since time.Time) bool {
	return slices.ContainsFunc(a.details.Activities, func(one guard.Activity) bool { return one.At.Before(since) })
}

// beatsOf is a map for the heartbeats of a group's members, nil for a group that is not as it was last told. It has entries of these
// members alone, and those that it has are to be replaced.
func (a *answers) beatsOf(g *guard.Group, told uint64) map[string]guard.Beat {
	if a == nil || a.told != told {
		return nil
	}
	of := a.of(g.Name)
	if of == nil || !of.detailed || !sameGroup(&of.details, g) {
		return nil
	}
	if of.beats == nil {
		of.beats = make(map[string]guard.Beat, len(g.Members))
	}
	return of.beats
}

// policySet is what was answered about the policies of these groups, nil if they were not asked for.
func (a *answers) policySet(groups []string) *runner.PolicySet {
	if a == nil || a.set.Groups == nil || !slices.Equal(a.names, groups) {
		return nil
	}
	return &a.set
}
