package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// Cause is why a call failed. Its values are a metric's dimension and never change.
type Cause string

// The causes, in the order of a call's phases.
const (
	// CauseDNS is a name that could not be resolved in time, or to the addresses that were expected.
	CauseDNS Cause = "dns"
	// CauseRefused is a connection that could not be made, or was cut off before it had carried an answer.
	CauseRefused Cause = "refused"
	// CauseTLS is a handshake that failed, or a certificate that expires too soon.
	CauseTLS Cause = "tls"
	// CauseTimeout is a connection, handshake or answer that was not there in time.
	CauseTimeout Cause = "timeout"
	// CauseStatus is an answer with another status than was expected, or one that is no HTTP.
	CauseStatus Cause = "non-2xx"
	// CauseBody is a body that broke off or does not hold what was expected.
	CauseBody Cause = "body"
)

// Causes lists every cause in the order of a call's phases.
func Causes() []Cause {
	return []Cause{CauseDNS, CauseRefused, CauseTLS, CauseTimeout, CauseStatus, CauseBody}
}

// Outcome is what is known after a call or a check.
type Outcome string

// The outcomes. What is unknown is neither a failure nor a success.
const (
	Unknown Outcome = ""
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
)

// String is the outcome as people read it: unknown, passed or failed.
func (o Outcome) String() string {
	if o == Unknown {
		return "unknown"
	}
	return string(o)
}

// failure is a call that failed for a known cause.
type failure struct {
	cause Cause
	err   error
}

func (f *failure) Error() string { return string(f.cause) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failed(cause Cause, format string, args ...any) error {
	return &failure{cause: cause, err: fmt.Errorf(format, args...)}
}

// errAddressRefused is a call that was not made, because it would have gone where a probe must not go.
var errAddressRefused = errors.New("address refused")

// timedOut says that a call's time was over.
func timedOut(err error) bool {
	var slow net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()
}

// cutOff says that the other side, or the network, ended a connection that had been made.
func cutOff(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &op)
}
