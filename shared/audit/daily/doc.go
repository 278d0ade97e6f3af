// Package daily is the audit that runs by itself: it reads an account, judges it, puts every finding on Holdfast's bus, and tells people
// in one digest what changed since the last time, or nothing.
//
// It changes nothing but its own one item of the state table, repeats no finding that people were told, and calls no finding gone if
// something that its rule looks at could not be read this time.
//
// Start reading at daily.go, then changes.go and reads.go.
package daily
