package stack

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// deadlineMarginMS is when a run came too near to its function's timeout: less than the margin that a run keeps for its last writes.
const deadlineMarginMS = 10_000

// watched is one alarm on Holdfast itself.
type watched struct {
	id, description string
	metric          awscloudwatch.IMetric
	threshold       float64
	below           bool
	// periods is how many periods of the metric in a row it must be so, minutes nearly always.
	periods int
	// absent says that missing data is itself the trouble; gone, that it is once there has been some: until the first datum there is
	// nothing to tell, and when they end the alarm tells that it has none.
	absent, gone bool
}

// emitted is one of Holdfast's own metrics of a function, with more dimensions as pairs.
func emitted(name, statistic, function string, more ...string) awscloudwatch.Metric {
	if _, ok := telemetry.Unit(name); !ok {
		panic("metric " + name + " is not one that Holdfast emits")
	}
	dimensions := map[string]*string{telemetry.DimensionFunction: jsii.String(function)}
	for i := 0; i+1 < len(more); i += 2 {
		dimensions[more[i]] = jsii.String(more[i+1])
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(telemetry.Namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic), DimensionsMap: &dimensions, Period: minutes(1),
	})
}

// eachDay is a metric of a function that runs once a day.
func eachDay(m awscloudwatch.Metric) awscloudwatch.IMetric {
	return m.With(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Days(jsii.Number(1))})
}

func minutes(n int) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }

// watch declares the alarms on Holdfast itself. Each says what missing data means and tells the topic.
func (g *Guardian) watch() {
	for _, w := range append(g.ownSigns(), g.platformSigns()...) {
		missing, comparison := awscloudwatch.TreatMissingData_NOT_BREACHING, awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
		if w.absent {
			missing = awscloudwatch.TreatMissingData_BREACHING
		}
		if w.gone {
			missing = awscloudwatch.TreatMissingData_MISSING
		}
		if w.below {
			comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		}
		alarm := awscloudwatch.NewAlarm(g.scope, jsii.String(w.id), &awscloudwatch.AlarmProps{
			AlarmDescription: jsii.String("Holdfast: " + w.description), Metric: w.metric, Threshold: jsii.Number(w.threshold), ComparisonOperator: comparison,
			EvaluationPeriods: jsii.Number(w.periods), DatapointsToAlarm: jsii.Number(w.periods), TreatMissingData: missing,
		})
		alarm.AddAlarmAction(awscloudwatchactions.NewSnsAction(g.Topic))
		alarm.AddOkAction(awscloudwatchactions.NewSnsAction(g.Topic))
		if w.gone {
			alarm.AddInsufficientDataAction(awscloudwatchactions.NewSnsAction(g.Topic))
		}
	}
}

// ownSigns are the alarms on what the functions emit.
func (g *Guardian) ownSigns() []watched {
	var out []watched
	for shard := range g.props.Shards {
		id := "NoSweep"
		if g.props.Shards > 1 {
			id += strconv.Itoa(shard)
		}
		out = append(out, watched{
			id: id, description: "no sweep ran to its end for three minutes; nothing is guarded", absent: true, below: true, threshold: 1, periods: 3,
			metric: emitted(telemetry.SweepCompleted, "Sum", Sweep, telemetry.DimensionShard, strconv.Itoa(shard)),
		})
	}
	return append(out,
		watched{id: "Blind", description: "inputs could not be trusted for three minutes; nothing is marked or released", threshold: 1, periods: 3, metric: emitted(telemetry.GroupsBlind, "Maximum", Sweep)},
		watched{id: "HoldOpen", description: "a group is held", threshold: 1, periods: 1, metric: emitted(telemetry.GroupsHeld, "Maximum", Sweep)},
		watched{id: "LooksFail", description: "looks at groups could not be completed", threshold: 1, periods: 3, metric: emitted(telemetry.GroupFailures, "Maximum", Sweep)},
		watched{id: "NoticesFail", description: "notices could not be put on the bus", threshold: 1, periods: 3, metric: emitted(telemetry.PageFailures, "Sum", Sweep)},
		watched{id: "PagesFail", description: "a channel did not take a notice", threshold: 1, periods: 1, metric: emitted(telemetry.PageFailures, "Sum", Notify)},
		watched{id: "DeadlineNear", description: "a sweep came near its deadline; use more shards", threshold: deadlineMarginMS, below: true, periods: 3, metric: emitted(telemetry.DeadlineMarginMS, "Minimum", Sweep)},
		watched{id: "TicksDropped", description: "scheduled sweeps come too late", threshold: 1, periods: 3, metric: emitted(telemetry.TicksDropped, "Sum", Sweep)},
		watched{id: "NoProbe", description: "the deep checks did not run for ten minutes", absent: true, below: true, threshold: 0, periods: 10, metric: emitted(telemetry.ProbeRunCompleted, "Sum", Probe)},
		watched{id: "NoAudit", description: "no audit ran to its end for two days", gone: true, below: true, threshold: 1, periods: 2, metric: eachDay(emitted(telemetry.AuditCompleted, "Sum", Audit))},
		watched{id: "ProbeSourcesRefused", description: "the sources of the deep checks are refused as written", threshold: 1, periods: 3, metric: emitted(telemetry.ProbeSourcesRefused, "Maximum", Probe)},
	)
}

// platformSigns are the alarms on what Lambda, EventBridge and SQS count.
func (g *Guardian) platformSigns() []watched {
	var out []watched
	for _, name := range Functions() {
		title := strings.ToUpper(name[:1]) + name[1:]
		f := g.functions[name]
		options := &awscloudwatch.MetricOptions{Period: minutes(1), Statistic: jsii.String("Sum")}
		out = append(out,
			watched{id: title + "Errors", description: name + " failed", threshold: 1, periods: 1, metric: f.MetricErrors(options)},
			watched{id: title + "Throttles", description: name + " was throttled", threshold: 1, periods: 1, metric: f.MetricThrottles(options)},
			watched{id: title + "DeadLetters", description: "events that " + name + " could not handle wait in its queue", threshold: 1, periods: 1, metric: queued(g.failed(title))},
		)
	}
	return append(out, watched{id: "UndeliveredEvents", description: "events that could not be delivered wait in the queue", threshold: 1, periods: 1, metric: queued(g.undone)})
}

func (g *Guardian) failed(title string) awssqs.IQueue {
	q, ok := g.scope.Node().FindChild(jsii.String(title + "Failed")).(awssqs.Queue)
	if !ok {
		panic("no queue for the failures of " + title)
	}
	return q
}

func queued(q awssqs.IQueue) awscloudwatch.IMetric {
	return q.MetricApproximateNumberOfMessagesVisible(&awscloudwatch.MetricOptions{Period: minutes(1), Statistic: jsii.String("Maximum")})
}
