package alarms

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// namesMax is the largest number of names, and of alarms, in one call. nameMax is the longest name there is, in characters.
// Source: CloudWatch API reference, DescribeAlarms.
const (
	namesMax = 100
	nameMax  = 255
)

// API is the call of the CloudWatch client that reads alarms.
type API interface {
	DescribeAlarms(context.Context, *cw.DescribeAlarmsInput, ...func(*cw.Options)) (*cw.DescribeAlarmsOutput, error)
}

// Reader reads alarms. It keeps nothing between calls and may be used by several goroutines at once.
type Reader struct{ api API }

// New makes a Reader over a client.
func New(api API) *Reader { return &Reader{api: api} }

// Alarms reads metric, composite and log alarms by name. Each name has an answer: MISSING if no answer named it, UNREAD if its call
// failed, with the reason in Detail, and INSUFFICIENT_DATA if CloudWatch says that the state is not to be trusted, whatever the
// state is. A failed call concerns the names of that call that had no answer yet, and no others.
func (r *Reader) Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading {
	found := make(map[string]guard.AlarmReading, len(names))
	var ask []string
	for _, name := range names {
		if _, twice := found[name]; twice {
			continue
		}
		found[name] = guard.AlarmReading{State: guard.AlarmMissing}
		// A name that no alarm can have would make the call fail for all the others.
		if n := utf8.RuneCountInString(name); n >= 1 && n <= nameMax {
			ask = append(ask, name)
		}
	}
	for chunk := range slices.Chunk(ask, namesMax) {
		if err := r.read(ctx, chunk, found); err != nil {
			for _, name := range chunk {
				if found[name].State == guard.AlarmMissing {
					found[name] = guard.AlarmReading{State: guard.AlarmUnread, Detail: err.Error()}
				}
			}
		}
	}
	return found
}

// read asks for one chunk of names, to the last page.
func (r *Reader) read(ctx context.Context, names []string, found map[string]guard.AlarmReading) error {
	in := &cw.DescribeAlarmsInput{
		AlarmNames: names, MaxRecords: aws.Int32(namesMax),
		// Without the types only metric alarms are returned. Source: SDK doc comment of DescribeAlarmsInput.AlarmTypes.
		AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm, types.AlarmTypeLogAlarm},
	}
	seen := map[string]bool{}
	for {
		out, err := r.api.DescribeAlarms(ctx, in)
		if err != nil {
			return fmt.Errorf("describe alarms: %w", awserr.Classify(err))
		}
		for _, a := range answers(out) {
			if slices.Contains(names, a.name) {
				found[a.name] = a.reading()
			}
		}
		next := aws.ToString(out.NextToken)
		if next == "" {
			return nil
		}
		if seen[next] {
			return fmt.Errorf("describe alarms: %w: page token %q came back", fault.Partial, next)
		}
		seen[next] = true
		in.NextToken = out.NextToken
	}
}

// answer is what the three types of alarms have in common.
type answer struct {
	name, reason  string
	state         types.StateValue
	evaluation    types.EvaluationState
	moved, stored *time.Time
}

func answers(out *cw.DescribeAlarmsOutput) []answer {
	var all []answer
	for _, a := range out.MetricAlarms {
		all = append(all, answer{
			name: aws.ToString(a.AlarmName), reason: aws.ToString(a.StateReason), state: a.StateValue, evaluation: a.EvaluationState,
			moved: a.StateTransitionedTimestamp, stored: a.StateUpdatedTimestamp,
		})
	}
	for _, a := range out.CompositeAlarms {
		all = append(all, answer{
			name: aws.ToString(a.AlarmName), reason: aws.ToString(a.StateReason), state: a.StateValue,
			moved: a.StateTransitionedTimestamp, stored: a.StateUpdatedTimestamp,
		})
	}
	for _, a := range out.LogAlarms {
		all = append(all, answer{
			name: aws.ToString(a.AlarmName), reason: aws.ToString(a.StateReason), state: a.StateValue, evaluation: a.EvaluationState,
			moved: a.StateTransitionedTimestamp, stored: a.StateUpdatedTimestamp,
		})
	}
	return all
}

func (a answer) reading() guard.AlarmReading {
	r := guard.AlarmReading{State: string(a.state)}
	// The transition is when the state changed; the update moves also when only the evaluation state does.
	if since := a.moved; since != nil {
		r.Since = since.UTC()
	} else if a.stored != nil {
		r.Since = a.stored.UTC()
	}
	if a.evaluation != "" {
		r.State = guard.AlarmNoData
		r.Detail = fmt.Sprintf("state %s with evaluation state %s", a.state, a.evaluation)
		if a.reason != "" {
			r.Detail += ": " + a.reason
		}
		return r
	}
	if r.State != guard.AlarmOK && r.State != guard.AlarmRed && r.State != guard.AlarmNoData {
		return guard.AlarmReading{State: guard.AlarmUnread, Detail: fmt.Sprintf("describe alarms: state %q is not known", a.state)}
	}
	return r
}
