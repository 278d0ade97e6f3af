// Package scenario reads scenario files and replays them: the real runner and the real guard on a virtual clock over a world that
// is exactly what the file states. Each case of the design is such a file, under testdata/cases, and is a test here.
//
// It decides nothing about health or limits, calls nothing of AWS, and never repairs a file: whatever breaks the format is
// reported with its line, all of it at once. A refused policy value is no fault of the file, because a refused setting is
// something that a scenario may want to show.
//
// Start reading at Scenario, then Parse, Replay and judge.go. The format is described in docs/scenario-format.md.
package scenario
