package template

import (
	"cmp"
	"slices"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// links says which load balancers use a target group, by what listeners and their rules say.
type links struct {
	// of are the load balancers by target group, vague the target groups that a listener of an unknown load balancer names.
	of    map[string][]string
	vague map[string]string
}

func newLinks() *links { return &links{of: map[string][]string{}, vague: map[string]string{}} }

// listener is one listener or rule: who it belongs to, and where it sends requests.
type listener struct {
	name      string
	balancers []string
	targets   []string
}

func (l *links) add(from listener) {
	for _, t := range from.targets {
		if len(from.balancers) == 0 {
			l.vague[t] = cmp.Or(l.vague[t], from.name)
		}
		l.of[t] = append(l.of[t], from.balancers...)
	}
}

// fill sets the load balancers of every target group. One that no listener names may be used by a listener elsewhere, and so is unknown.
func (l *links) fill(a *audit.Account) {
	for i := range a.TargetGroups {
		t := &a.TargetGroups[i]
		unread := audit.Unread{Kind: audit.KindTargetGroup, Name: cmp.Or(t.Name, t.ID), What: "load balancers"}
		found := slices.Compact(slices.Sorted(slices.Values(l.of[t.ID])))
		switch {
		case l.vague[t.ID] != "":
			unread.Why = l.vague[t.ID] + " sends requests to it, and its load balancer is not in the template"
			a.Unread = append(a.Unread, unread)
		case len(found) == 0:
			unread.Why = "no listener in the template sends requests to it"
			a.Unread = append(a.Unread, unread)
		default:
			t.LoadBalancers = found
		}
	}
}
