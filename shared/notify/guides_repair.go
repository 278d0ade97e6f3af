package notify

import "github.com/holdfast-aws/holdfast/shared/guard"

// repairGuides are of repair that does not work, or may not go on.
func repairGuides(n Names) []Guide {
	return []Guide{
		{
			Key: guard.PageReplacementStuck, Title: "a replacement does not come", Urgency: "urgent",
			Means: "A member was marked longer than replacement_timeout_seconds ago, and nothing serves in its place yet.",
			Did:   "It keeps the slot taken, so that no further member is marked into the same trouble.",
			Next:  "The slot is free when enough members serve again. An in-flight slot never lapses by time alone. It reminds after page_repeat_seconds.",
			Look: []string{
				"the group's activities: launches that fail say why (capacity, quota, image, role)",
				"instances that hang in a lifecycle hook, a warm-up or a deregistration delay",
			},
			Commands: n.commands(commands{look: []string{n.activities(), n.members()}, tune: "replacement_timeout_seconds=1800"}),
		},
		{
			Key: guard.PageCannotReplace, Title: "a broken member cannot be replaced", Urgency: "urgent",
			Means: "Removing the member would only shrink the group: somebody suspended ReplaceUnhealthy, Launch or Terminate, the last launches all failed, or an instance hangs in Pending.",
			Did:   "It did not mark the member.",
			Next:  "It marks it through the ordinary gates as soon as launches work again, and reminds after page_repeat_seconds.",
			Look: []string{
				"the group's activities: why the last launches failed",
				"suspended processes, and who suspended them",
			},
			Commands: n.commands(commands{look: []string{n.activities(), n.calls("SuspendProcesses")}, tune: "action=alert-only"}),
		},
		{
			Key: guard.PageNotConverging, Title: "replacements do not come to serve", Urgency: "urgent", OfHold: true,
			Means: "Several replacements in a row did not serve: what they are made of is broken, and every further one would be too.",
			Did:   "It ended repair and holds the group.",
			Next:  "Nothing by itself: this hold ends by a person only. It reminds after page_repeat_seconds.",
			Look: []string{
				"what was released last: launch template, image, user data, the application's version, a secret or a dependency that new instances need",
				"the console output and boot log of a replacement that failed",
				"once that is mended: release --force has the members that do not serve replaced one by one, within every limit; a plain release is refused while they are many. Faster is to terminate them by hand, the next when the last one's replacement serves, and then to release",
			},
			Commands: n.commands(commands{
				look: []string{n.activities(), n.aws("ec2 get-console-output --latest --output text --instance-id INSTANCE")},
				mend: []string{n.releaseForced(), n.terminateOne()},
				tune: "converge_failures=3", ofHold: true,
			}),
		},
		{
			Key: guard.PageDailyLimit, Title: "the daily limit of marks is used up", Urgency: "urgent",
			Means: "As many members were replaced within a day as the policy allows, by Holdfast, by AWS or by people, and more are broken. So many single failures may have one cause after all.",
			Did:   "It left the broken members alone.",
			Next:  "It goes on when the oldest of these marks is a day old, or when the limit is raised. It reminds after page_repeat_seconds.",
			Look: []string{
				"what the replaced members had in common, from the group's activities and the verdict lines in the sweep's log",
				"whether the check that calls them broken is right",
			},
			Commands: n.commands(commands{look: []string{n.activities(), n.members()}, tune: "marks_per_day=12"}),
		},
	}
}

// settingGuides are of settings that do not fit the world.
func settingGuides(n Names) []Guide {
	alarm := n.aws("cloudwatch describe-alarms --alarm-types MetricAlarm CompositeAlarm --alarm-names " + quote(n.Subject))
	return []Guide{
		{
			Key: guard.PageStuckAlarm, Title: "a dependency alarm has been red for too long", Urgency: "notice",
			Means: "The alarm has been in ALARM for longer than alarm_max_age_seconds. An alarm that is always red says nothing and would hold the group for ever.",
			Did:   "It treats the alarm as soft: reported, but neither holding nor keeping a hold.",
			Next:  "It counts as hard again after it has been OK. It tells it again after page_repeat_seconds.",
			Look:  []string{"whether the dependency is really down, or the alarm's threshold or metric is wrong"},
			Commands: n.commands(commands{
				look: []string{alarm, n.aws("cloudwatch describe-alarm-history --max-records 20 --alarm-name " + quote(n.Subject))},
				tune: "alarm_max_age_seconds=172800",
			}),
		},
		{
			Key: guard.PageConfig, Title: "a setting is wrong", Urgency: "notice",
			Means: "A policy layer is invalid or cannot be read, a value is above its ceiling, an alarm or a group that is configured does not exist, or a guarded group is gone or lost its tag. The notice says which key, and why.",
			Did:   "The last good content of that layer stays in force, or the layers below it if there was none; a mode in it that can be read and is stricter applies all the same. A value above its ceiling is cut to it. A wrong setting never stops a hold.",
			Next:  "It takes the corrected value at the next sweep.",
			Look:  []string{"the key and the reason in the notice", "who changed it, and when"},
			Commands: n.commands(commands{
				look: []string{n.aws("ssm get-parameters-by-path --recursive --path /holdfast/"), n.calls("PutParameter")},
				tune: "KEY=VALUE",
			}),
		},
		{
			Key: guard.PageNotRegistered, Title: "members in service are registered nowhere", Urgency: "notice",
			Means: "Members are InService and past their grace, but in no target group that is in use: they cost money and serve nobody.",
			Did:   "Nothing: they are neither good nor bad, and stand in no count.",
			Next:  "They count as soon as they are registered. It tells it again after page_repeat_seconds.",
			Look:  []string{"whether AddToLoadBalancer is suspended: what was launched meanwhile is not added later", "whether somebody deregistered them by hand"},
			Commands: n.commands(commands{
				look: []string{n.targets(), n.members()},
				mend: []string{n.aws("elbv2 register-targets --target-group-arn TARGET-GROUP-ARN --targets Id=INSTANCE")},
				tune: "page_repeat_seconds=21600",
			}),
		},
	}
}

// memberGuides are of members that Holdfast leaves to people.
func memberGuides(n Names) []Guide {
	return []Guide{
		{
			Key: guard.PageWorkerStalled, Title: "workers are silent and their queue grows", Urgency: "urgent",
			Means: "Workers stopped reporting, and the queue is deep and does not fall: both together say that work is not done.",
			Did:   "Nothing, unless the policy has both action=replace and a queue: then a single silent worker is marked within the limits.",
			Next:  "It looks again at every sweep and reminds after page_repeat_seconds.",
			Look:  []string{"the workers' own log, and what they wait for", "a message that kills each worker that takes it: the dead-letter queue and the receive counts"},
			Commands: n.commands(commands{
				look: []string{n.activities(), n.alarms()}, tune: "action=replace",
			}),
		},
		{
			Key: guard.PageDeferredTooLong, Title: "a broken member has not been repaired for long", Urgency: "notice",
			Means: "The member has been broken for longer than deferred_page_seconds, and a gate keeps it from being marked; the notice says which.",
			Did:   "It left the member alone, for the reason in the notice.",
			Next:  "It marks it as soon as the gate opens, and tells it again after page_repeat_seconds.",
			Look:  []string{"the reason in the notice: a budget, a protection, an opt-out, a refresh, a policy of hold-only or alert-only", "whether the member should be replaced by hand"},
			Commands: n.commands(commands{
				look: []string{n.members()},
				mend: []string{n.aws("autoscaling set-instance-health --instance-id INSTANCE --health-status Unhealthy --should-respect-grace-period")},
				tune: "deferred_page_seconds=7200",
			}),
		},
		{
			Key: guard.PagePausedWhileHeld, Title: "paused while the group is held", Urgency: "notice", OfHold: true,
			Means: "The mode became off or observe during a hold that Holdfast made, or while a paced exit keeps HealthCheck suspended. Nothing will be released while that lasts, and nothing is replaced.",
			Did:   "It left the hold as it is: in these modes it makes no call.",
			Next:  "It goes on with the hold and its release when the mode is act again; quiet and confirmation then start anew. It reminds after page_repeat_seconds.",
			Look:  []string{"who changed the mode, and whether they know of the hold", "whether the processes must be resumed by hand meanwhile"},
			Commands: n.commands(commands{
				look: []string{n.aws("ssm get-parameter --name " + guard.ModeParameter), n.members()},
				mend: []string{
					n.holdfast("unpause"),
					n.aws("autoscaling resume-processes --auto-scaling-group-name " + quote(n.Group) + " --scaling-processes HealthCheck AZRebalance ReplaceUnhealthy"),
				},
				tune: "mode=act", ofHold: true,
			}),
		},
		{
			Key: guard.PageLastInstance, Title: "the only member is broken and may not be touched", Urgency: "urgent",
			Means: "The group has one member in service, it is broken, and act_on_last_instance is false.",
			Did:   "It left the member alone.",
			Next:  "It marks it through the ordinary gates if act_on_last_instance becomes true or a second member serves. It reminds after page_repeat_seconds.",
			Look:  []string{"whether replacing the instance is safe: does it hold data, an address or a licence of its own", "whether the group should have a second member"},
			Commands: n.commands(commands{
				look: []string{n.members()},
				mend: []string{n.aws("autoscaling set-instance-health --instance-id INSTANCE --health-status Unhealthy --should-respect-grace-period")},
				tune: "act_on_last_instance=true",
			}),
		},
	}
}
