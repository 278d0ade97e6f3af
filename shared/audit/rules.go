package audit

import (
	"cmp"
	"slices"
)

// Rules are all rules, by id. Each family stands in a file of its own, rules_terminate.go first.
func Rules() []Rule {
	rules := slices.Concat(terminating(), probing(), routing(), matching(), standing(), working(), alarming(), guarding())
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return rules
}
