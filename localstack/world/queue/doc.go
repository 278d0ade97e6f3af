// Package queue is an in-memory SQS: standard queues with visibility timeouts, delays and attributes.
//
// It answers the SDK's own typed inputs with the SDK's own typed outputs and exceptions. A message that is received
// and not deleted comes back when its visibility timeout ends on the injected clock; like SQS it may be delivered
// twice, and its order is not a promise. It has no FIFO queues and no redrive, it never waits (a long poll answers
// at once), and it reads no clock but the one it is given.
//
// Start reading at Queues in queues.go.
package queue
