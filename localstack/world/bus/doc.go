// Package bus is an in-memory EventBridge: one default bus with rules on patterns and on rates, and targets that are
// Lambda functions, SQS queues or Go functions.
//
// Publishing only queues. Deliver hands over what is due and is what a test or a simulation calls; Run does it as
// events come and is what a server calls. Rates follow the clock that Tick is given. Delivery is at least once, as on
// AWS: failures are retried with backoff on the injected clock and end in the dead-letter queue, and hooks add
// duplicates, delays and losses. Order is never a promise.
//
// What it never does: cron expressions, input transformers, other buses, archives and pipes are refused, and no clock
// is read but the one it is given.
//
// Start reading at Bus in bus.go; patterns are in pattern.go.
package bus
