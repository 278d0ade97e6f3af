package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Limits of ages. A suspension, or an alarm without data, may belong to work in progress for a day; an alarm is first evaluated within
// minutes of its creation.
const (
	suspensionAgeMax = 24 * time.Hour
	noDataAgeMax     = 24 * time.Hour
	firstLookMax     = time.Hour
	// launchWindow and launchFailures are the guard's own measure of "cannot replace".
	launchWindow   = 30 * time.Minute
	launchFailures = 2
	// firstBeatMax is the built-in first_heartbeat_seconds: so long a new member may go without a first beat.
	firstBeatMax = 900 * time.Second
)

// working are the rules about groups that cannot do what they are set to do.
func working() []Rule { return []Rule{forgottenSuspension(), launchesFail()} }

func forgottenSuspension() Rule {
	return Rule{
		ID: "HF024", Name: "forgotten-suspension", Severity: High, state: true,
		Title: "A process was suspended long ago, and not by Holdfast",
		Why: "While ReplaceUnhealthy or Launch is suspended, no broken member is replaced, a dead one neither: the group shrinks without a word. The others stop scaling, " +
			"schedules or balancing. AWS says neither who did it nor why, and takes them back by nobody's hand but yours.",
		Source: "Auto Scaling user guide, \"Suspend and resume a process for an Auto Scaling group\"",
		Fix: Fix{
			Console: "EC2 > Auto Scaling groups > {name} > Details > Advanced configurations > Suspended processes. Look at the members first: when ReplaceUnhealthy is resumed, " +
				"all that are marked Unhealthy are replaced at once.",
			CLI: "aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names {name} --query 'AutoScalingGroups[].Instances[?HealthStatus==`Unhealthy`].InstanceId'\n" +
				"aws autoscaling resume-processes --auto-scaling-group-name {name} --scaling-processes {detail}",
			CloudFormation: "There is no property for it: resume it by console or command.",
			CDK:            "CloudFormation has no property for it: resume it by console or command.",
			Terraform:      "resource \"aws_autoscaling_group\": suspended_processes without {detail}",
		},
		check: checkSuspensions,
	}
}

func checkSuspensions(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		var saw, processes []string
		severity := Medium
		for _, s := range g.Suspended {
			if s.Held {
				continue
			}
			if s.Since.IsZero() {
				v.unknown(g.ref(), "suspended "+s.Process+" since")
				continue
			}
			age := v.account.At.Sub(s.Since)
			if age < suspensionAgeMax {
				continue
			}
			saw = append(saw, fmt.Sprintf("%s for %s", s.Process, ageText(age)))
			processes = append(processes, s.Process)
			if lifted(s.Process) == High {
				severity = High
			}
		}
		if len(saw) == 0 {
			continue
		}
		f := g.finding("suspended: "+strings.Join(sorted(saw), ", "), "older than "+ageText(suspensionAgeMax)+", and not in Holdfast's ledger")
		f.Severity, f.detail = severity, sorted(processes)
		out = append(out, f)
	}
	return out
}

// ageText writes an age in days and hours, or minutes when it is short.
func ageText(age time.Duration) string {
	switch {
	case age >= 48*time.Hour:
		return guard.Counted(int(age/(24*time.Hour)), "day")
	case age >= time.Hour:
		return guard.Counted(int(age/time.Hour), "hour")
	}
	return guard.Counted(int(age/time.Minute), "minute")
}

func launchesFail() Rule {
	return Rule{
		ID: "HF025", Name: "launches-fail", Severity: High, state: true,
		Title: "Launches fail",
		Why: "Whatever is terminated now is not replaced: a missing image, a quota, no capacity, a key or a role that is gone. Each further termination makes the group " +
			"smaller. Holdfast defers every mark for as long.",
		Source: "Auto Scaling user guide, \"Troubleshoot issues in Amazon EC2 Auto Scaling\"",
		Fix: Fix{
			Console:        "EC2 > Auto Scaling groups > {name} > Activity: read the status message of the failed launches and mend its cause.",
			CLI:            "aws autoscaling describe-scaling-activities --auto-scaling-group-name {name} --max-items 5",
			CloudFormation: "AWS::EC2::LaunchTemplate: { LaunchTemplateData: mend the ImageId, InstanceType, IamInstanceProfile or KeyName that the message names }",
			CDK:            "Mend the launch template (image, instance type, role, key, subnets) that the message names.",
			Terraform:      "Mend the aws_launch_template (image_id, instance_type, iam_instance_profile, key_name) that the message names.",
		},
		check: checkLaunches,
	}
}

func checkLaunches(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		failed, good, message := 0, 0, ""
		for _, l := range g.Launches {
			if age := v.account.At.Sub(l.At); age < 0 || age > launchWindow {
				continue
			}
			if !l.Failed {
				good++
				continue
			}
			if failed == 0 {
				message = l.Message
			}
			failed++
		}
		if good == 0 && failed >= launchFailures {
			out = append(out, g.finding(fmt.Sprintf("%d of %d launches in the last %s failed; the newest says %q", failed, failed, ageText(launchWindow), message),
				fmt.Sprintf("%d failures in a row, limit %d", failed, launchFailures)))
		}
	}
	return out
}
