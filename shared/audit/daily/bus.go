package daily

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/report"
)

// DetailType is what a finding is on the bus, under Holdfast's own source; rules match on it.
const DetailType = "Holdfast Finding"

// eventsMax bounds the events of one audit; what is new and what is gone goes first. batchMax is the most in one call.
// Source of the latter: EventBridge API reference, PutEvents.
const (
	eventsMax = 1000
	batchMax  = 10
)

// States of a finding on the bus.
const (
	StateNew     = "new"
	StateLasting = "lasting"
	StateGone    = "gone"
)

// Detail is the detail of a finding on the bus.
type Detail struct {
	// State is new, lasting or gone. Of one that is gone, Finding has rule, kind, name, part and severity only.
	State   string        `json:"state"`
	Finding audit.Finding `json:"finding"`
	// Run names the audit, At is when it read the account.
	Run string    `json:"run"`
	At  time.Time `json:"at"`
}

// Bus puts findings on Holdfast's event bus.
type Bus struct {
	api report.API
	bus string
}

// NewBus makes a Bus over a client and the name or ARN of the bus. It makes no call.
func NewBus(api report.API, bus string) *Bus { return &Bus{api: api, bus: bus} }

// Put puts the details on the bus, in their order, and returns how many were left out because there are more than a thousand. A repeat
// after an error puts all of them again: readers tell them apart by run and finding.
func (b *Bus) Put(ctx context.Context, all []Detail) (leftOut int, err error) {
	sent := all[:min(len(all), eventsMax)]
	for batch := range slices.Chunk(sent, batchMax) {
		if err := b.put(ctx, batch); err != nil {
			return 0, fmt.Errorf("put findings: %w", err)
		}
	}
	return len(all) - len(sent), nil
}

func (b *Bus) put(ctx context.Context, batch []Detail) error {
	in := &eventbridge.PutEventsInput{}
	for _, d := range batch {
		text, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode finding: %w", err)
		}
		entry := types.PutEventsRequestEntry{
			EventBusName: aws.String(b.bus), Source: aws.String(report.Source), DetailType: aws.String(DetailType), Detail: aws.String(string(text)), Time: aws.Time(d.At),
		}
		if d.Finding.ARN != "" {
			entry.Resources = []string{d.Finding.ARN}
		}
		in.Entries = append(in.Entries, entry)
	}
	out, err := b.api.PutEvents(ctx, in)
	if err != nil {
		return awserr.Classify(err)
	}
	if out.FailedEntryCount == 0 {
		return nil
	}
	for _, e := range out.Entries {
		if e.ErrorCode != nil {
			return fmt.Errorf("%w: %s: %s", fault.Unknown, *e.ErrorCode, aws.ToString(e.ErrorMessage))
		}
	}
	return fmt.Errorf("%w: %d entries failed and none says why", fault.Unknown, out.FailedEntryCount)
}

// details are the findings of an audit for the bus, what changed first.
func details(c Changes, run string, at time.Time) []Detail {
	var out []Detail
	add := func(state string, f audit.Finding) {
		out = append(out, Detail{State: state, Finding: f, Run: run, At: at})
	}
	for _, f := range c.New {
		add(StateNew, f)
	}
	for _, b := range c.Gone {
		f := audit.Finding{Rule: b.Rule, Kind: b.Kind, Name: b.title(), Severity: b.Severity}
		if b.Hash == "" {
			f.Part = b.Part
		}
		add(StateGone, f)
	}
	for _, f := range c.Lasting {
		add(StateLasting, f)
	}
	return out
}
