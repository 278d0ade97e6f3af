// Package audit judges the Auto Scaling groups and target groups of one account and Region: which of them would terminate themselves
// in a dependency's bad minute, and what else makes an outage likelier or longer.
//
// It is a pure function of what was read: no clock, no network, standard library only (beside the project's own arithmetic and
// simulator). It never changes anything. Unknown is never a finding: it is listed as unread.
//
// Start reading at account.go (what is judged), finding.go (what comes out) and judge.go; then rules_terminate.go, the first of the rules.
package audit
