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

// ownAlarms is what is known of the alarms on Holdfast itself. Its jobs run at once, so that the pool's mutex guards it.
type ownAlarms struct {
	found []types.MetricAlarm
	// topics are the SNS topics that they tell, sorted.
	topics []string
}

// ownMetrics are the metrics that Holdfast watches itself by, each with its function. Nobody else emits them, so that the alarms on them
// are Holdfast's, whatever their names are and also if they tell nobody any more.
func ownMetrics() [][2]string {
	return [][2]string{
		{telemetry.SweepCompleted, "sweep"}, {telemetry.GroupsBlind, "sweep"}, {telemetry.GroupsHeld, "sweep"}, {telemetry.GroupFailures, "sweep"},
		{telemetry.PageFailures, "sweep"}, {telemetry.PageFailures, "notify"}, {telemetry.DeadlineMarginMS, "sweep"}, {telemetry.TicksDropped, "sweep"},
		{telemetry.ProbeRunCompleted, "probe"}, {telemetry.ProbeSourcesRefused, "probe"}, {telemetry.AuditCompleted, "audit"},
	}
}

// ownAlarmJobs find Holdfast's alarms by their metrics. The alarms on what AWS counts of it are found later, by the topics that these tell.
func (r *reading) ownAlarmJobs() []job {
	var jobs []job
	for _, m := range ownMetrics() {
		in := &cw.DescribeAlarmsForMetricInput{Namespace: aws.String(telemetry.Namespace), MetricName: aws.String(m[0])}
		dimension := func(name, value string) {
			in.Dimensions = append(in.Dimensions, types.Dimension{Name: aws.String(name), Value: aws.String(value)})
		}
		dimension(telemetry.DimensionFunction, m[1])
		if m[0] == telemetry.SweepCompleted {
			dimension(telemetry.DimensionShard, "0")
		}
		jobs = append(jobs, job{kind: audit.KindGuardian, what: "DescribeAlarmsForMetric", names: []string{m[0]}, do: func(ctx context.Context) error {
			return (&pager{}).one(func(*string) (*string, error) {
				out, err := r.api.CloudWatch.DescribeAlarmsForMetric(ctx, in)
				if err != nil {
					return nil, err
				}
				r.pool.mu.Lock()
				defer r.pool.mu.Unlock()
				r.own.found = append(r.own.found, out.MetricAlarms...)
				return nil, nil
			})
		}})
	}
	return jobs
}

// settleOwnAlarms keeps the alarms that were found, and learns from them which topics they tell.
func (r *reading) settleOwnAlarms() {
	r.alarms = map[string]audit.Alarm{}
	for _, answer := range decodeAlarms(&cw.DescribeAlarmsOutput{MetricAlarms: r.own.found}) {
		answer.alarm.Own = true
		r.alarms[answer.alarm.Name] = answer.alarm
		for _, action := range answer.alarm.Actions {
			if strings.Contains(action, ":sns:") {
				r.own.topics = append(r.own.topics, action)
			}
		}
	}
	slices.Sort(r.own.topics)
	r.own.topics = slices.Compact(r.own.topics)
}

// alarmJobs read the alarms that policies name, and Holdfast's own.
func (r *reading) alarmJobs() []job {
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
			job: job{kind: audit.KindGuardian, what: "DescribeAlarms"},
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
		job:  job{kind: audit.KindAlarm, what: "DescribeAlarms", names: names},
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
