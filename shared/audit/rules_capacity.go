package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// standing are the rules about how much of a group is there, and what may take from it.
func standing() []Rule {
	return []Rule{noMaintenancePolicy(), singleZone(), singleMember(), protectionMisread(), capacityRebalance(), refreshTakesMany()}
}

func noMaintenancePolicy() Rule {
	return Rule{
		ID: "HF018", Name: "no-maintenance-policy", Severity: Medium,
		Title: "Replacement terminates first and launches afterwards",
		Why: "Without an instance maintenance policy the group is one member short for every replacement, from the termination until the new member serves. " +
			"With a minimum of 100 % the new one comes first where Auto Scaling replaces by its own checks; AWS does not say whether it does for a member that set-instance-health marked.",
		Source: "Auto Scaling user guide, \"Instance maintenance policies\"",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Details > Instance maintenance policy > Edit: launch before terminating, minimum 100 %, maximum 110 % or more.",
			CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --instance-maintenance-policy MinHealthyPercentage=100,MaxHealthyPercentage=150",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { InstanceMaintenancePolicy: { MinHealthyPercentage: 100, MaxHealthyPercentage: 150 } }",
			CDK:            "new AutoScalingGroup(this, ..., { minHealthyPercentage: 100, maxHealthyPercentage: 150 })",
			Terraform:      "resource \"aws_autoscaling_group\": instance_maintenance_policy { min_healthy_percentage = 100, max_healthy_percentage = 150 }",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if low, ok := have(v, g.ref(), "min_healthy_percent", g.MinHealthyPercent); ok && low == NotSet {
					out = append(out, g.finding("no instance maintenance policy", "each replacement: 1 member less until the new one serves"))
				}
			}
			return out
		},
	}
}

func singleZone() Rule {
	return Rule{
		ID: "HF019", Name: "single-zone", Severity: High,
		Title: "The whole group stands in one zone",
		Why: "When the zone fails, every member fails with it, and nothing can be launched elsewhere. Holdfast then holds the group still, which is right and " +
			"serves nobody.",
		Source: "Auto Scaling user guide, \"Distribute instances across Availability Zones\"; Well-Architected Framework, reliability pillar, REL11-BP03",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Details > Network > Edit: subnets in two zones or more, and the same zones at the load balancer.",
			CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --vpc-zone-identifier SUBNET_1,SUBNET_2",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { VPCZoneIdentifier: [subnets of two zones or more] }",
			CDK:            "new AutoScalingGroup(this, ..., { vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS } }), in a Vpc with maxAzs: 2 or more",
			Terraform:      "resource \"aws_autoscaling_group\": vpc_zone_identifier = [subnets of two zones or more]",
		},
		check: checkZones,
	}
}

func checkZones(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		count := len(g.Zones)
		if count == 0 || g.ZoneCount != nil {
			n, ok := have(v, g.ref(), "zone_count", g.ZoneCount)
			if !ok {
				continue
			}
			count = n
		}
		if count == 1 {
			out = append(out, g.finding(strings.TrimSpace("1 zone "+strings.Join(g.Zones, ", ")), "1 zone - 1 zone = no member left when it fails"))
		}
	}
	return out
}

func singleMember() Rule {
	return Rule{
		ID: "HF020", Name: "single-member", Severity: Medium,
		Title: "The group never has more than one member",
		Why: "Each replacement, for whatever reason, is an outage, and nothing tells a broken member from a broken dependency: there is no other to compare it with. " +
			"Holdfast does not touch the last member of a group unless its policy says so.",
		Source: "Auto Scaling user guide, \"Set scaling limits for your Auto Scaling group\"",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Details > Group size > Edit: minimum 2, maximum 3 or more.",
			CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --min-size 2 --max-size 4",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { MinSize: \"2\", MaxSize: \"4\" }",
			CDK:            "new AutoScalingGroup(this, ..., { minCapacity: 2, maxCapacity: 4 })",
			Terraform:      "resource \"aws_autoscaling_group\": min_size = 2, max_size = 4",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				low, okLow := have(v, g.ref(), "min", g.Min)
				high, okHigh := have(v, g.ref(), "max", g.Max)
				if okLow && okHigh && low == 1 && high == 1 {
					out = append(out, g.finding("minimum 1, maximum 1", "1 member - 1 being replaced = 0 that serve"))
				}
			}
			return out
		},
	}
}

func protectionMisread() Rule {
	return Rule{
		ID: "HF021", Name: "protection-misread", Severity: Low,
		Title: "Scale-in protection does not protect from replacement",
		Why: "A protected member is spared by scale-in only. It is terminated all the same when a health check fails, when somebody marks it, and when its Spot " +
			"capacity is taken back. Who relies on it for the state that a member holds loses that state.",
		Source: "Auto Scaling user guide, \"Use instance scale-in protection\"",
		Fix: Fix{
			Console:        "Keep the protection if scale-in is what it is for. For state that must not be lost: Holdfast with action hold-only and respect_scale_in_protection, and a health check type of EC2 only.",
			CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --no-new-instances-protected-from-scale-in",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { NewInstancesProtectedFromScaleIn: false }",
			CDK:            "new AutoScalingGroup(this, ..., { newInstancesProtectedFromScaleIn: false })",
			Terraform:      "resource \"aws_autoscaling_group\": protect_from_scale_in = false",
		},
		check: checkProtection,
	}
}

func checkProtection(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		protected := 0
		for _, m := range g.Members {
			if m.Protected {
				protected++
			}
		}
		all, ok := have(v, g.ref(), "new_instances_protected_from_scale_in", g.ProtectedFromScale)
		var saw []string
		if ok && all {
			saw = append(saw, "new members are protected from scale-in")
		}
		if protected > 0 {
			saw = append(saw, fmt.Sprintf("%d of %s protected", protected, guard.Counted(len(g.Members), "member")))
		}
		if len(saw) == 0 {
			continue
		}
		f := g.finding(strings.Join(saw, "; "), "")
		if g.byLoadBalancer() {
			f.Severity, f.Sum = Medium, typesText(g)+" terminate protected members too"
		}
		out = append(out, f)
	}
	return out
}

func capacityRebalance() Rule {
	return Rule{
		ID: "HF022", Name: "capacity-rebalance", Severity: Low,
		Title: "Capacity rebalancing replaces members that work",
		Why: "When EC2 thinks that Spot capacity may be taken back soon, the group launches another member and terminates the one that still works. In a bad hour of a zone " +
			"this may be many at once, and no hold stops it.",
		Source: "Auto Scaling user guide, \"Use Capacity Rebalancing to handle Spot interruptions\"",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Details > Network > Edit: turn capacity rebalance off; or keep it for Spot members that take the two minutes' notice badly, and acknowledge this.",
			CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --no-capacity-rebalance",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { CapacityRebalance: false }",
			CDK:            "new AutoScalingGroup(this, ..., { capacityRebalance: false })",
			Terraform:      "resource \"aws_autoscaling_group\": capacity_rebalance = false",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if on, ok := have(v, g.ref(), "capacity_rebalance", g.CapacityRebalance); ok && on {
					out = append(out, g.finding("capacity rebalance on", ""))
				}
			}
			return out
		},
	}
}

// refreshPercentMin is the lowest minimum healthy percentage of a refresh that is not called low: below it more than a quarter of the
// group is away at once, which is what Holdfast's built-in correlated_percent calls a failure in common. AWS's own default is 90.
// Source: Auto Scaling API reference, RefreshPreferences.
const refreshPercentMin = 75

func refreshTakesMany() Rule {
	return Rule{
		ID: "HF023", Name: "refresh-takes-many", Severity: Medium,
		Title: "A refresh or rolling update takes many members away at once",
		Why: "With a low minimum healthy percentage it terminates a large part of the group before it knows whether the new version works. A bad release is " +
			"then an outage instead of one broken member.",
		Source: "Auto Scaling user guide, \"Instance refresh\", minimum healthy percentage",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Instance refresh > Start: minimum healthy percentage 90 or more, checkpoints, and rollback on alarm.",
			CLI:            "aws autoscaling start-instance-refresh --auto-scaling-group-name {name} --preferences MinHealthyPercentage=90,MaxHealthyPercentage=110",
			CloudFormation: "AWS::AutoScaling::AutoScalingGroup, attribute UpdatePolicy: { AutoScalingRollingUpdate: { MaxBatchSize: 1, MinInstancesInService: ... } }",
			CDK:            "new AutoScalingGroup(this, ..., { updatePolicy: UpdatePolicy.rollingUpdate({ minInstancesInService: ..., minSuccessPercentage: 100 }) })",
			Terraform:      "resource \"aws_autoscaling_group\": instance_refresh { preferences { min_healthy_percentage = 90 } }",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				low, ok := have(v, g.ref(), "refresh_min_healthy_percent", g.RefreshMinHealthy)
				if !ok || low == NotSet || low >= refreshPercentMin {
					continue
				}
				if desired, ok := have(v, g.ref(), "desired", g.Desired); ok && !oneAtATime(desired, low) {
					out = append(out, g.finding(fmt.Sprintf("minimum healthy percentage %d", low), fmt.Sprintf("100 %% - %d %% = %d %% away at once; want at most %d %%", low, 100-low, 100-refreshPercentMin)))
				}
			}
			return out
		},
	}
}

// oneAtATime says that a refresh that keeps so many percent takes one member away at once, which is the least there is: in a group of
// two that is half of it.
func oneAtATime(desired, percent int) bool { return desired-(desired*percent+99)/100 <= 1 }

// justification is what an auditor may read about a group that has no ELB health checks on purpose. Security Hub takes up to 512
// characters of a note. Source: Security Hub API reference, NoteUpdate.
const justification = "Accepted on purpose: this group uses EC2 health checks only. Load balancer health checks would let the failure of one shared dependency terminate every instance at once. " +
	"Compensating controls: the load balancer takes unhealthy targets out of rotation by itself, and EC2 status checks still replace failed machines."

func complianceClash() Rule {
	return Rule{
		ID: "HF035", Name: "compliance-clash", Severity: Low,
		Title: "A compliance check wants the setting that terminates fleets",
		Why: "This group is as it should be: the load balancer takes members out of rotation, and cannot terminate them. Security Hub's control AutoScaling.1 and the " +
			"AWS Config rule autoscaling-group-elb-healthcheck-required fail it for that. Suppress them with a reason before somebody \"fixes\" it.",
		Source: "Security Hub user guide, control AutoScaling.1; AWS Config developer guide, autoscaling-group-elb-healthcheck-required",
		Fix: Fix{
			Console: "Security Hub > Findings > AutoScaling.1 for {name} > Workflow status: Suppressed, with this note, and in it who repairs broken members, such as Holdfast: " + justification,
			CLI: "aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names {name} --query 'AutoScalingGroups[].[HealthCheckType,TargetGroupARNs]'\n" +
				"aws securityhub batch-update-findings --finding-identifiers Id=FINDING_ARN,ProductArn=PRODUCT_ARN --workflow Status=SUPPRESSED --note '{\"UpdatedBy\": \"YOUR NAME\", \"Text\": \"" + justification + "\"}'",
			CloudFormation: "Leave the group as it is; suppress the control by an AWS::SecurityHub::AutomationRule with the same note.",
			CDK:            "Leave the group as it is; suppress the control by a Security Hub automation rule (CfnAutomationRule) with the same note.",
			Terraform:      "Leave the group as it is; suppress the control by aws_securityhub_automation_rule with the same note.",
		},
		check: func(v *view) []Finding {
			var out []Finding
			for _, g := range v.groups {
				if v.typesOf(g) != nil && !g.byLoadBalancer() && len(g.attached()) > 0 {
					out = append(out, g.finding(typesText(g)+"; target groups "+v.titles(g.attached()), "no "+timing.TypeELB+" among them: AutoScaling.1 fails, on purpose"))
				}
			}
			return out
		},
	}
}

// lifted says how bad it is that a process is suspended: High when nothing is launched, judged, replaced or registered any more.
func lifted(process string) Severity {
	if slices.Contains([]string{"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck", "AddToLoadBalancer"}, process) {
		return High
	}
	return Medium
}
