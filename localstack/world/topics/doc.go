// Package topics is the part of SNS that Holdfast uses: standard topics, subscriptions with their confirmation, and publishing, which
// reaches the queues that are subscribed.
//
// It knows no filters, no FIFO topics, no raw delivery and no retries; what is published to a subscription of another kind than a queue
// is gone. Its state is its own and no other service's.
//
// Start reading at topics.go.
package topics
