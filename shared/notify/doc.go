// Package notify turns Holdfast's notices into messages for people and delivers them: SNS topics, a Slack-compatible webhook,
// PagerDuty.
//
// A condition is a group with a page key and a subject, and it is one thread: a first notice, reminders, and for a hold one clear.
// What each channel was told of a condition stands in the state table, so that an event that arrives twice, late or out of order
// says nothing twice, and so that a retry goes only to the channels that failed. A memory that cannot be read never keeps a
// notice back: then telling people twice is better than not at all.
//
// It decides nothing about groups, reads nothing about them and acts on none. It knows secrets only while it sends, and puts none
// of them in a log line, an error or the table.
//
// Start reading at deliver.go, then due.go (who is owed what), guide.go (what is said about each key) and render.go.
package notify
