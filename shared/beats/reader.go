package beats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// batchMax is the largest number of keys in one call. Source: SDK doc comment of BatchGetItem.
const batchMax = 100

// attemptsMax is how often a batch is asked for while keys come back unprocessed; backoffFirst doubles after each, up to
// backoffMax, and each wait is a random part of it.
const (
	attemptsMax  = 5
	backoffFirst = 50 * time.Millisecond
	backoffMax   = time.Second
)

// An error tells reasonsMax reasons and namesMax members of each; it counts the other members.
const (
	reasonsMax = 3
	namesMax   = 3
)

// API is the call of the DynamoDB client that is made here.
type API interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Options are the settings of a Reader.
type Options struct {
	// Table is the name or the ARN of the heartbeat table.
	Table string
	// Sleep waits between two attempts, and returns the context's error if that ends first; nil is a real wait.
	Sleep func(context.Context, time.Duration) error
	// Random gives a number from 0 up to 1 for the jitter; nil is a real one.
	Random func() float64
}

// Reader reads heartbeats. It keeps nothing between calls and may be used by several goroutines at once.
type Reader struct {
	api API
	o   Options
}

// New makes a Reader over a client.
func New(api API, o Options) *Reader {
	if o.Sleep == nil {
		o.Sleep = wait
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return &Reader{api: api, o: o}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Key is the key of an instance's row: its full ARN, made from the ARN of its group, because that is what IAM can fence. It is ""
// if the first is no ARN of an Auto Scaling group or the second is empty.
func Key(groupARN, instanceID string) string {
	parts := strings.SplitN(groupARN, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "autoscaling" || parts[3] == "" || parts[4] == "" || instanceID == "" {
		return ""
	}
	return "arn:" + parts[1] + ":ec2:" + parts[3] + ":" + parts[4] + ":instance/" + instanceID
}

// Beats reads the heartbeats of a group's members. Every member has an entry: the zero Beat if there is no row, Unreadable if the
// row could not be read or makes no sense. The error names some of the unreadable and is of the fault kinds of their reasons;
// keys that stayed unprocessed and rows that make no sense are fault.Partial.
func (r *Reader) Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error) {
	read := reading{found: map[string]guard.Beat{}, why: map[string]error{}, members: map[string]string{}}
	var keys []string
	for _, m := range g.Members {
		key := Key(g.ARN, m.ID)
		if key == "" {
			read.fail(m.ID, fmt.Errorf("%w: no key can be made of group %q", fault.Refused, g.ARN))
			continue
		}
		if _, twice := read.members[key]; !twice {
			read.members[key] = m.ID
			read.found[m.ID] = guard.Beat{}
			keys = append(keys, key)
		}
	}
	for chunk := range slices.Chunk(keys, batchMax) {
		left, err := r.batch(ctx, chunk, &read)
		for _, key := range left {
			read.fail(read.members[key], err)
		}
	}
	return read.found, read.err()
}

// batch asks until no key is left, and returns the keys that are, with the reason.
func (r *Reader) batch(ctx context.Context, keys []string, read *reading) (left []string, err error) {
	for attempt := 1; ; attempt++ {
		in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			r.o.Table: {Keys: items(keys), ConsistentRead: aws.Bool(true)},
		}}
		out, err := r.api.BatchGetItem(ctx, in)
		if err != nil {
			return keys, awserr.Classify(err)
		}
		nameless := 0
		for _, rows := range out.Responses {
			for _, row := range rows {
				if !read.row(row) {
					nameless++
				}
			}
		}
		if nameless > 0 {
			// Whose rows they are cannot be told, so nobody's row can be said to be missing.
			return read.rowless(keys), fmt.Errorf("%w: %d rows came without a key", fault.Partial, nameless)
		}
		if keys = unprocessed(keys, out.UnprocessedKeys); len(keys) == 0 {
			return nil, nil
		}
		if attempt == attemptsMax {
			return keys, fmt.Errorf("%w: unprocessed after %d attempts", fault.Partial, attemptsMax)
		}
		pause := min(backoffFirst<<(attempt-1), backoffMax)
		if err := r.o.Sleep(ctx, time.Duration(r.o.Random()*float64(pause))); err != nil {
			return keys, awserr.Classify(err)
		}
	}
}

func items(keys []string) []map[string]types.AttributeValue {
	out := make([]map[string]types.AttributeValue, 0, len(keys))
	for _, key := range keys {
		out = append(out, map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}})
	}
	return out
}

// unprocessed are the keys, in the order asked, that the answer gave back.
func unprocessed(asked []string, tables map[string]types.KeysAndAttributes) []string {
	back := map[string]bool{}
	for _, t := range tables {
		for _, key := range t.Keys {
			if pk, ok := key["pk"].(*types.AttributeValueMemberS); ok {
				back[pk.Value] = true
			}
		}
	}
	var left []string
	for _, key := range asked {
		if back[key] {
			left = append(left, key)
		}
	}
	return left
}

// reading is the answer in the making.
type reading struct {
	found   map[string]guard.Beat
	why     map[string]error  // reasons of the unreadable, by member
	members map[string]string // by key
}

func (r *reading) fail(member string, err error) {
	r.found[member] = guard.Beat{Unreadable: true}
	r.why[member] = err
}

// row takes one row of an answer; it returns false if the row has no key that was asked for.
func (r *reading) row(row map[string]types.AttributeValue) bool {
	pk, _ := row["pk"].(*types.AttributeValueMemberS)
	if pk == nil {
		return false
	}
	member, ours := r.members[pk.Value]
	if !ours {
		return false
	}
	beat, err := decode(row)
	if err != nil {
		// The row was read and says nothing: that is this member's own trouble, and must not make its group blind.
		r.found[member] = guard.Beat{Unreadable: true, Detail: err.Error()}
		return true
	}
	r.found[member] = beat
	return true
}

// rowless are the keys for which no row has come.
func (r *reading) rowless(keys []string) []string {
	var out []string
	for _, key := range keys {
		if b := r.found[r.members[key]]; !b.Found && !b.Unreadable {
			out = append(out, key)
		}
	}
	return out
}

// reason is why some members are unreadable.
type reason struct {
	err     error
	members []string
}

func (r reason) Error() string {
	text := strings.Join(r.members[:min(len(r.members), namesMax)], ", ")
	if more := len(r.members) - namesMax; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": " + r.err.Error()
}

func (r reason) Unwrap() error { return r.err }

// err tells the first reasons with some of their members, and whatever else is of a kind that these are not.
func (r *reading) err() error {
	if len(r.why) == 0 {
		return nil
	}
	var told joined
	for _, why := range r.reasons() {
		if len(told) < reasonsMax || !slices.ContainsFunc(told, func(e error) bool { return errors.Is(e, kind(why.err)) }) {
			told = append(told, why)
		}
	}
	return fmt.Errorf("read heartbeats: %d of %d unreadable: %w", len(r.why), len(r.found), told)
}

// reasons puts members with the same reason together, in the order of the members.
func (r *reading) reasons() []reason {
	var all []reason
	for _, m := range slices.Sorted(maps.Keys(r.why)) {
		text := r.why[m].Error()
		if i := slices.IndexFunc(all, func(o reason) bool { return o.err.Error() == text }); i >= 0 {
			all[i].members = append(all[i].members, m)
			continue
		}
		all = append(all, reason{err: r.why[m], members: []string{m}})
	}
	return all
}

func kind(err error) error {
	for _, k := range []error{fault.Throttled, fault.Gone, fault.Refused, fault.Unknown} {
		if errors.Is(err, k) {
			return k
		}
	}
	return fault.Partial
}

// joined is errors.Join on one line.
type joined []error

func (j joined) Unwrap() []error { return j }

func (j joined) Error() string {
	var texts []string
	for _, err := range j {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}
