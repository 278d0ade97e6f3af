package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// terminating are the rules about what may terminate members of a group by itself.
func terminating() []Rule {
	return []Rule{deepCheck(), sharedCheck(), unreviewedCheck(), noGrace(), graceBelowBoot(), statusCheckTerminates()}
}

// onlyEC2 is the fix of all rules about health check types.
func onlyEC2(also string) Fix {
	return Fix{
		Console:        "EC2 > Auto Scaling groups > {name} > Details > Health checks > Edit: turn the health checks of Elastic Load Balancing and VPC Lattice off. " + also,
		CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --health-check-type EC2",
		CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { HealthCheckType: EC2 }",
		CDK:            "new AutoScalingGroup(this, ..., { healthChecks: HealthChecks.ec2({ gracePeriod: Duration.minutes(5) }) })",
		Terraform:      "resource \"aws_autoscaling_group\": health_check_type = \"EC2\"",
	}
}

func typesText(g *Group) string {
	return "health check types " + strings.Join(g.HealthCheckTypes, ", ")
}

func deepCheck() Rule {
	return Rule{
		ID: "HF001", Name: "deep-check-terminates", Severity: Critical,
		Title: "A deep health check terminates members",
		Why: "The group replaces every member that the load balancer calls unhealthy, and the health check asks more than the member itself. " +
			"When a dependency is slow for a minute, all members fail together and the group terminates its whole fleet. " +
			"The load balancer alone would have sent requests to all of them until the minute was over.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"; Application Load Balancer user guide, \"Target group health\"",
		Fix:    onlyEC2("Then give the health check a path that is answered by the member alone, and let an alarm watch the dependency."),
		check:  checkDeep,
	}
}

func checkDeep(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		v.typesOf(g)
		ids := v.judging(g)
		for _, id := range ids {
			t, ok := v.byID[id]
			if !ok {
				v.unknown(ref{KindTargetGroup, id}, "path")
				continue
			}
			if !v.checksHTTP(t) {
				continue
			}
			path, ok := have(v, t.ref(), "path", t.Path)
			if !ok {
				continue
			}
			for _, p := range timing.PathProblems(path) {
				f := g.finding(fmt.Sprintf("%s; target group %s asks for %q", typesText(g), t.title(), path), p.Text)
				f.Part = v.partOf(t, ids)
				if path == "/" || timing.IsActuator(path) {
					// The one may be a static file, or need everything: docs/audit-corpus.md has two of each. The other asks what the application has.
					f.Severity = High
				}
				out = append(out, f)
			}
		}
	}
	return out
}

func sharedCheck() Rule {
	return Rule{
		ID: "HF002", Name: "shared-check-terminates", Severity: High,
		Title: "One health check terminates members in several places",
		Why: "A member is replaced when any one of its target groups calls it unhealthy, and a target group that serves several groups judges the members of all " +
			"of them. One wrong path, port or certificate then terminates far more than the members that it was meant for.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"",
		Fix:    onlyEC2("Or leave one target group to the group, which no other group uses."),
		check:  checkShared,
	}
}

func checkShared(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		v.typesOf(g)
		ids := v.judging(g)
		var sums []string
		if len(ids) > 1 {
			sums = append(sums, fmt.Sprintf("%d target groups, of which any one is enough", len(ids)))
		}
		for _, id := range ids {
			var others []string
			for _, other := range v.users[id] {
				if other != g && slices.Contains(v.judging(other), id) {
					others = append(others, other.Name)
				}
			}
			if len(others) > 0 {
				sums = append(sums, fmt.Sprintf("%s terminates members of %s too", v.titleOf(id), strings.Join(sorted(others), ", ")))
			}
		}
		if len(sums) > 0 {
			out = append(out, g.finding(fmt.Sprintf("%s; target groups %s", typesText(g), v.titles(ids)), strings.Join(sums, "; ")))
		}
	}
	return out
}

func unreviewedCheck() Rule {
	return Rule{
		ID: "HF003", Name: "unreviewed-check-terminates", Severity: Medium,
		Title: "The load balancer's word terminates members, and nobody has reviewed it",
		Why: "Whatever makes the health check of all members fail at once, such as a bad release, a security group or an expired certificate, terminates " +
			"them all. That may be meant; here no review says so.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"",
		Fix:    onlyEC2("Or review the thresholds of its target groups, write them down with these health check types, and tag the target groups " + TagService + "."),
		check:  checkUnreviewed,
	}
}

func checkUnreviewed(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		v.typesOf(g)
		if g.byLoadBalancer() && v.unreviewed(g) {
			out = append(out, g.finding(typesText(g), "no reviewed thresholds of its target groups allow them"))
		}
	}
	return out
}

// unreviewed says whether a target group that may terminate members has no review that allows it. What is not known to be unreviewed is
// not called so.
func (v *view) unreviewed(g *Group) bool {
	ids := v.judging(g)
	for _, id := range ids {
		t, ok := v.byID[id]
		if !ok {
			v.unknown(ref{KindTargetGroup, id}, "tags")
			continue
		}
		if v.tagsUnread(t) {
			continue
		}
		if _, p, ok := v.promise(t); !ok || !allows(p, g) {
			return true
		}
	}
	unknown := (g.checksWith(timing.TypeELB) && g.TargetGroups == nil) || (g.checksWith(timing.TypeLattice) && g.LatticeGroups == nil)
	return len(ids) == 0 && !unknown
}

func allows(p Promise, g *Group) bool {
	for _, kind := range []string{timing.TypeELB, timing.TypeLattice} {
		if g.checksWith(kind) && !slices.Contains(p.HealthCheckTypes, kind) {
			return false
		}
	}
	return true
}

func longerGrace(seconds string) Fix {
	return Fix{
		Console:        "EC2 > Auto Scaling groups > {name} > Details > Health checks > Edit: health check grace period of " + seconds + " seconds or more.",
		CLI:            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --health-check-grace-period " + seconds,
		CloudFormation: "AWS::AutoScaling::AutoScalingGroup: { HealthCheckGracePeriod: " + seconds + " }",
		CDK:            "new AutoScalingGroup(this, ..., { healthChecks: HealthChecks.ec2({ gracePeriod: Duration.seconds(" + seconds + ") }) })",
		Terraform:      "resource \"aws_autoscaling_group\": health_check_grace_period = " + seconds,
	}
}

func noGrace() Rule {
	return Rule{
		ID: "HF004", Name: "no-grace", Severity: High,
		Title: "New members are judged before they can serve",
		Why: "Without a grace period the load balancer's first \"unhealthy\" counts while the member is still starting. The group terminates it, launches the next, " +
			"and may go on for ever. CloudFormation, the CDK and the API take 0 when none is stated; only the console proposes 300 seconds.",
		Source: "Auto Scaling user guide, \"Set the health check grace period for an Auto Scaling group\"; CloudFormation reference, AWS::AutoScaling::AutoScalingGroup",
		Fix:    longerGrace("300"),
		check:  checkNoGrace,
	}
}

func checkNoGrace(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		if !g.byLoadBalancer() {
			v.typesOf(g)
			continue
		}
		grace, ok := have(v, g.ref(), "grace_seconds", g.GraceSeconds)
		if !ok {
			continue
		}
		for _, p := range timing.GraceProblems(g.HealthCheckTypes, grace) {
			out = append(out, g.finding(fmt.Sprintf("%s; grace %d s", typesText(g), grace), p.Text))
		}
	}
	return out
}

func graceBelowBoot() Rule {
	return Rule{
		ID: "HF005", Name: "grace-below-boot", Severity: High, state: true,
		Title: "The grace period is shorter than members take to start",
		Why: "A member that takes longer to start than its grace period is called unhealthy and replaced while it starts. On a slow day, when images and packages " +
			"load slowly for all, no new member ever gets ready.",
		Source: "Auto Scaling user guide, \"Set the health check grace period for an Auto Scaling group\"",
		Fix:    longerGrace(placeDetail),
		check:  checkGraceBelowBoot,
	}
}

func checkGraceBelowBoot(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		if !g.byLoadBalancer() {
			v.typesOf(g)
			continue
		}
		grace, okGrace := have(v, g.ref(), "grace_seconds", g.GraceSeconds)
		boot, okBoot := have(v, g.ref(), "boot_seconds", g.BootSeconds)
		if !okGrace || !okBoot || boot == NotSet || grace == 0 || grace >= boot {
			continue // a grace of 0 is HF004's
		}
		// Half as much again leaves room for a slow day.
		f := g.finding(fmt.Sprintf("%s; grace %d s; the slowest start seen took %d s", typesText(g), grace, boot), fmt.Sprintf("%d s - %d s = %d s too short", boot, grace, boot-grace))
		f.detail = []string{fmt.Sprint(min(boot+boot/2, timing.GraceMaxSeconds))}
		out = append(out, f)
	}
	return out
}

func statusCheckTerminates() Rule {
	return Rule{
		ID: "HF006", Name: "status-check-terminates", Severity: Critical,
		Title: "An EC2 application status check replaces members",
		Why: "EC2 itself asks the members over HTTP, and Auto Scaling replaces those that fail, without any setting of the group: its health check type still reads EC2. " +
			"A path that asks a dependency replaces the whole fleet in the dependency's bad minutes, and nothing at the group tells why.",
		Source: "EC2 user guide, \"Application status checks\"",
		Fix: Fix{
			Console:        "EC2 > Status checks > Application status checks > {name}: remove the association with the group's tag or members, or suppress the check until its path is answered by the member alone.",
			CLI:            "aws ec2 describe-application-status-check-associations\naws ec2 disassociate-application-status-check --application-status-check-id {name} {detail}",
			CloudFormation: "AWS::EC2::ApplicationStatusCheck: { Path: /health }, a path that the member alone answers; the association is no property of it.",
			CDK:            "Remove the association where it is made; the CDK has no construct of its own for it.",
			Terraform:      "Remove the association where it is made; aws_autoscaling_group has no argument for it.",
		},
		check: checkStatusChecks,
	}
}

func checkStatusChecks(v *view) []Finding {
	var out []Finding
	for _, c := range v.account.StatusChecks {
		if c.Suppressed {
			continue
		}
		var names []string
		guarded := false
		for _, g := range v.groups {
			if c.Selects(g) {
				names = append(names, g.Name)
				guarded = guarded || g.guarded()
			}
		}
		if len(names) == 0 {
			continue
		}
		f := Finding{Kind: KindStatusCheck, Name: c.ID, Part: c.part(), Severity: High, Saw: fmt.Sprintf("%s; path %q; groups %s", c.selector(), c.Path, strings.Join(sorted(names), ", "))}
		var sums []string
		if c.Failures != nil && c.Seconds != nil {
			every := time.Duration(*c.Seconds) * time.Second
			sums = append(sums, fmt.Sprintf("%s x %s = %s until replacement", guard.Counted(*c.Failures, "failure"), every, time.Duration(*c.Failures)*every))
		}
		for _, p := range timing.PathProblems(c.Path) {
			if c.Path != "" {
				f.Severity = Critical
				sums = append(sums, p.Text)
			}
		}
		if guarded {
			sums = append(sums, "Holdfast guards one of these groups: such replacements are outside its limits")
		}
		f.Sum, f.detail = strings.Join(sums, "; "), c.arguments()
		out = append(out, f)
	}
	return out
}
