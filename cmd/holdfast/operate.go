package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// patience is how long one command may take.
const patience = 2 * time.Minute

// failed tells an error and what to do about it: 1 for an answer "no", 2 for everything else.
func failed(name string, err error, s streams) int {
	complain(s, "holdfast %s: %v\n", name, err)
	switch {
	case errors.Is(err, operator.ErrRefused):
		return exitNo
	case errors.Is(err, syscall.ECONNREFUSED):
		complain(s, "holdfast %s: nothing listens at %s: look at AWS_ENDPOINT_URL\n", name, endpoint(err))
	case errors.As(err, new(operator.UnsettledError)):
		complain(s, "holdfast %s: whether it was done cannot be told: repeat the command, that is safe\n", name)
	case errors.Is(err, fault.Throttled):
		complain(s, "holdfast %s: AWS refuses for the rate of calls, nothing was done: repeat the command in a while\n", name)
	}
	return exitUsage
}

// endpoint is where a call was sent.
func endpoint(err error) string {
	var call *url.Error
	if !errors.As(err, &call) {
		return "the endpoint"
	}
	u, parsed := url.Parse(call.URL)
	if parsed != nil {
		return call.URL
	}
	return u.Scheme + "://" + u.Host
}

// answered prints an answer: what was done on standard output, warnings on standard error.
func answered(name string, a operator.Answer, s streams) int {
	for _, line := range a.Lines {
		if _, err := fmt.Fprintln(s.out, line); err != nil {
			complain(s, "holdfast %s: write the answer: %v\n", name, err)
			return exitUsage
		}
	}
	for _, line := range a.Warnings {
		complain(s, "holdfast %s: warning: %s\n", name, line)
	}
	return exitOK
}

// question is one thing to ask a desk.
type question func(context.Context, *operator.Desk) (operator.Answer, error)

// carryOut makes a desk, asks it one thing and prints the answer.
func (u surroundings) carryOut(ctx context.Context, name string, s streams, ask question) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	desk, err := u.desk(ctx)
	if err != nil {
		return failed(name, err, s)
	}
	a, err := ask(ctx, desk)
	if err != nil {
		return failed(name, err, s)
	}
	return answered(name, a, s)
}

// status prints what the ledger and reads say: exit 1 when something could not be read.
func status(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("status", flag.ContinueOnError)
	u := tableFlag(fs)
	asJSON := fs.Bool("json", false, "write one JSON object instead of the table")
	groups, code, ok := parseMixed(fs, args, s)
	if !ok {
		return code
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	desk, err := u.desk(ctx)
	if err != nil {
		return failed("status", err, s)
	}
	found, err := desk.Status(ctx, groups)
	if err != nil {
		return failed("status", err, s)
	}
	if *asJSON {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(found)
	} else {
		err = found.WriteText(s.out)
	}
	switch {
	case err != nil:
		return failed("status", err, s)
	case found.Incomplete():
		return exitNo
	}
	return exitOK
}

// request is what hold and release share.
func request(ctx context.Context, kind string, args []string, s streams) int {
	fs := flag.NewFlagSet(kind, flag.ContinueOnError)
	u := surroundingFlags(fs)
	reason := fs.String("reason", "", "why, for those who read of it later; required")
	force := new(bool)
	if kind == guard.RequestRelease {
		fs.BoolVar(force, "force", false, "the members that are still bad keep nothing held: they are replaced one by one, within every limit")
	}
	rest, code, ok := parseMixed(fs, args, s)
	switch {
	case !ok:
		return code
	case len(rest) == 0:
		return misused(fs, s, "want one group")
	case len(rest) > 1:
		return misused(fs, s, unexpected(rest[1]))
	case *reason == "":
		return misused(fs, s, "want --reason TEXT")
	case strings.TrimSpace(*u.by) == "":
		return misused(fs, s, fmt.Sprintf("--by: %q, want who asks; leave it out for the preset", *u.by))
	}
	return u.carryOut(ctx, kind, s, func(ctx context.Context, d *operator.Desk) (operator.Answer, error) {
		switch {
		case kind == guard.RequestHold:
			return d.Hold(ctx, rest[0], *reason)
		case *force:
			return d.ReleaseForced(ctx, rest[0], *reason)
		}
		return d.Release(ctx, rest[0], *reason)
	})
}

func hold(ctx context.Context, args []string, s streams) int {
	return request(ctx, guard.RequestHold, args, s)
}

func release(ctx context.Context, args []string, s streams) int {
	return request(ctx, guard.RequestRelease, args, s)
}

// tune changes the operator's layer of a group's policy, or shows the policy in force.
func tune(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("tune", flag.ContinueOnError)
	u := surroundingFlags(fs)
	dryRun := fs.Bool("dry-run", false, "check and show everything, write nothing")
	rest, code, ok := parseMixed(fs, args, s)
	switch {
	case !ok:
		return code
	case len(rest) == 0:
		return misused(fs, s, "want a group")
	}
	settings, err := operator.ParseSettings(rest[1:])
	if err != nil {
		return misused(fs, s, err.Error())
	}
	return u.carryOut(ctx, "tune", s, func(ctx context.Context, d *operator.Desk) (operator.Answer, error) {
		return d.Tune(ctx, operator.Tuning{Group: rest[0], Settings: settings, DryRun: *dryRun})
	})
}

// tuneExamples are the settings that nobody guesses.
func tuneExamples() string {
	return "A value that is JSON is taken as it is, any other is a word. Keys and ranges: holdfast limits. Lists are written as JSON:\n  " +
		strings.Join(operator.Examples(), "\n  ")
}

// pause turns the one big switch to observe or off.
func pause(ctx context.Context, args []string, s streams) int {
	return turn{"pause", []string{guard.ModeObserve, guard.ModeOff}}.run(ctx, args, s)
}

// unpause turns the one big switch to act, or back from off to observe.
func unpause(ctx context.Context, args []string, s streams) int {
	return turn{"unpause", []string{guard.ModeAct, guard.ModeObserve}}.run(ctx, args, s)
}

// turn is a way to turn the switch, with the words that it may be given.
type turn struct {
	name  string
	words []string
}

func (t turn) run(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet(t.name, flag.ContinueOnError)
	u := surroundingFlags(fs)
	rest, code, ok := parseMixed(fs, args, s)
	switch {
	case !ok:
		return code
	case len(rest) > 1:
		return misused(fs, s, unexpected(rest[1]))
	case len(rest) == 1 && !slices.Contains(t.words, rest[0]):
		return misused(fs, s, unexpected(rest[0])+", want "+strings.Join(t.words, " or ")+", or neither")
	}
	return u.carryOut(ctx, t.name, s, func(ctx context.Context, d *operator.Desk) (operator.Answer, error) {
		switch {
		case len(rest) == 1:
			return d.SetMode(ctx, rest[0])
		case t.name == "pause":
			return d.Pause(ctx)
		}
		return d.SetMode(ctx, guard.ModeAct)
	})
}
