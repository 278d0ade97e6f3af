// Package collect reads one account and Region into an audit.Account.
//
// It makes no call that changes anything and none per member: its calls grow with groups, target groups and pages. It judges nothing.
// A read that failed is listed as unread, by name and with the reason, and never fails the rest; what is unknown stays nil, so that no
// rule takes it for a setting. Throttled reads are tried again by the SDK's own rule, and those that it gave up on once more at the end
// of their stage, more slowly.
//
// Start reading at collect.go (what is read when), then pool.go (how often and how many at once).
package collect
