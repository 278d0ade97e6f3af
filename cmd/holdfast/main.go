// Command holdfast is the operator's command line. Each subcommand stands in a file of its own and in the table of commands; start
// reading there.
//
// Results go to standard output and everything else to standard error. The exit code is 0 when all is well, 1 when the answer is
// no, such as an unmet expectation, and 2 when the command or its input was wrong.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// Exit codes.
const (
	exitOK    = 0
	exitNo    = 1
	exitUsage = 2
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdout, os.Stderr}))
}

// streams are where a command writes.
type streams struct{ out, err io.Writer }

// command is one subcommand.
type command struct {
	name string
	// usage is what follows the name; about is one line for the overview.
	usage, about string
	// more is what --help says beside the flags; "" if nothing.
	more string
	// run gets the arguments after the name and returns the exit code.
	run func(ctx context.Context, args []string, s streams) int
}

// commands is the table of subcommands, in the order of the overview.
func commands() []command {
	return []command{
		{name: "replay", usage: "[--quiet | --json] FILE...", about: "replay scenario files and check what they expect", run: replay},
		{name: "simulate", usage: "[--seed N] [--html FILE] [--json] NAME | --list [--json]", about: "run an incident in the simulator, with and without Holdfast", more: "Names and what happens: holdfast simulate --list.", run: simulate},
		{name: "gameday", usage: "[--seeds N] [--first N] [--days A,B] [--guardians A,B] [--markdown FILE] [--json FILE] [--html FILE] [--progress]",
			about: "play failures of many kinds with Holdfast, the rules of other systems and the oracles, and write what each costs", more: seasonNames(), run: playGameDays},
		{name: "defaults", usage: "[--seeds N] [--first N] [--keys A,B] [--markdown FILE] [--progress]",
			about: "play the game days with one policy key at a time set to other values, and write what each costs", more: keyNames(), run: playDefaults},
		{name: "demo", usage: "[--seed N] [--html FILE]", about: "build the functions and play every incident through them on the embedded AWS",
			more: "It runs inside Holdfast's repository and needs Go there; no AWS account.", run: demo},
		{name: "status", usage: "[--json] [FLAG...] [GROUP...]", about: "show what each group is doing, who is suspected and why; writes nothing",
			more: "Without a GROUP it shows every guarded one. The exit code is 1 when something could not be read.\n\n" + needs(), run: status},
		{name: "hold", usage: "GROUP --reason TEXT [FLAG...]", about: "ask the next sweep to hold a group until a person releases it", more: needs(), run: hold},
		{name: "release", usage: "GROUP --reason TEXT [--force] [FLAG...]", about: "ask the next sweep to release a hold without waiting for quiet; skips no limit", more: needs(), run: release},
		{name: "tune", usage: "[--dry-run] [FLAG...] GROUP [KEY=VALUE...]", about: "change a group's policy, KEY= takes a key out; without settings show the policy in force",
			more: tuneExamples() + "\n\n" + needs(), run: tune},
		{name: "pause", usage: "[observe | off] [FLAG...]", about: "turn the switch for all groups to observe (or off)", more: needs(), run: pause},
		{name: "unpause", usage: "[act | observe] [FLAG...]", about: "turn the switch for all groups to act (or observe)", more: needs(), run: unpause},
		{name: "audit", usage: "[--from FILE | --template FILE...] [--group GROUP...] [--json] [--html FILE] [--sarif FILE] [--fail-on SEVERITY] [FLAG...]",
			about: "find the groups that would terminate themselves in a dependency's bad minute; changes nothing", more: auditExamples(), run: runAudit},
		{name: "timing", usage: "[--interval 10s] [--heartbeats N --every 10s] [FLAG...]", about: "the arithmetic of health-check thresholds and the cost of heartbeats",
			more: "The presets are examples of Holdfast's, not AWS's own defaults and not those of your target group.\nA duration is a number of seconds, or such as 10s or 1m30s. The exit code is 1 when the numbers break a rule.", run: showTiming},
		{name: "limits", about: "print the table of policy keys, with what is built in, in Markdown", run: limits},
		{name: "version", about: "tell which build this is", run: showVersion},
	}
}

// run picks the subcommand.
func run(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 {
		overview(s.err)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 2 && args[0] == "help" {
			return run(ctx, []string{args[1], "--help"}, s)
		}
		overview(s.out)
		return exitOK
	case "-version", "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], s)
		}
	}
	complain(s, "holdfast: unknown command %q\n\n", args[0])
	overview(s.err)
	return exitUsage
}

func overview(w io.Writer) {
	text := "usage: holdfast COMMAND ...\n\n"
	for _, c := range commands() {
		text += "  " + strings.TrimRight("holdfast "+c.name+" "+c.usage, " ") + "\n        " + c.about + "\n"
	}
	text += "\nWhat each takes, with all its flags: holdfast COMMAND --help\n" +
		"Exit code: 0 when all is well, 1 when the answer is no, 2 when the command or its input was wrong.\n"
	_, _ = io.WriteString(w, text) // there is nobody left to tell
}

// complain writes to standard error; if even that fails there is nobody left to tell.
func complain(s streams, format string, args ...any) {
	_, _ = fmt.Fprintf(s.err, format, args...)
}
