package audit

import (
	"fmt"
	"strings"
	"time"
)

// alarming are the rules about the alarms that groups depend on.
func alarming() []Rule {
	return []Rule{alarmMissing(), alarmActionsOff(), alarmNotEvaluated(), alarmStuck()}
}

// depending says which groups name the alarm, whether one of them does so as hard, and the shortest age, in seconds, after which one of
// them calls it stuck; 0 when none says.
func (v *view) depending(alarm string) (groups []string, hard bool, maxAge int) {
	for _, g := range v.groups {
		if g.Policy == nil {
			continue
		}
		for _, d := range g.Policy.Dependencies {
			if d.Alarm != alarm {
				continue
			}
			groups = append(groups, g.Name)
			hard = hard || d.Kind == "hard"
			if age := g.Policy.MaxAlarmAgeSeconds; age > 0 && (maxAge == 0 || age < maxAge) {
				maxAge = age
			}
		}
	}
	return sorted(groups), hard, maxAge
}

func alarmMissing() Rule {
	return Rule{
		ID: "HF026", Name: "alarm-missing", Severity: High, state: true,
		Title: "A dependency alarm does not exist",
		Why: "The group's policy names an alarm that CloudWatch does not know: renamed, deleted, or in another Region. It can never hold the group, and as a hard " +
			"dependency that cannot be read it keeps Holdfast from marking and from releasing.",
		Source: "CloudWatch API reference, DescribeAlarms",
		Fix: Fix{
			Console:        "CloudWatch > Alarms: create {name}; or correct the name in the group's policy (Systems Manager > Parameter Store > /holdfast/groups).",
			CLI:            "aws cloudwatch describe-alarms --alarm-types MetricAlarm CompositeAlarm --alarm-names {name}",
			CloudFormation: "AWS::CloudWatch::Alarm: { AlarmName: the name in the policy }",
			CDK:            "new Alarm(this, ..., { alarmName: ... }), and pass the alarm itself to GuardedFleet, not its name",
			Terraform:      "resource \"aws_cloudwatch_metric_alarm\": alarm_name = the name in the policy",
		},
		check: checkAlarmMissing,
	}
}

func checkAlarmMissing(v *view) []Finding {
	for _, g := range v.groups {
		if g.Policy == nil {
			continue
		}
		for _, d := range g.Policy.Dependencies {
			if v.alarms[d.Alarm] == nil {
				v.unknown(ref{KindAlarm, d.Alarm}, "state")
			}
		}
	}
	var out []Finding
	for i := range v.account.Alarms {
		a := &v.account.Alarms[i]
		if !a.Missing {
			continue
		}
		groups, hard, _ := v.depending(a.Name)
		saw, severity := "soft dependency", Medium
		if hard {
			saw, severity = "hard dependency", High
		}
		if len(groups) == 0 {
			continue
		}
		f := a.finding(saw+" of "+strings.Join(groups, ", "), "CloudWatch knows no alarm of this name")
		f.Severity = severity
		out = append(out, f)
	}
	return out
}

func alarmActionsOff() Rule {
	return Rule{
		ID: "HF027", Name: "alarm-actions-off", Severity: Low,
		Title:  "A dependency alarm tells nobody",
		Why:    "Its actions are turned off. Holdfast reads the state itself and still holds the group; but whoever should mend the dependency hears nothing.",
		Source: "CloudWatch user guide, \"Alarm actions\"",
		Fix: Fix{
			Console:        "CloudWatch > Alarms > {name} > Actions > Alarm actions > Enable.",
			CLI:            "aws cloudwatch enable-alarm-actions --alarm-names {name}",
			CloudFormation: "AWS::CloudWatch::Alarm: { ActionsEnabled: true }",
			CDK:            "new Alarm(this, ..., { actionsEnabled: true })",
			Terraform:      "resource \"aws_cloudwatch_metric_alarm\": actions_enabled = true",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for i := range v.account.Alarms {
				a := &v.account.Alarms[i]
				groups, _, _ := v.depending(a.Name)
				if a.Own || a.Missing || len(groups) == 0 {
					continue // HF036 judges Holdfast's own
				}
				if on, ok := have(v, ref{KindAlarm, a.Name}, "actions_enabled", a.ActionsEnabled); ok && !on {
					out = append(out, a.finding("actions off; groups "+strings.Join(groups, ", "), ""))
				}
			}
			return out
		},
	}
}

func alarmNotEvaluated() Rule {
	return Rule{
		ID: "HF028", Name: "alarm-not-evaluated", Severity: High, state: true,
		Title: "An alarm has no data to judge by",
		Why: "It was never evaluated, or has been without data for a day: a wrong metric name or dimension, or a metric that nobody writes any more. It looks quiet and " +
			"will stay so in the very minute for which it was made.",
		Source: "CloudWatch user guide, \"Configuring how CloudWatch alarms treat missing data\"",
		Fix: Fix{
			Console:        "CloudWatch > Alarms > {name}: compare namespace, metric name and dimensions with All metrics. A metric that vanishes when the dependency dies wants missing data treated as breaching.",
			CLI:            "aws cloudwatch describe-alarms --alarm-types MetricAlarm CompositeAlarm --alarm-names {name}\naws cloudwatch list-metrics --namespace NAMESPACE --metric-name METRIC",
			CloudFormation: "AWS::CloudWatch::Alarm: { Namespace, MetricName and Dimensions as written by the service, TreatMissingData: breaching }",
			CDK:            "new Alarm(this, ..., { metric, treatMissingData: TreatMissingData.BREACHING })",
			Terraform:      "resource \"aws_cloudwatch_metric_alarm\": namespace, metric_name and dimensions as written by the service; treat_missing_data = \"breaching\"",
		},
		check: checkAlarmEvaluated,
	}
}

func checkAlarmEvaluated(v *view) []Finding {
	var out []Finding
	for i := range v.account.Alarms {
		a := &v.account.Alarms[i]
		groups, _, _ := v.depending(a.Name)
		if a.Missing || (!a.Own && len(groups) == 0) || (!a.NeverEvaluated && v.stateOf(a) != "INSUFFICIENT_DATA") {
			continue
		}
		if a.Since.IsZero() {
			v.unknown(ref{KindAlarm, a.Name}, "since")
			continue
		}
		age := v.account.At.Sub(a.Since)
		switch {
		case a.NeverEvaluated && age >= firstLookMax:
			out = append(out, a.finding("never evaluated; created "+ageText(age)+" ago", fmt.Sprintf("%s without a first look, limit %s", ageText(age), ageText(firstLookMax))))
		case !a.NeverEvaluated && age >= noDataAgeMax:
			f := a.finding("INSUFFICIENT_DATA for "+ageText(age), "limit "+ageText(noDataAgeMax))
			f.Severity = Medium
			out = append(out, f)
		}
	}
	return out
}

func alarmStuck() Rule {
	return Rule{
		ID: "HF029", Name: "alarm-stuck", Severity: High, state: true,
		Title: "A dependency alarm has been red for too long",
		Why: "An alarm that is always red says nothing. Holdfast treats it as soft after this time, so that it holds and delays nothing any more; when the dependency " +
			"really fails, no alarm will hold the group.",
		Source: "Holdfast's policy key alarm_max_age_seconds",
		Fix: Fix{
			Console:        "CloudWatch > Alarms > {name}: mend the dependency, or set a threshold that is red only when users are hurt.",
			CLI:            "aws cloudwatch describe-alarm-history --alarm-name {name} --history-item-type StateUpdate --max-items 20",
			CloudFormation: "AWS::CloudWatch::Alarm: { Threshold: ..., EvaluationPeriods: ... }",
			CDK:            "new Alarm(this, ..., { threshold: ..., evaluationPeriods: ... })",
			Terraform:      "resource \"aws_cloudwatch_metric_alarm\": threshold and evaluation_periods",
		},
		check: checkAlarmStuck,
	}
}

// stateOf is an alarm's state; "", and listed as unread, when it is unknown.
func (v *view) stateOf(a *Alarm) string {
	if a.State == "" {
		v.unknown(ref{KindAlarm, a.Name}, "state")
	}
	return a.State
}

func checkAlarmStuck(v *view) []Finding {
	var out []Finding
	for i := range v.account.Alarms {
		a := &v.account.Alarms[i]
		groups, _, seconds := v.depending(a.Name)
		if a.Missing || seconds == 0 || v.stateOf(a) != "ALARM" {
			continue
		}
		if a.Since.IsZero() {
			v.unknown(ref{KindAlarm, a.Name}, "since")
			continue
		}
		age, limit := v.account.At.Sub(a.Since), time.Duration(seconds)*time.Second
		if age > limit {
			out = append(out, a.finding("ALARM for "+ageText(age)+"; groups "+strings.Join(groups, ", "), fmt.Sprintf("%s is more than alarm_max_age_seconds %d", age.Round(time.Second), seconds)))
		}
	}
	return out
}
