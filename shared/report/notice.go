package report

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// What a notice is on the bus; rules match on these.
const (
	Source     = "holdfast"
	DetailType = "Holdfast Notice"
)

// KeyAudit is the key of the daily audit's digest, which is about the whole account: its group is the account's name.
const KeyAudit = "audit"

// EntryBytesMax is how large one entry may be. Source: EventBridge user guide, "Calculating PutEvents event entry size".
const EntryBytesMax = 256 << 10

// cutMark ends a text that was cut.
const cutMark = " [cut]"

// Detail is the detail of a notice on the bus.
type Detail struct {
	Group string `json:"group"`
	ARN   string `json:"arn"`
	// Key is one of guard's page keys or KeyAudit, Subject tells conditions of one key apart; a condition is the group with both.
	Key     string `json:"key"`
	Subject string `json:"subject,omitempty"`
	// Urgent is never set in mode observe: nobody has to get up for what is only watched.
	Urgent bool   `json:"urgent"`
	Text   string `json:"text"`
	// Since is when the condition began, the zero time left out; Reminder says that it was told before.
	Since    time.Time `json:"since,omitzero"`
	Reminder bool      `json:"reminder"`
	// Mode is the group's policy mode, At when the notice was decided.
	Mode string    `json:"mode"`
	At   time.Time `json:"at"`
}

// Page puts one notice on the bus. An entry that the bus did not take is an error; a text too long for an entry is cut and says
// so. A repeat after an error may arrive twice: readers count by group, key, subject and time.
func (r *Reporter) Page(ctx context.Context, n runner.Notice) error {
	err := r.put(ctx, n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.totals.PageFailures++
		return fmt.Errorf("put notice %s of %s: %w", n.Key, n.Group, err)
	}
	r.totals.Pages++
	return nil
}

func (r *Reporter) put(ctx context.Context, n runner.Notice) error {
	entry, err := r.entry(n)
	if err != nil {
		return err
	}
	out, err := r.api.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry}})
	if err != nil {
		return awserr.Classify(err)
	}
	if out.FailedEntryCount == 0 {
		return nil
	}
	for _, e := range out.Entries {
		if e.ErrorCode != nil {
			return awserr.Classify(&smithy.GenericAPIError{Code: *e.ErrorCode, Message: aws.ToString(e.ErrorMessage)})
		}
	}
	return fmt.Errorf("%w: %d entries failed and none says why", fault.Unknown, out.FailedEntryCount)
}

func (r *Reporter) entry(n runner.Notice) (types.PutEventsRequestEntry, error) {
	d := Detail{
		Group: n.Group, ARN: n.GroupARN, Key: n.Key, Subject: n.Subject, Urgent: n.Urgent && n.Mode != guard.ModeObserve, Text: n.Text,
		Since: n.Since.Time(), Reminder: n.Reminder, Mode: n.Mode, At: n.At.UTC(),
	}
	// The size of an entry also counts its source, type, resources and 14 bytes for its time.
	detailMax := EntryBytesMax - len(Source) - len(DetailType) - len(n.GroupARN) - 14
	detail, err := json.Marshal(d)
	for err == nil && len(detail) > detailMax && d.Text != cutMark {
		// Characters may take up to six bytes in JSON, so what is too much is taken off in proportion, and at least a byte.
		d.Text = cutText(d.Text, min(len(d.Text)-1, len(d.Text)*detailMax/len(detail)))
		detail, err = json.Marshal(d)
	}
	if err != nil {
		return types.PutEventsRequestEntry{}, fmt.Errorf("encode notice: %w: %w", fault.Refused, err)
	}
	return types.PutEventsRequestEntry{
		EventBusName: aws.String(r.bus), Source: aws.String(Source), DetailType: aws.String(DetailType),
		Detail: aws.String(string(detail)), Resources: []string{n.GroupARN}, Time: aws.Time(n.At),
	}, nil
}

// cutText shortens a text to bytesMax, mark included, without splitting a character; a text that fits stays as it is.
func cutText(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	keep := max(0, bytesMax-len(cutMark))
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	return text[:keep] + cutMark
}
