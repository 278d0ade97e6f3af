package notify

import (
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// How guard begins the text of a notice that a group is held. The event has no field for the cause.
const (
	heldPrefix       = "held since "
	heldSincePrefix  = "it began with: "
	operatorPrefix   = "asked for by "
	dependencyPrefix = "hard dependency "
)

// heldCause reads off a notice's text that a person asked for the hold, or that a dependency holds: guard.CauseOperator,
// guard.CauseDependency, or "" for everything else, a text that is not understood included.
func heldCause(text string) string {
	text, ok := strings.CutPrefix(strings.TrimPrefix(text, "observe: "), heldPrefix)
	_, why, found := strings.Cut(text, ": ")
	if !ok || !found {
		return ""
	}
	why = strings.TrimPrefix(why, heldSincePrefix)
	switch {
	case strings.HasPrefix(why, operatorPrefix):
		return guard.CauseOperator
	case strings.HasPrefix(why, dependencyPrefix):
		return guard.CauseDependency
	}
	return ""
}

// Sentences that the guides of a hold share.
const (
	didHold     = "It suspended those of the group's hold_processes that were not suspended yet, as named in the notice, and marks no member while the hold lasts. With action alert-only it makes no call."
	nextHeld    = "At every sweep it sets members Healthy again that Auto Scaling calls Unhealthy although they are well. "
	nextStages  = "No stage of the release ends while the alarm of a hard dependency has no data, does not exist or cannot be read, for what is unknown releases nothing; one whose policy says missing=ok may have no data. "
	nextTooLong = "Past hold_max_seconds it pages hold-too-long. "
	lookServed  = "whether users are served: a load balancer whose targets are all unhealthy routes to all of them"
)

// heldGuide is of a hold by its cause as heldCause returns it; that of "" is about every cause.
func heldGuide(n Names, cause string) Guide {
	g := Guide{Key: guard.PageHeld, Title: "the group is held still", Urgency: "urgent", OfHold: true, Did: didHold}
	use := commands{look: []string{n.alarms(), n.members()}, ofHold: true}
	switch cause {
	case guard.CauseOperator:
		g.Did = strings.Replace(didHold, ", as named in the notice,", "", 1) // that notice does not name them
		g.Means = "A person asked for it with holdfast hold, as the notice says with who and why. Nothing needs to be broken."
		g.Next = nextHeld + "It does not release by itself: only a person ends this hold, with holdfast release, which then goes in stages. " + nextStages + nextTooLong
		g.Look = []string{
			"who asked for the hold and why, in the notice, and whether the reason still stands",
			"if it does not: release. While many members are bad or a dependency is in ALARM it is refused",
			"broken members meanwhile: none is replaced while the hold lasts",
		}
	case guard.CauseDependency:
		g.Means = "Something that all members depend on is in ALARM, as named in the notice. Replacing instances would not mend it and would make it worse."
		g.Next = nextHeld + "When the alarm is OK again and quiet_seconds pass without a trigger, it releases in stages and tells it once. " + nextStages + nextTooLong + "If a person asks for the hold too, only a person ends it."
		g.Look = []string{
			"the dependency whose alarm the notice names: is it down, or is the alarm wrong",
			"what was changed last at the dependency and on the way to it: deployments, routes, security groups, certificates",
			lookServed,
			"an alarm that says INSUFFICIENT_DATA or is gone keeps the release waiting: mend the alarm, or take it out of the policy",
			"if the dependency is mended: release takes the place of the quiet time. While its alarm is in ALARM it is refused",
		}
	default:
		g.Means = "Many members look bad at once, or something that they all depend on is in ALARM. That is a shared cause, and replacing instances would make it worse. The notice names the probable cause, with counts. Or a person asked for the hold; then the notice says who and why."
		g.Next = nextHeld + "After quiet_seconds without a trigger it releases in stages and tells it once; a hold that began because members failed together also waits until they are well, rolling_window_seconds at most. " + nextStages + nextTooLong + "A hold because replacements do not converge, and one that a person began or asked for, end by a person only."
		g.Look = []string{
			"the probable cause in the notice: the alarm in ALARM, or what the bad members share and the good ones do not",
			"what was changed last: deployments, launch templates, routes, security groups, certificates",
			lookServed,
			"if the cause is mended: release takes the place of the quiet time. While what holds the group is still true it is refused",
		}
		use.tune = "correlated_percent=40"
	}
	g.Next = strings.TrimSpace(g.Next)
	g.Commands = n.commands(use)
	return g
}

// holdGuides are of a hold's beginning, end and length.
func holdGuides(n Names) []Guide {
	return []Guide{
		heldGuide(n, ""),
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
			Next:  "It goes on holding and reminds after page_repeat_seconds. It still releases by itself after quiet_seconds without a trigger, unless only a person ends the hold, as the page held says. A paced exit resumes HealthCheck as soon as each of its members is well or gone.",
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
