package notify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Guide is what is said about a page key beside what a notice itself says.
type Guide struct {
	Key string
	// Title is the condition in a few words; Urgency is when it is urgent.
	Title, Urgency string
	// Means is what the key says happened, Did what Holdfast did about it, Next what it will do and when.
	Means, Did, Next string
	// Look is what a person should look at, most telling first.
	Look []string
	// Commands are what a person may run, in the order of their purposes.
	Commands []Command
	// OfAccount says that the notice is about the whole account and no group.
	OfAccount bool
	// OfHold says that the condition belongs to a hold and ends with the notice that the hold was released.
	OfHold bool
}

// Command is one line for a shell and what it is for.
type Command struct{ Purpose, Line string }

// Purposes of commands.
const (
	ToLook    = "look"
	ToMend    = "mend"
	ToHold    = "hold"
	ToRelease = "release"
	ToTune    = "tune"
	ToStop    = "switch off"
	ToStopAll = "all groups"
)

// Names are what a guide's commands are about, as they are called; commands quote them for a POSIX shell. StateTable is the name or
// ARN of the state table, "" if it is not known; then the shell must know it.
type Names struct{ Group, Region, Subject, StateTable string }

// Guides lists the guides of every page key of package guard and of the audit's, those of one matter together.
func Guides(n Names) []Guide {
	return slices.Concat(holdGuides(n), suspensionGuides(n), trustGuides(n), heartbeatGuides(n), repairGuides(n), settingGuides(n), memberGuides(n), auditGuides(n))
}

// GuideOf returns the guide of a notice. A key that this version does not know has one that says so.
func GuideOf(n Notice) Guide {
	names := Names{Group: n.Group, Region: n.Region, Subject: n.Subject, StateTable: n.StateTable}
	if n.Key == guard.PageHeld {
		return heldGuide(names, heldCause(n.Text))
	}
	for _, g := range Guides(names) {
		if g.Key == n.Key {
			return g
		}
	}
	return Guide{
		Key: n.Key, Title: "notice " + oneLine(n.Key), Urgency: "as the notice says",
		Means: "This version of the notifier does not know the key; the sweep that sent it is newer.",
		Did:   "See the text of the notice.", Next: "It looks again at the next sweep.",
		Look: []string{"the group's status, and the verdict lines in the sweep's log"}, Commands: names.commands(commands{tune: "page_repeat_seconds=3600"}),
	}
}

// commands are what one guide adds to the commands that all have.
type commands struct {
	// look and mend are whole lines, tune is keys with values, "" if no setting would help.
	look, mend []string
	tune       string
	ofHold     bool
}

// commands makes a guide's list: look, mend, then hold or release, tune, switch off for this group and for all.
func (n Names) commands(c commands) []Command {
	group := quote(n.Group)
	list := []Command{{ToLook, n.holdfast("status " + group)}}
	for _, line := range c.look {
		list = append(list, Command{ToLook, line})
	}
	for _, line := range c.mend {
		list = append(list, Command{ToMend, line})
	}
	if c.ofHold {
		list = append(list, Command{ToRelease, n.holdfast("release " + group + " --reason 'WHY'")})
	} else {
		list = append(list, Command{ToHold, n.holdfast("hold " + group + " --reason 'WHY'")})
	}
	if c.tune != "" {
		list = append(list, Command{ToTune, n.holdfast("tune " + group + " " + c.tune)})
	}
	return append(list,
		Command{ToStop, n.holdfast("tune " + group + " mode=off")},
		Command{ToStopAll, n.holdfast("pause")},
	)
}

// members shows what Auto Scaling thinks of each member, and what is suspended.
func (n Names) members() string {
	return n.aws("autoscaling describe-auto-scaling-groups --auto-scaling-group-names " + quote(n.Group) +
		" --query 'AutoScalingGroups[].[SuspendedProcesses,Instances[].[InstanceId,AvailabilityZone,LifecycleState,HealthStatus]]'")
}

// activities shows the newest launches and terminations, with their causes.
func (n Names) activities() string {
	return n.aws("autoscaling describe-scaling-activities --auto-scaling-group-name " + quote(n.Group) + " --max-items 20")
}

// targets shows which target groups the group is registered in.
func (n Names) targets() string {
	return n.aws("autoscaling describe-traffic-sources --auto-scaling-group-name " + quote(n.Group))
}

// alarms shows every alarm of the Region that is red.
func (n Names) alarms() string {
	return n.aws("cloudwatch describe-alarms --state-value ALARM")
}

// calls shows who made a call lately.
func (n Names) calls(event string) string {
	return n.aws("cloudtrail lookup-events --max-results 20 --lookup-attributes AttributeKey=EventName,AttributeValue=" + event)
}

// terminateOne replaces a member at once, past every limit.
func (n Names) terminateOne() string {
	return n.aws("autoscaling terminate-instance-in-auto-scaling-group --instance-id INSTANCE --no-should-decrement-desired-capacity")
}

// releaseForced has the members that are bad replaced one by one, within every limit.
func (n Names) releaseForced() string {
	return n.holdfast("release " + quote(n.Group) + " --force --reason 'WHY'")
}

// setHealthy takes back a mark that Auto Scaling has on a member.
func (n Names) setHealthy() string {
	return n.aws("autoscaling set-instance-health --instance-id INSTANCE --health-status Healthy")
}

// holdfast names the Region, because a command that acts in another one is worse than none, and the state table, which each of these
// commands reads or writes.
func (n Names) holdfast(rest string) string {
	where := "AWS_REGION=" + quote(n.Region) + " "
	if n.StateTable != "" {
		where += config.EnvStateTable + "=" + quote(n.StateTable) + " "
	}
	return where + "holdfast " + rest
}

func (n Names) aws(rest string) string {
	return "aws --region " + quote(n.Region) + " " + rest
}

// quote makes one word of a POSIX shell of a text; a plain word stays as it is.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 && text[0] != '-' {
		return text
	}
	if strings.ContainsFunc(text, acts) {
		return visibly(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// visibly quotes a text of which a part would not be seen as it is, byte by byte where needed.
// Source: POSIX.1-2024, "Dollar-Single-Quotes", which bash, zsh and ksh have had for long.
func visibly(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case acts(r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return "$'" + b.String() + "'"
}
