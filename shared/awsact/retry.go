package awsact

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// Attempts of one call, the first included, and the longest wait between two; the deadline of the call ends them earlier.
const (
	MarkAttemptsMax = 4
	HoldAttemptsMax = 5
	BackoffMax      = 2 * time.Second
)

// Options configure an Actor.
type Options struct {
	// Backoff replaces the wait between attempts; nil is the SDK's exponential backoff with jitter, at most BackoffMax.
	Backoff retry.BackoffDelayer
}

// retryers hold one retry quota (token bucket) each.
type retryers struct{ mark, restore, hold aws.Retryer }

func newRetryers(o Options) retryers {
	return retryers{
		mark:    newRetryer(o, MarkAttemptsMax, throttlesOnly()),
		restore: newRetryer(o, HoldAttemptsMax, nil),
		hold:    newRetryer(o, HoldAttemptsMax, nil),
	}
}

// newRetryer makes a retryer with a quota of its own; no retryables means the SDK's defaults: throttles, server errors, broken
// connections.
func newRetryer(o Options, attempts int, retryables []retry.IsErrorRetryable) aws.Retryer {
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = attempts
		s.MaxBackoff = BackoffMax
		if o.Backoff != nil {
			s.Backoff = o.Backoff
		}
		if retryables != nil {
			s.Retryables = retryables
		}
	})
}

// throttlesOnly retries a call only when AWS said that it did nothing. ResourceContention, a server error and a timeout leave
// open whether the mark happened, and a second one could hit a state that nobody has looked at.
func throttlesOnly() []retry.IsErrorRetryable {
	return []retry.IsErrorRetryable{
		retry.NoRetryCanceledError{},
		retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes},
	}
}
