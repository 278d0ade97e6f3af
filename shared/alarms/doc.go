// Package alarms reads CloudWatch alarms by name and the queues of worker groups, and implements runner.Alarms and runner.Queues.
//
// It never sets, creates or judges an alarm, and never takes an alarm that no answer named for one that is OK: that one is
// MISSING, and one whose call failed is UNREAD.
//
// Start reading at alarms.go; queues.go and trend.go have the queues.
package alarms
