package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Widths of the dashboard's widgets; a row has 24 columns. Source: CloudWatch user guide, dashboard body structure.
const (
	third = 8
	half  = 12
	tall  = 6
)

// dashboard shows what Holdfast sees and does. Groups and target groups are searched for, so that one that is put under guard later
// appears by itself.
func (g *Guardian) dashboard() {
	d := awscloudwatch.NewDashboard(g.scope, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{DefaultInterval: minutes(180)})
	sweep := func(name, statistic string) awscloudwatch.IMetric { return emitted(name, statistic, Sweep) }
	search := func(expression, label string) awscloudwatch.IMetric {
		return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(expression), Label: jsii.String(label), Period: minutes(1), UsingMetrics: &map[string]awscloudwatch.IMetric{},
		})
	}
	own := func(metric, dimensions, statistic string) string {
		return fmt.Sprintf(`SEARCH('{%s,%s} MetricName="%s"', '%s', 60)`, telemetry.Namespace, dimensions, metric, statistic)
	}
	targets := func(metric, statistic string) string {
		return fmt.Sprintf(`SEARCH('{AWS/ApplicationELB,LoadBalancer,TargetGroup} MetricName="%s"', '%s', 60)`, metric, statistic)
	}
	groups := func(metric string) string {
		return fmt.Sprintf(`SEARCH('{AWS/AutoScaling,AutoScalingGroupName} MetricName="%s"', 'Average', 60)`, metric)
	}
	byReason := telemetry.DimensionFunction + "," + telemetry.DimensionReason
	byDependency := telemetry.DimensionDependency + "," + telemetry.DimensionFunction
	byCause := telemetry.DimensionCause + "," + telemetry.DimensionFunction
	d.AddWidgets(
		graph("Groups held and blind", third, sweep(telemetry.GroupsHeld, "Maximum"), sweep(telemetry.GroupsBlind, "Maximum"), sweep(telemetry.GroupsSeen, "Maximum")),
		graph("In service against desired", third, search(groups("GroupInServiceInstances"), "in service"), search(groups("GroupDesiredCapacity"), "desired")),
		graph("Healthy targets", third, search(targets("HealthyHostCount", "Minimum"), "healthy")),
	)
	d.AddWidgets(
		graph("Bad and broken members", third, sweep(telemetry.MembersBad, "Maximum"), sweep(telemetry.MembersBroken, "Maximum")),
		graph("Not acted on, by reason", third, search(own(telemetry.Deferred, byReason, "Maximum"), "")),
		graph("Flaps: changes of unhealthy targets", third, search("ABS(DIFF("+targets("UnHealthyHostCount", "Maximum")+"))", "")),
	)
	d.AddWidgets(
		graph("Marks decided and made", third, sweep(telemetry.MarksDetected, "Sum"), sweep(telemetry.MarksEnforced, "Sum")),
		graph("Not marked because of a limit", third, emitted(telemetry.Deferred, "Maximum", Sweep, telemetry.DimensionReason, "budget"),
			emitted(telemetry.Deferred, "Maximum", Sweep, telemetry.DimensionReason, "region-budget"), emitted(telemetry.Deferred, "Maximum", Sweep, telemetry.DimensionReason, "in-flight")),
		graph("Suspended, resumed, restored", third, sweep(telemetry.Suspends, "Sum"), sweep(telemetry.Resumes, "Sum"), sweep(telemetry.Restores, "Sum")),
	)
	d.AddWidgets(
		graph("Deep checks: latency in ms", half, search(own(telemetry.ProbeLatencyMS, byDependency, "p99"), "")),
		graph("Deep checks: failures by cause", half, search(own(telemetry.ProbeFailures, byCause, "Sum"), "")),
	)
	d.AddWidgets(
		graph("Duration of a sweep in ms", third, sweep(telemetry.SweepDurationMS, "Maximum"), sweep(telemetry.DeadlineMarginMS, "Minimum")),
		graph("Notices", third, emitted(telemetry.Pages, "Sum", Notify), emitted(telemetry.PageFailures, "Sum", Notify)),
		graph("Lost races and failed looks", third, sweep(telemetry.LostRaces, "Sum"), sweep(telemetry.GroupFailures, "Maximum")),
	)
}

func graph(title string, width int, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(title), Width: jsii.Number(width), Height: jsii.Number(tall), Left: &metrics,
	})
}
