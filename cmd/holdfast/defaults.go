package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/tradeoff"
)

// playDefaults plays the game days with one policy key at a time set to other values, and writes what each costs.
func playDefaults(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("defaults", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 20, fmt.Sprintf("how many seeds to play, at most %d", seedsMax))
	first := fs.Uint64("first", 1, "the first seed")
	names := fs.String("keys", "", "comma-separated `names` of policy keys; all that can be tried without it")
	path := fs.String("markdown", "", "write the tables to this `file` and not to standard output")
	asked := progressFlag(fs)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	if err := refuseEmpty(fs); err != nil {
		return misused(fs, s, err.Error())
	}
	keys, err := picked("--keys", *names, tradeoff.Keys(), func(k tradeoff.Key) string { return k.Name })
	if err == nil {
		err = checkSeeds(*seeds, *first)
	}
	if err != nil {
		return misused(fs, s, err.Error())
	}
	files, err := openOutputs(s.out, []namedFile{{"--markdown", *path}}, nil)
	if err != nil {
		return failed("defaults", err, s)
	}
	defer files.close()
	defer collectSeldom()()
	bar := newProgressOf("defaults", s.err, *asked)
	tables, err := tradeoff.Run(ctx, tradeoff.Options{
		Keys: keys, Seeds: int(*seeds), First: *first, Progress: func(done, all int) { bar.show(collect.Progress{Done: done, Total: all, Stage: "values"}) },
	})
	bar.clear()
	if err != nil {
		return failed("defaults", err, s)
	}
	tell := func(w io.Writer) error {
		var page bytes.Buffer
		fmt.Fprintf(&page, defaultsHead, guard.Counted(int(*seeds), "seed"), *first, guard.Counted(len(gameday.Days()), "day"))
		if err := tradeoff.WriteMarkdown(&page, tables); err != nil {
			return err
		}
		_, err := w.Write(page.Bytes())
		return err
	}
	if *path == "" {
		err = tell(s.out)
	} else {
		err = files.write("--markdown", tell)
	}
	if err != nil {
		return failed("defaults", err, s)
	}
	return exitOK
}

// keyNames lists what --keys takes.
func keyNames() string {
	var keys []string
	for _, k := range tradeoff.Keys() {
		keys = append(keys, k.Name)
	}
	return named("Keys", keys)
}

// defaultsHead says what the tables are; it takes the seeds, the first seed and the days.
const defaultsHead = `<!-- Made by "make defaults": change it there. -->
# How the defaults sit

%s from %d on, %s, each played twice: on EC2 health checks, and beside the day's own. One key is set to another value in every group, everything else is built
in; the built-in value is bold. Figures are sums over all plays. One person is on call and does what the pages say, as docs/game-days.md tells.

- healthy lost: members terminated for a health reason although nothing was wrong with them
- capacity-minutes: desired less really serving members, summed over minutes; error-minutes: the share of failing requests, likewise
- repair: minutes and seconds from a break until a replacement serves; what was never repaired counts to the end of the day
- pages: urgent ones; false: those of them with nothing really the matter in the quarter of an hour before

Where rows are alike, nothing on these days hung on the difference: a grace below the group's own, or a limit above its ceiling, changes nothing. Why the built-in values
stay where another is better in a column is in decisions
[0016](decisions/0016-the-defaults-stay.md) and [0020](decisions/0020-zone-percent-stays.md).

`
