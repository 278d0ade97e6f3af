// Package awserr is the one place that knows AWS's error codes and messages. Classify turns what an SDK call returned into one
// of the kinds of package fault, and keeps the original error below it.
//
// It never calls AWS, never retries, and never says that nothing happened unless the answer proves it: what it does not
// recognise is fault.Unknown. It sees the last attempt of a call only. A client that repeats a changing call by itself could
// hide an earlier attempt that did change something, so changing calls belong on clients that make one attempt.
//
// Start reading at Classify.
package awserr
