// Package ledger is runner.Ledger over one DynamoDB table: the durable memory in which every limit of Holdfast lives.
//
// Keys: pk (S) is a group's ARN, or "region"; sk (S) is
//
//	state                            the group's state under a version, the fence
//	state#<version>#<write>#<part>   parts of a state too large for one item, written before the head, removed after the next
//	request                          what an operator asked for; only the command line writes it
//	action#<time>#<id>               one item per action, kept for 30 days (attribute expires)
//	budget                           the Region's shared budget, under pk "region"
//
// Every write of a state is conditional on its version; a reservation is one transaction over the state, the budget and the
// actions. Contents are compressed JSON. What cannot be read completely is an error, never an empty state.
//
// It never decides anything, never retries by itself beyond what its client does, and keeps nothing between calls.
//
// Start reading at ledger.go, then document.go (one versioned item), then reserve.go.
package ledger
