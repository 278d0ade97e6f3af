// Package operator is what a person can do to Holdfast, each as a function over small ports: look at the groups, ask for a hold or
// a release, tune a group's policy, and turn the one big switch.
//
// It changes nothing on AWS but an operator's request in the ledger and two kinds of parameter (/holdfast/mode and
// /holdfast/groups/...); a sweep then obeys. It never suspends, resumes or marks anything itself, never writes a policy that would be
// invalid, and never a state. Every command may be repeated, and says what it changed.
//
// Start reading at desk.go, then request.go, tune.go, pause.go and status.go.
package operator
