// Package guardtest builds groups for tests of the decision core and plays the part of AWS around it: beats advance, marks
// stick, suspensions get their reason text.
//
// It never judges: what a verdict should be stands in the tests. It is no simulator either: nothing is launched or terminated
// unless a test says so. Start reading at Fleet.
package guardtest
