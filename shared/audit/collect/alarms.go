package collect

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// alarmsMax is the largest number of names, and of alarms, in one call; alarmNameMax the longest name there is, in characters.
// Source: CloudWatch API reference, DescribeAlarms.
const (
	alarmsMax    = 100
	alarmNameMax = 255
)

// ownPrefix begins the description of each alarm on Holdfast itself.
const ownPrefix = "Holdfast: "

// neverEvaluated is the reason of an alarm that was not evaluated yet. Source: seen in answers, not documented.
const neverEvaluated = "Unchecked: Initial alarm creation"

// ownAlarms is what is known of the alarms on Holdfast itself.
type ownAlarms struct {
	found bool
	// topics are the SNS topics that they tell, sorted.
	topics []string
}

// ownAlarmJob finds Holdfast's alarms whatever their names: one of them is on a metric that nobody else emits, and tells the topic that
// the others tell.
func (r *reading) ownAlarmJob() job {
	dimension := func(name, value string) types.Dimension {
		return types.Dimension{Name: aws.String(name), Value: aws.String(value)}
	}
	in := &cw.DescribeAlarmsForMetricInput{
		Namespace: aws.String(telemetry.Namespace), MetricName: aws.String(telemetry.SweepCompleted),
		Dimensions: []types.Dimension{dimension(telemetry.DimensionFunction, "sweep"), dimension(telemetry.DimensionShard, "0")},
	}
	return job{kind: kindGuardian, what: "DescribeAlarmsForMetric", do: func(ctx context.Context) error {
		var found []types.MetricAlarm
		err := (&pager{}).one(func(*string) (*string, error) {
			out, err := r.api.CloudWatch.DescribeAlarmsForMetric(ctx, in)
			if err == nil {
				found = out.MetricAlarms
			}
			return nil, err
		})
		if err != nil {
			return err
		}
		r.own.found = len(found) > 0
		for _, a := range found {
			for _, action := range a.AlarmActions {
				if strings.Contains(action, ":sns:") {
					r.own.topics = append(r.own.topics, action)
				}
			}
		}
		slices.Sort(r.own.topics)
		r.own.topics = slices.Compact(r.own.topics)
		return nil
	}}
}

// alarmJobs read the alarms that policies name, and Holdfast's own.
func (r *reading) alarmJobs() []job {
	r.alarms = map[string]audit.Alarm{}
	names := map[string]bool{}
	for _, g := range r.groups {
		if g.Policy == nil {
			continue
		}
		for _, d := range g.Policy.Dependencies {
			names[d.Alarm] = true
		}
	}
	var ask []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		// A name that no alarm can have would make the call fail for all the others.
		if n := utf8.RuneCountInString(name); n < 1 || n > alarmNameMax {
			r.alarms[name] = audit.Alarm{Name: name, Missing: true}
			continue
		}
		ask = append(ask, name)
	}
	var jobs []job
	for chunk := range slices.Chunk(ask, alarmsMax) {
		jobs = append(jobs, r.namedAlarmJob(chunk))
	}
	for _, topic := range r.own.topics {
		jobs = append(jobs, r.describeAlarmsJob(alarmQuestion{
			job: job{kind: kindGuardian, what: "DescribeAlarms"},
			in:  cw.DescribeAlarmsInput{ActionPrefix: aws.String(topic)},
			keep: func(a audit.Alarm, description string) (audit.Alarm, bool) {
				a.Own = true
				return a, strings.HasPrefix(description, ownPrefix)
			},
		}))
	}
	return jobs
}

// namedAlarmJob reads alarms by name; what AWS does not know is missing.
func (r *reading) namedAlarmJob(names []string) job {
	j := r.describeAlarmsJob(alarmQuestion{
		job:  job{kind: kindAlarm, what: "DescribeAlarms", names: names},
		in:   cw.DescribeAlarmsInput{AlarmNames: names},
		keep: func(a audit.Alarm, _ string) (audit.Alarm, bool) { return a, slices.Contains(names, a.Name) },
	})
	read := j.do
	j.do = func(ctx context.Context) error {
		if err := read(ctx); err != nil {
			return err
		}
		r.pool.mu.Lock()
		defer r.pool.mu.Unlock()
		for _, name := range names {
			if _, ok := r.alarms[name]; !ok {
				r.alarms[name] = audit.Alarm{Name: name, Missing: true}
			}
		}
		return nil
	}
	return j
}

// alarmQuestion is one paged question for alarms.
type alarmQuestion struct {
	job job
	in  cw.DescribeAlarmsInput
	// keep says of each answer whether it is wanted, and may change it.
	keep func(a audit.Alarm, description string) (audit.Alarm, bool)
}

func (r *reading) describeAlarmsJob(q alarmQuestion) job {
	q.in.MaxRecords = aws.Int32(alarmsMax)
	// Without the types only metric alarms are returned. Source: SDK doc comment of DescribeAlarmsInput.AlarmTypes.
	q.in.AlarmTypes = []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm, types.AlarmTypeLogAlarm}
	var pages pager
	q.job.do = func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			in := q.in
			in.NextToken = token
			out, err := r.api.CloudWatch.DescribeAlarms(ctx, &in)
			if err != nil {
				return nil, err
			}
			r.pool.mu.Lock()
			defer r.pool.mu.Unlock()
			for _, answer := range decodeAlarms(out) {
				a, wanted := q.keep(answer.alarm, answer.description)
				if !wanted {
					continue
				}
				a.Own = a.Own || r.alarms[a.Name].Own
				r.alarms[a.Name] = a
			}
			return out.NextToken, nil
		})
	}
	return q.job
}

type alarmAnswer struct {
	alarm       audit.Alarm
	description string
}

func decodeAlarms(out *cw.DescribeAlarmsOutput) []alarmAnswer {
	var all []alarmAnswer
	add := func(a audit.Alarm, d details) {
		a.Since, a.Updated = instant(d.moved), instant(d.stored)
		if a.Since.IsZero() {
			a.Since = a.Updated
		}
		a.NeverEvaluated = a.State == string(types.StateValueInsufficientData) && strings.HasPrefix(aws.ToString(d.reason), neverEvaluated)
		all = append(all, alarmAnswer{a, aws.ToString(d.description)})
	}
	for _, m := range out.MetricAlarms {
		add(audit.Alarm{
			Name: aws.ToString(m.AlarmName), ARN: aws.ToString(m.AlarmArn), State: string(m.StateValue), ActionsEnabled: m.ActionsEnabled,
			Actions: m.AlarmActions, TreatMissing: aws.ToString(m.TreatMissingData),
		}, details{m.AlarmDescription, m.StateReason, m.StateTransitionedTimestamp, m.StateUpdatedTimestamp})
	}
	for _, c := range out.CompositeAlarms {
		add(audit.Alarm{
			Name: aws.ToString(c.AlarmName), ARN: aws.ToString(c.AlarmArn), State: string(c.StateValue), ActionsEnabled: c.ActionsEnabled,
			Actions: c.AlarmActions, Composite: true,
		}, details{c.AlarmDescription, c.StateReason, c.StateTransitionedTimestamp, c.StateUpdatedTimestamp})
	}
	for _, l := range out.LogAlarms {
		add(audit.Alarm{
			Name: aws.ToString(l.AlarmName), ARN: aws.ToString(l.AlarmArn), State: string(l.StateValue), ActionsEnabled: l.ActionsEnabled,
			Actions: l.AlarmActions, TreatMissing: aws.ToString(l.TreatMissingData),
		}, details{l.AlarmDescription, l.StateReason, l.StateTransitionedTimestamp, l.StateUpdatedTimestamp})
	}
	return all
}

// details are what the three types of alarms have in common and is not kept as it is.
type details struct {
	description, reason *string
	moved, stored       *time.Time
}

func instant(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
