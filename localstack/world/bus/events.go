package bus

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// Limits of PutEvents. Source: SDK doc comment of PutEvents; EventBridge user guide, "Calculating PutEvents event entry
// size".
const (
	maxEntries    = 10
	maxEntryBytes = 1 << 20 // of all entries of a request together
	timeBytes     = 14
)

// PutEvents publishes up to ten events of an application. A wrong entry fails alone and is counted in
// FailedEntryCount: a caller that looks only at the error loses it.
func (b *Bus) PutEvents(in *eventbridge.PutEventsInput) (*eventbridge.PutEventsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(in.Entries) < 1 || len(in.Entries) > maxEntries {
		return nil, validation("1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length between 1 and %d, but has %d", maxEntries, len(in.Entries))
	}
	size := 0
	for _, e := range in.Entries {
		size += entrySize(e)
	}
	if size >= maxEntryBytes {
		return nil, validation("Total size of the entries in the request is over the limit.")
	}
	out := &eventbridge.PutEventsOutput{}
	for _, e := range in.Entries {
		result, err := b.putEvent(e)
		if err != nil {
			return nil, err
		}
		if result.ErrorCode != nil {
			out.FailedEntryCount++
		}
		out.Entries = append(out.Entries, result)
	}
	return out, nil
}

func entrySize(e types.PutEventsRequestEntry) int {
	size := len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
	if e.Time != nil {
		size += timeBytes
	}
	for _, r := range e.Resources {
		size += len(r)
	}
	return size
}

func (b *Bus) putEvent(e types.PutEventsRequestEntry) (types.PutEventsResultEntry, error) {
	if code, message := checkEntry(e); code != "" {
		return types.PutEventsResultEntry{ErrorCode: aws.String(code), ErrorMessage: aws.String(message)}, nil
	}
	event, err := b.envelope(Entry{
		Source: *e.Source, DetailType: *e.DetailType, Resources: e.Resources, Detail: json.RawMessage(*e.Detail),
		Time: aws.ToTime(e.Time),
	})
	if err != nil {
		return types.PutEventsResultEntry{}, err
	}
	return types.PutEventsResultEntry{EventId: aws.String(event.ID)}, b.route(event)
}

func checkEntry(e types.PutEventsRequestEntry) (code, message string) {
	for _, field := range []struct{ name, value string }{
		{"Source", aws.ToString(e.Source)}, {"DetailType", aws.ToString(e.DetailType)}, {"Detail", aws.ToString(e.Detail)},
	} {
		if field.value == "" {
			return "InvalidArgument", "Parameter " + field.name + " is not valid. Reason: " + field.name + " is a required argument."
		}
	}
	if strings.HasPrefix(*e.Source, "aws.") {
		return "NotAuthorizedForSourceException", "Not authorized for the source."
	}
	if !isDefault(e.EventBusName) {
		return "ResourceNotFoundException", "Event bus " + *e.EventBusName + " does not exist."
	}
	if detail := strings.TrimSpace(*e.Detail); !json.Valid([]byte(detail)) || detail[0] != '{' {
		return "MalformedDetail", "Detail is malformed."
	}
	return "", ""
}

// TestEventPattern tells whether a pattern meets an event, without publishing it.
func (b *Bus) TestEventPattern(in *eventbridge.TestEventPatternInput) (*eventbridge.TestEventPatternOutput, error) {
	p, err := ParsePattern(aws.ToString(in.EventPattern))
	if err != nil {
		return nil, err
	}
	ok, err := p.Matches([]byte(aws.ToString(in.Event)))
	if err != nil {
		return nil, validation("Parameter Event is not valid.")
	}
	return &eventbridge.TestEventPatternOutput{Result: ok}, nil
}
