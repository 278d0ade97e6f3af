package audit

import "slices"

// Rules are all rules, by id. Each rule stands in a file of its family: rules_terminate.go first.
func Rules() []Rule {
	return slices.Concat(
		terminating(),
	)
}
