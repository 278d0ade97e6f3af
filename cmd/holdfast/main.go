// Command holdfast is the operator's command line. Each subcommand stands in a file of its own and in the table of commands; start
// reading there.
//
// Results go to standard output and everything else to standard error. The exit code is 0 when all is well, 1 when the answer is
// no, such as an unmet expectation, and 2 when the command or its input was wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
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
	// run gets the arguments after the name and returns the exit code.
	run func(ctx context.Context, args []string, s streams) int
}

// commands is the table of subcommands, in the order of the overview.
func commands() []command {
	return []command{
		{"replay", "[--quiet | --json] FILE...", "replay scenario files and check what they expect", replay},
		{"simulate", "[--seed N] [--html FILE] [--json] NAME | --list", "run an incident in the simulator, with and without Holdfast", simulate},
		{"demo", "[--seed N] [--html FILE]", "build the functions and play every incident through them on the embedded AWS", demo},
		{"status", "[--json] [GROUP...]", "show what each group is doing; writes nothing", status},
		{"hold", "GROUP --reason TEXT", "ask the next sweep to hold a group until a person releases it", hold},
		{"release", "GROUP --reason TEXT", "ask the next sweep to release a hold without waiting for quiet; skips no limit", release},
		{"tune", "[--dry-run] GROUP [KEY=VALUE...]", "change a group's policy, KEY= takes a key out; without settings show the policy in force", tune},
		{"pause", "[observe | off]", "turn the switch for all groups to observe (or off)", pause},
		{"unpause", "[act | observe]", "turn the switch for all groups to act (or observe)", unpause},
		{"timing", "[--interval 10s ...] [--heartbeats N --every 10s]", "the arithmetic of health-check thresholds and the cost of heartbeats", showTiming},
		{"limits", "", "print the table of policy keys in Markdown", limits},
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
		overview(s.out)
		return exitOK
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
		text += fmt.Sprintf("  holdfast %s %s\n        %s\n", c.name, c.usage, c.about)
	}
	_, _ = io.WriteString(w, text) // there is nobody left to tell
}

// complain writes to standard error; if even that fails there is nobody left to tell.
func complain(s streams, format string, args ...any) {
	_, _ = fmt.Fprintf(s.err, format, args...)
}

// parseFlags parses a subcommand's arguments; when it returns false the command ends with the code.
func parseFlags(fs *flag.FlagSet, args []string, s streams) (code int, ok bool) {
	fs.SetOutput(s.err)
	usage := ""
	for _, c := range commands() {
		if c.name == fs.Name() {
			usage = fmt.Sprintf("usage: holdfast %s %s\n", c.name, c.usage)
		}
	}
	fs.Usage = func() {
		complain(s, "%s", usage)
		fs.PrintDefaults()
	}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK, false
	case err != nil:
		return exitUsage, false
	}
	return exitOK, true
}
