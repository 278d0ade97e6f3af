// Package fault names the few kinds of failure that the runner tells apart. Adapters wrap what AWS said in one of them
// (fmt.Errorf("suspend processes: %w: %v", fault.Throttled, err)), and the runner asks with errors.Is. An error that is none of
// them is treated as Unknown. It knows no AWS package; package awserr maps AWS's codes to these.
package fault

import "errors"

var (
	// Throttled is a call that was refused for its rate, by the service or by the SDK's own retry quota; nothing happened.
	Throttled = errors.New("throttled")
	// Gone is an instance, group or item that does not exist (any more); nothing happened.
	Gone = errors.New("gone")
	// TooYoung is a mark that AWS refused because the member is in its grace period; nothing happened.
	TooYoung = errors.New("too young")
	// Conflict is a conditional write that another writer overtook; nothing happened.
	Conflict = errors.New("conflict")
	// Refused is a call that AWS refused for good, such as access denied or invalid input; nothing happened.
	Refused = errors.New("refused")
	// Unknown is a call whose outcome cannot be told, such as a 500, a contended resource or a timeout.
	Unknown = errors.New("outcome unknown")
	// Partial is a read that came back incomplete.
	Partial = errors.New("partial")
)
