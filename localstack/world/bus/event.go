package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Event is the envelope as targets receive it.
type Event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       string          `json:"time"` // RFC 3339, seconds, UTC
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// Entry is an event that is about to be published; the bus adds the rest of the envelope.
type Entry struct {
	Source     string
	DetailType string
	Resources  []string
	// Detail is any value that encodes to a JSON object.
	Detail any
	// Time is when it happened; the zero value means now.
	Time time.Time
}

func (b *Bus) envelope(e Entry) (Event, error) {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return Event{}, fmt.Errorf("encode detail: %w", err)
	}
	if !strings.HasPrefix(string(detail), "{") {
		return Event{}, fmt.Errorf("encode detail: %s is not a JSON object", detail)
	}
	if e.Time.IsZero() {
		e.Time = b.opts.Now()
	}
	if e.Resources == nil {
		e.Resources = []string{}
	}
	b.issued++
	return Event{
		Version: "0", ID: fmt.Sprintf("00000000-0000-4000-8000-%012x", b.issued), DetailType: e.DetailType, Source: e.Source,
		Account: b.opts.Account, Time: e.Time.UTC().Format("2006-01-02T15:04:05Z"), Region: b.opts.Region,
		Resources: e.Resources, Detail: detail,
	}, nil
}
