package audit

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// guarding are the rules about what Holdfast itself needs.
func guarding() []Rule {
	return []Rule{noHeartbeats(), membersWithoutAgent(), noDependencies(), policyInvalid(), pagesReachNobody(), ownAlarmSilent(), complianceClash()}
}

// agentFix is the fix of both rules about heartbeats.
func agentFix() Fix {
	return Fix{
		Console:        "EC2 > Launch templates: install the heartbeat agent in the user data of {name}'s template and give the instance role the heartbeat permission; then replace the members by an instance refresh.",
		CLI:            "systemctl status holdfast-heartbeat   # on a member of {name}: is it there, and what does it say?\naws autoscaling start-instance-refresh --auto-scaling-group-name {name} --preferences MinHealthyPercentage=90,MaxHealthyPercentage=110",
		CloudFormation: "AWS::EC2::LaunchTemplate: { LaunchTemplateData: { UserData: with the agent } }; AWS::IAM::RolePolicy with dynamodb:UpdateItem on the heartbeats table, fenced by ec2:SourceInstanceARN",
		CDK:            "GuardedFleet's heartbeat permission for the group's role, and the agent in userData",
		Terraform:      "resource \"aws_launch_template\": user_data with the agent; aws_iam_role_policy with dynamodb:UpdateItem on the heartbeats table, fenced by ec2:SourceInstanceARN",
	}
}

func noHeartbeats() Rule {
	return Rule{
		ID: "HF030", Name: "no-heartbeats", Severity: High, state: true,
		Title: "No member of a guarded group sends heartbeats",
		Why: "Without heartbeats nothing but the load balancer speaks for a member. Holdfast then marks nobody: silence of all proves nothing about anyone. " +
			"It still holds the group, but repairs no broken member.",
		Source: "Holdfast's design: silence is a witness only if most others speak",
		Fix:    agentFix(),
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if b := v.beats(g); b.known && b.silent > b.young && b.silent == b.members {
					out = append(out, g.finding(b.String(), fmt.Sprintf("0 of %d send heartbeats", b.members)))
				}
			}
			return out
		},
	}
}

func membersWithoutAgent() Rule {
	return Rule{
		ID: "HF031", Name: "members-without-agent", Severity: Medium, state: true,
		Title: "Some members of a guarded group never sent a heartbeat",
		Why: "The agent did not start on them, or may not write. After first_heartbeat_seconds such a member has one witness less: if its target fails too, it is called " +
			"broken.",
		Source: "Holdfast's policy key first_heartbeat_seconds",
		Fix:    agentFix(),
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if b := v.beats(g); b.silent > b.young && b.beating > 0 {
					out = append(out, g.finding(b.String(), fmt.Sprintf("%d of %d without", b.silent, b.members)))
				}
			}
			return out
		},
	}
}

// beats is what is known of a guarded group's heartbeats.
type beats struct {
	// silent have no row, young is how many may have none yet, as they were launched just now.
	members, beating, silent, young int
	// known says that the rows of all members were read.
	known bool
	names []string
}

// String says in one line what was seen.
func (b beats) String() string {
	const shown = 5
	text := strings.Join(b.names[:min(len(b.names), shown)], ", ")
	if len(b.names) > shown {
		text += fmt.Sprintf(" and %d more", len(b.names)-shown)
	}
	return fmt.Sprintf("%s in service, %d with a heartbeat row, without: %s", guard.Counted(b.members, "member"), b.beating, text)
}

func (v *view) beats(g *Group) beats {
	var b beats
	if g.Policy == nil {
		return b
	}
	b.known = true
	for _, m := range g.inService() {
		b.members++
		switch {
		case m.BeatAgeSeconds == nil:
			b.known = false
			v.unknown(g.ref(), "heartbeats")
		case *m.BeatAgeSeconds == NotSet:
			b.silent++
			b.names = append(b.names, m.ID)
		default:
			b.beating++
		}
	}
	b.names = sorted(b.names)
	for _, l := range g.Launches {
		if age := v.account.At.Sub(l.At); !l.Failed && age >= 0 && age < firstBeatMax {
			b.young++
		}
	}
	return b
}

// policyFix is the fix of rules about a group's policy.
func policyFix(console, cli, cdk string) Fix {
	return Fix{
		Console: "Systems Manager > Parameter Store > /holdfast/groups: " + console, CLI: cli, CDK: cdk,
		CloudFormation: "AWS::SSM::Parameter: { Value: the policy as one JSON object }",
		Terraform:      "resource \"aws_ssm_parameter\": the policy as one JSON object",
	}
}

func noDependencies() Rule {
	return Rule{
		ID: "HF032", Name: "no-dependencies", Severity: Medium, state: true,
		Title: "A guarded group names no dependency",
		Why: "Without a list of alarms Holdfast learns of a dependency's failure only from the members that fail, which is later, and a hold ends when they look quiet, " +
			"not when the dependency is well again.",
		Source: "Holdfast's policy key dependencies",
		Fix: policyFix("add dependencies to the policy of {name}, one alarm for each thing that all members need.", "holdfast tune {name} dependencies='[{\"alarm\": \"ALARM\", \"kind\": \"hard\"}]'",
			"new GuardedFleet(..., { dependencies: [...] }), in Go: FleetProps.Dependencies"),
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if g.Policy == nil && g.guarded() {
					v.unknown(g.ref(), "policy")
				}
				if g.Policy != nil && len(g.Policy.Dependencies) == 0 {
					out = append(out, g.finding(fmt.Sprintf("mode %s, action %s, no dependencies", g.Policy.Mode, g.Policy.Action), ""))
				}
			}
			return out
		},
	}
}

func policyInvalid() Rule {
	return Rule{
		ID: "HF033", Name: "policy-invalid", Severity: High, state: true,
		Title: "A layer of a group's policy is invalid",
		Why: "A layer with an unknown key or a value out of range is not in force as a whole: its last good content is, or the layer below. What somebody set to be careful " +
			"does not count.",
		Source: "Holdfast's design, policy layers",
		Fix: policyFix("correct the policy of {name}; what is wrong stands in this finding.", "holdfast status {name}\nholdfast tune --help",
			"the same key of Guardian's or GuardedFleet's properties"),
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if g.Policy != nil && len(g.Policy.Problems) > 0 {
					out = append(out, g.finding(strings.Join(g.Policy.Problems, "; "), ""))
				}
			}
			return out
		},
	}
}

func pagesReachNobody() Rule {
	return Rule{
		ID: "HF034", Name: "pages-reach-nobody", Severity: High, state: true,
		Title: "Holdfast's pages reach nobody",
		Why: "A guardian that holds a group still, or that does not run any more, needs a person. A topic without a confirmed subscription tells none; an email " +
			"subscription that nobody confirmed is none.",
		Source: "Simple Notification Service developer guide, \"Confirm your Amazon SNS subscription\"",
		Fix: Fix{
			Console:        "SNS > Topics > {name} > Create subscription, and confirm it.",
			CLI:            "aws sns subscribe --topic-arn {arn} --protocol email --notification-endpoint ADDRESS",
			CloudFormation: "AWS::SNS::Subscription: { TopicArn: ..., Protocol: ..., Endpoint: ... }",
			CDK:            "topic.addSubscription(new EmailSubscription(ADDRESS)), on Guardian's topic",
			Terraform:      "resource \"aws_sns_topic_subscription\": topic_arn, protocol, endpoint",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, t := range v.account.Guardian.Topics {
				if n, ok := have(v, ref{KindGuardian, t.ARN}, "subscriptions", t.Subscriptions); ok && n == 0 {
					out = append(out, Finding{Kind: KindGuardian, Name: t.ARN, ARN: t.ARN, Saw: "0 confirmed subscriptions"})
				}
			}
			return out
		},
	}
}

func ownAlarmSilent() Rule {
	return Rule{
		ID: "HF036", Name: "own-alarm-silent", Severity: High, state: true,
		Title:  "One of Holdfast's own alarms tells nobody",
		Why:    "It watches the guardian itself, such as that no sweep has run for three minutes. Without an action, or with its actions off, it turns red and no one hears of it.",
		Source: "CloudWatch user guide, \"Alarm actions\"",
		Fix: Fix{
			Console:        "CloudWatch > Alarms > {name} > Edit > Notification: the topic of Holdfast's pages; and Actions > Alarm actions > Enable.",
			CLI:            "aws cloudwatch enable-alarm-actions --alarm-names {name}\naws cloudwatch describe-alarms --alarm-names {name} --query 'MetricAlarms[].[ActionsEnabled,AlarmActions]'",
			CloudFormation: "AWS::CloudWatch::Alarm: { AlarmActions: [topic], ActionsEnabled: true }",
			CDK:            "alarm.addAlarmAction(new SnsAction(topic)); deploy Holdfast's stack again to get its own back",
			Terraform:      "resource \"aws_cloudwatch_metric_alarm\": alarm_actions = [topic], actions_enabled = true",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for i := range v.account.Alarms {
				a := &v.account.Alarms[i]
				if !a.Own || a.Missing {
					continue
				}
				on, ok := have(v, ref{KindAlarm, a.Name}, "actions_enabled", a.ActionsEnabled)
				switch {
				case ok && !on:
					out = append(out, a.finding("actions off", ""))
				case len(a.Actions) == 0:
					out = append(out, a.finding("no action", ""))
				}
			}
			return out
		},
	}
}
