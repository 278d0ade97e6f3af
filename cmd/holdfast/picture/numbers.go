package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Column is the heading of a column of numbers, in two lines where there is little room.
type Column struct{ Top, Bottom string }

// Name is the heading in one line.
func (c Column) Name() string { return c.Top + " " + c.Bottom }

// Columns are the numbers by which runs are compared, on the page and in the terminal.
func Columns() []Column {
	return []Column{
		{"healthy members", "lost"}, {"broken members", "replaced"}, {"capacity lost,", "member minutes"},
		{"requests failing,", "minutes"}, {"fewest that", "served"},
	}
}

// Explanation is what the columns do not say by themselves.
func Explanation() string {
	return "Fewest that served: the smallest number of members that really answered requests at one moment. When every target of a target " +
		"group is unhealthy, the load balancer fails open: it sends requests to all of them, so members may serve while none counts as healthy."
}

// Cells are a run's numbers in the order of Columns; a dash says that there was nothing to replace.
func (r Run) Cells() []string {
	s := r.Story.Stats
	replaced := "–"
	if n := len(r.Story.Broken()); n > 0 {
		replaced = fmt.Sprintf("%d of %d", s.BrokenTerminated, n)
	}
	return []string{
		fmt.Sprint(s.HealthyTerminated), replaced, fmt.Sprintf("%.1f", s.CapacityMinutesLost), fmt.Sprintf("%.2f", s.ErrorMinutes), fmt.Sprint(s.WorstServing),
	}
}

// Contrast says in one sentence that no way without Holdfast is good in every incident, with what went wrong in each; "" if one is, or
// if there are fewer than two incidents.
func Contrast(cases []Case) string {
	var labels, harms []string
	for _, c := range cases {
		for _, r := range c.Runs {
			if !r.Story.Guarded && !slices.Contains(labels, r.Label) {
				labels = append(labels, r.Label)
			}
		}
	}
	for _, label := range labels {
		harm := harmOf(label, cases)
		if harm == "" {
			return ""
		}
		harms = append(harms, strings.TrimPrefix(label, "AWS alone, ")+" "+harm)
	}
	if len(cases) < 2 || len(harms) < 2 {
		return ""
	}
	all := "both"
	if len(cases) > 2 {
		all = fmt.Sprintf("all %d", len(cases))
	}
	return fmt.Sprintf("No setting of AWS alone is good in %s incidents: %s.", all, strings.Join(harms, "; "))
}

// harmOf is what the first incident that went wrong in a way did, "" if none did.
func harmOf(label string, cases []Case) string {
	for _, c := range cases {
		for _, r := range c.Runs {
			if r.Label != label {
				continue
			}
			if n := r.Story.Stats.HealthyTerminated; n > 0 {
				return "lost " + guard.Counted(n, "healthy member") + " in " + c.Name
			}
			if n := len(r.Story.Broken()) - r.Story.Stats.BrokenTerminated; n > 0 {
				return fmt.Sprintf("left %d broken in place in %s", n, c.Name)
			}
		}
	}
	return ""
}
