package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
)

// Notice is one notice as it came over the bus.
type Notice struct {
	report.Detail
	// EventID, Account and Region are the envelope's.
	EventID, Account, Region string
	// StateTable is the state table that the commands in a message name, "" for none. It is the desk's own and in no event.
	StateTable string
	// claimed is the time of decision that the notice gave itself, if it is far ahead and At is another; else the zero time.
	claimed time.Time
}

// envelope is what is read of an EventBridge event.
type envelope struct {
	ID         string        `json:"id"`
	Source     string        `json:"source"`
	DetailType string        `json:"detail-type"`
	Account    string        `json:"account"`
	Region     string        `json:"region"`
	Time       time.Time     `json:"time"`
	Detail     report.Detail `json:"detail"`
}

// Decode reads an EventBridge event. Anything but a notice of Holdfast is an error: the rule that sent it is wrong, and somebody
// must hear of it. A page key that this version does not know is no error, because the sweep may be newer.
func Decode(raw json.RawMessage) (Notice, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Notice{}, fmt.Errorf("decode event: %w", err)
	}
	if e.Source != report.Source || e.DetailType != report.DetailType {
		return Notice{}, fmt.Errorf("decode event: source %q with detail-type %q is no notice of Holdfast", e.Source, e.DetailType)
	}
	n := Notice{Detail: e.Detail, EventID: e.ID, Account: e.Account, Region: e.Region}
	if n.ARN == "" || n.Group == "" || n.Key == "" {
		return Notice{}, errors.New("decode event: a notice without a group, its ARN or a key")
	}
	if n.At.IsZero() {
		n.At = e.Time
	}
	if n.At.IsZero() {
		return Notice{}, errors.New("decode event: a notice without a time")
	}
	if n.Since.IsZero() {
		n.Since = n.At
	}
	return n, nil
}

// Condition is what a thread of notices is about. Its group is an ARN, because names repeat across accounts and Regions.
type Condition struct{ GroupARN, Key, Subject string }

// Condition returns the condition that a notice is about.
func (n Notice) Condition() Condition {
	return Condition{GroupARN: n.ARN, Key: n.Key, Subject: n.Subject}
}

// Observed says that the notice tells what Holdfast would have done.
func (n Notice) Observed() bool { return n.Mode == guard.ModeObserve }

// thread names a condition from when it began until it ends.
func (n Notice) thread() string {
	c := n.Condition()
	return digest(c.GroupARN, c.Key, c.Subject, n.Since.UTC().Format(time.RFC3339Nano))
}

// digest is a short name for several texts, the same on every run.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes every write
	}
	return "holdfast-" + hex.EncodeToString(h.Sum(nil))[:32]
}
