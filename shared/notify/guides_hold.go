package notify

import "github.com/holdfast-aws/holdfast/shared/guard"

// holdGuides are of a hold's beginning, end and length.
func holdGuides(n Names) []Guide {
	return []Guide{
		{
			Key: guard.PageHeld, Title: "the group is held still", Urgency: "urgent", OfHold: true,
			Means: "Many members look bad at once, or something that they all depend on is in ALARM. That is a shared cause, and replacing instances would make it worse. The notice names the probable cause, with counts.",
			Did:   "It suspended those of the group's hold_processes that were not suspended yet, as named in the notice, and marks no member while the hold lasts. With action alert-only it makes no call.",
			Next:  "At every sweep it sets members Healthy again that Auto Scaling calls Unhealthy although they are well. After quiet_seconds without a trigger it releases in stages and tells it once; a hold that began because members failed together also waits until they are well, rolling_window_seconds at most. Past hold_max_seconds it pages hold-too-long. A hold because replacements do not converge, and one that a person began, end by a person only.",
			Look: []string{
				"the probable cause in the notice: the alarm in ALARM, or what the bad members share and the good ones do not",
				"what was changed last: deployments, launch templates, routes, security groups, certificates",
				"whether users are served: a load balancer whose targets are all unhealthy routes to all of them",
				"if the cause is mended: release takes the place of the quiet time. While what holds the group is still true it is refused",
			},
			Commands: n.commands(commands{look: []string{n.alarms(), n.members()}, tune: "correlated_percent=40", ofHold: true}),
		},
		{
			Key: guard.PageReleased, Title: "the hold has ended", Urgency: "notice",
			Means: "The hold that was told before is over. This is its one and only clear.",
			Did:   "It resumed what it had suspended itself, in stages, after it had set well members Healthy again. What others suspended it left alone.",
			Next:  "Every member has a fresh grace against marks; after that single broken members are repaired again, within the limits. More terminations than the budget allows hold the group again at once.",
			Look: []string{
				"the group's activities of the next minutes: terminations with a health reason are what a release can cause",
				"whether what caused the hold is mended, or only silent",
			},
			Commands: n.commands(commands{look: []string{n.activities(), n.members()}, tune: "quiet_seconds=1200"}),
		},
		{
			Key: guard.PageHoldTooLong, Title: "held for longer than hold_max_seconds", Urgency: "urgent", OfHold: true,
			Means: "The hold has lasted longer than the policy allows without a person. While it lasts nothing is replaced, so the group loses capacity with every instance that dies. Or a paced exit has kept HealthCheck suspended for that long, for the members that the page names.",
			Did:   "It kept the hold. With hold_exit=paced it also began the paced exit, which repairs members that were bad all the time one by one.",
			Next:  "It goes on holding and reminds after page_repeat_seconds. It still releases by itself after quiet_seconds without a trigger. A paced exit resumes HealthCheck as soon as each of its members is well or gone.",
			Look: []string{
				"the cause of the hold: is it still true, or is a check or an alarm wrong",
				"how many members still serve, and whether that is enough",
				"in a paced exit: why its members are neither well nor replaced, such as one in Standby, or action=hold-only",
			},
			Commands: n.commands(commands{look: []string{n.alarms(), n.members()}, mend: []string{n.releaseForced()}, tune: "hold_exit=paced", ofHold: true}),
		},
		{
			Key: guard.PageResumeBlocked, Title: "the release waits: resuming would replace too many", Urgency: "urgent", OfHold: true,
			Means: "The cause has passed, but Auto Scaling still calls more members Unhealthy than may be replaced now, and it would replace all of them the moment ReplaceUnhealthy is resumed. Or a paced exit is due and HealthCheck is not among the processes that this hold suspended.",
			Did:   "It stopped before the dangerous step: ReplaceUnhealthy stays suspended.",
			Next:  "At every sweep it sets well members Healthy again, at most five tries for a member in one hold, and looks anew. It goes on by itself as soon as those left fit the budget.",
			Look: []string{
				"which members Auto Scaling calls Unhealthy, and whether their targets and heartbeats are good",
				"if they are good: why the marks stay. If they are bad or their machines are gone: release --force has them replaced one by one, within every limit; faster is to terminate them by hand, the next when the last one's replacement serves",
				"the limits are bounded by ceilings: in a group of fewer than 40 members no setting lets two be replaced at once",
			},
			Commands: n.commands(commands{
				look: []string{n.members()}, mend: []string{n.setHealthy(), n.releaseForced(), n.terminateOne()},
				tune: "max_in_flight=2 marks_per_10_minutes=2", ofHold: true,
			}),
		},
	}
}

// suspensionGuides are of processes that somebody else suspended or resumed.
func suspensionGuides(n Names) []Guide {
	return []Guide{
		{
			Key: guard.PageSuspensionRemoved, Title: "somebody resumed what this hold had suspended", Urgency: "notice", OfHold: true,
			Means: "Processes that Holdfast had suspended for this hold run again, and Holdfast did not resume them.",
			Did:   "It suspended them once more. It does so once.",
			Next:  "If they are resumed a second time it pages suspension-conflict and leaves it to people.",
			Look: []string{
				"who resumed them: a person, a deployment tool, another automation",
				"whether they meant to end the hold: the way to do that is holdfast release",
			},
			Commands: n.commands(commands{look: []string{n.calls("ResumeProcesses"), n.activities()}, tune: "action=alert-only", ofHold: true}),
		},
		{
			Key: guard.PageSuspensionConflict, Title: "the hold's processes were resumed a second time", Urgency: "urgent", OfHold: true,
			Means: "Somebody and Holdfast want opposite things: the processes of this hold were resumed again after Holdfast had suspended them once more.",
			Did:   "It left them running. The hold is still on record and no member is marked, but Auto Scaling may replace members now.",
			Next:  "It does not suspend again during this hold. It reminds after page_repeat_seconds.",
			Look: []string{
				"who resumed them, and what they know",
				"whether the group loses members right now",
			},
			Commands: n.commands(commands{
				look: []string{n.calls("ResumeProcesses"), n.activities()},
				mend: []string{n.aws("autoscaling suspend-processes --auto-scaling-group-name " + quote(n.Group) + " --scaling-processes ReplaceUnhealthy HealthCheck AZRebalance")},
				tune: "action=alert-only", ofHold: true,
			}),
		},
		{
			Key: guard.PageForeignSuspension, Title: "a process is suspended, and not by Holdfast", Urgency: "notice",
			Means: "A process of the group is suspended by somebody else; the notice says which one, with what reason and how old it is.",
			Did:   "Nothing. What others suspend is never undone by Holdfast.",
			Next:  "If it is ReplaceUnhealthy, Launch or Terminate, broken members are deferred cannot-replace until it is resumed. It reminds after page_repeat_seconds.",
			Look: []string{
				"who suspended it and whether they still need it; a suspension has no end of its own",
				"before it is resumed: which members Auto Scaling calls Unhealthy. All of them are replaced at once when ReplaceUnhealthy is resumed",
			},
			Commands: n.commands(commands{
				look: []string{n.calls("SuspendProcesses"), n.members()},
				mend: []string{n.aws("autoscaling resume-processes --auto-scaling-group-name " + quote(n.Group) + " --scaling-processes " + quote(n.Subject))},
				tune: "page_repeat_seconds=21600",
			}),
		},
	}
}
