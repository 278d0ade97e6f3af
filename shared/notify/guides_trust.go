package notify

import "github.com/holdfast-aws/holdfast/shared/guard"

// trustGuides are of what could not be read.
func trustGuides(n Names) []Guide {
	return []Guide{{
		Key: guard.PageBlind, Title: "what was read cannot be trusted", Urgency: "urgent after three sweeps in a row, or when a hold has no record",
		Means: "A read that a decision needs failed, was throttled or came back incomplete. The notice says which. Unknown is not unhealthy, so nothing is concluded from it.",
		Did:   "It marked and released nothing in this group. A hold still goes out on what can be read.",
		Next:  "It reads again at every sweep and goes on by itself. More than three blind sweeps in a row start confirmation and quiet anew.",
		Look: []string{
			"the failed read in the notice: permissions, throttling, or an outage of that AWS service in the Region",
			"if it is the ledger: the state table and the function's permission to write it. A hold made meanwhile has no record and is to be resumed by hand",
		},
		Commands: n.commands(commands{
			look: []string{n.aws("logs tail /aws/lambda/SWEEP-FUNCTION --since 15m --filter-pattern failure"), n.alarms()},
			tune: "confirm_sweeps=3",
		}),
	}}
}

// heartbeatGuides are of the reporting path and of witnesses that disagree.
func heartbeatGuides(n Names) []Guide {
	const path = "what the silent members share: zone, agent version, route or endpoint to DynamoDB, instance role, table throttling"
	return []Guide{
		{
			Key: guard.PageHeartbeatPath, Title: "heartbeats are missing although members serve", Urgency: "urgent when most members are silent",
			Means: "Members stopped reporting while their targets pass, or so many are silent at once that the reporting path is what failed. Silence then proves nothing about anyone.",
			Did:   "It treats members that serve as well. If most are silent it marks and releases nothing, and only the load balancer's view counts, for holds.",
			Next:  "It looks again at every sweep and trusts heartbeats again as soon as most members beat.",
			Look:  []string{path, "the agent's own log on one silent member"},
			Commands: n.commands(commands{
				look: []string{n.aws("ssm describe-instance-information"), n.alarms()}, tune: "heartbeat_stale_seconds=300",
			}),
		},
		{
			Key: guard.PageHeartbeatCoverage, Title: "most members never reported", Urgency: "urgent",
			Means: "Most members never sent a heartbeat: the agent is not installed, may not write, or the group is new to Holdfast.",
			Did:   "It marks and releases nothing on the word of silence; only the load balancer's view counts, for holds.",
			Next:  "It looks again at every sweep. Members that beat count from their first beat on.",
			Look:  []string{"whether the image has the agent and the instance role may write its own row", path},
			Commands: n.commands(commands{
				look: []string{n.aws("ssm describe-instance-information"), n.members()}, tune: "first_heartbeat_seconds=1800",
			}),
		},
		{
			Key: guard.PageHeartbeatLag, Title: "heartbeats of several members arrive late", Urgency: "notice",
			Means: "Beats of several members advance, but late. That is how a failing reporting path looks at first.",
			Did:   "Nothing: a late beat is no sign of death, and it does not speak against silence either.",
			Next:  "If they stop for heartbeat_stale_seconds they count as silent, by the rule that silence proves something only while most others beat.",
			Look:  []string{path, "load on the members: an agent that is starved of CPU beats late"},
			Commands: n.commands(commands{
				look: []string{n.alarms()}, tune: "heartbeat_fresh_seconds=90",
			}),
		},
		{
			Key: guard.PageClockSkew, Title: "the clock of a member is off", Urgency: "notice",
			Means: "The beats of these members advance, so they live, but the time in them is far from the sweep's own.",
			Did:   "Nothing: life is judged by beats that advance, not by what they claim as their time.",
			Next:  "It tells it again after page_repeat_seconds while it lasts.",
			Look:  []string{"time synchronisation on the members that the notice names", "certificates and signatures there: both fail on a wrong clock"},
			Commands: n.commands(commands{
				look: []string{n.aws("ssm send-command --document-name AWS-RunShellScript --instance-ids INSTANCE --parameters commands='chronyc tracking'")},
				tune: "page_repeat_seconds=21600",
			}),
		},
		{
			Key: guard.PageSignalsDisagree, Title: "the heartbeat says failing, the target says healthy", Urgency: "notice",
			Means: "A member reports that a local check fails while the load balancer finds it well. One of the two is wrong.",
			Did:   "Nothing: the member serves, so it counts as healthy.",
			Next:  "It is marked only with self_report_alone=true, or when the load balancer comes to agree.",
			Look:  []string{"the failing check, by its name in the status: is it right, and does it matter to users", "whether the load balancer's check looks at too little"},
			Commands: n.commands(commands{
				look: []string{n.targets()}, tune: "self_report_alone=true",
			}),
		},
	}
}
