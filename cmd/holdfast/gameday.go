package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/season"
)

// Many short plays leave much behind and keep little, so memory is collected when it has grown by so many percent of what is in use and of a
// ballast that nobody touches: each time it has grown by about 150 MB, and some 270 MB are in use at most for 20 seeds.
const (
	collectAt    = 800
	ballastBytes = 16 << 20
)

// collectSeldom is for commands that play many days; what it returns ends it.
func collectSeldom() (restore func()) {
	before, ballast := debug.SetGCPercent(collectAt), make([]byte, ballastBytes)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(ballast)
	}
}

// seedsMax is how many seeds one run plays at most: a million of every game day are days of work and gigabytes of results.
const seedsMax = 1_000_000

// checkSeeds refuses too many seeds, and such a first one that the last would begin again at 0.
func checkSeeds(seeds, first uint64) error {
	if seeds < 1 || seeds > seedsMax {
		return fmt.Errorf("--seeds: %d, want 1 to %d", seeds, seedsMax)
	}
	if last := math.MaxUint64 - seeds; first > last {
		return fmt.Errorf("--first: %d, want at most %d for so many seeds", first, last)
	}
	return nil
}

// seasonFlags say what to play and where to write it.
type seasonFlags struct {
	seeds, first             uint64
	days, guardians          string
	asJSON, asMarkdown, page string
}

// playGameDays plays the game days with Holdfast, the rules of other systems and the oracles, and writes what they cost.
func playGameDays(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("gameday", flag.ContinueOnError)
	var f seasonFlags
	fs.Uint64Var(&f.seeds, "seeds", 1000, fmt.Sprintf("how many seeds to play, at most %d", seedsMax))
	fs.Uint64Var(&f.first, "first", 1, "the first seed")
	fs.StringVar(&f.days, "days", "", "comma-separated `names` of days; all without it")
	fs.StringVar(&f.guardians, "guardians", "", "comma-separated `names` of guardians; without it all but those that hear heartbeats alone")
	fs.StringVar(&f.asJSON, "json", "", "write the figures to this `file`")
	fs.StringVar(&f.asMarkdown, "markdown", "", "write the tables to this `file` and not to standard output")
	fs.StringVar(&f.page, "html", "", "write a page with small pictures to this `file`")
	asked := progressFlag(fs)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	err := refuseEmpty(fs)
	var plan season.Plan
	if err == nil {
		plan, err = f.plan()
	}
	if err != nil {
		return misused(fs, s, err.Error())
	}
	files, err := f.open(s)
	if err != nil {
		complain(s, "holdfast gameday: %v\n", err)
		return exitUsage
	}
	defer files.close()
	defer collectSeldom()()
	bar := newProgressOf("gameday", s.err, *asked)
	plan.Progress = func(done, all uint64) { bar.show(collect.Progress{Done: int(done), Total: int(all), Stage: "plays"}) }
	table, err := season.Play(ctx, plan)
	bar.clear()
	if err == nil {
		err = f.write(table, files, s.out)
	}
	if err != nil {
		complain(s, "holdfast gameday: %v\n", err)
		return exitUsage
	}
	return exitOK
}

// plan turns the flags into what is to be played.
func (f seasonFlags) plan() (season.Plan, error) {
	p := season.Plan{First: f.first, Seeds: f.seeds, Workers: runtime.GOMAXPROCS(0)}
	if err := checkSeeds(f.seeds, f.first); err != nil {
		return p, err
	}
	days, err := picked("--days", f.days, gameday.Days(), func(d gameday.Day) string { return d.Name })
	if err != nil {
		return p, err
	}
	p.Days = days
	usual := usualGuardians()
	if f.guardians == "" {
		p.Guardians = usual
		return p, nil
	}
	everybody := append(slices.Clone(usual), baseline.ByAgent()...)
	p.Guardians, err = picked("--guardians", f.guardians, everybody, func(g func() gameday.Guardian) string { return g().Name() })
	return p, err
}

// seasonNames lists what --days and --guardians take.
func seasonNames() string {
	var days, guardians []string
	for _, d := range gameday.Days() {
		days = append(days, d.Name)
	}
	for _, g := range append(usualGuardians(), baseline.ByAgent()...) {
		guardians = append(guardians, g().Name())
	}
	return named("Days", days) + "\n" + named("Guardians", guardians)
}

// named is a list of names under a head, in lines of 100 columns.
func named(head string, names []string) string {
	return head + ":\n  " + strings.Join(wrapped(strings.Join(names, ", "), 98), "\n  ")
}

func usualGuardians() []func() gameday.Guardian {
	return append([]func() gameday.Guardian{gameday.Holdfast, gameday.HoldfastUnattended, gameday.HoldfastBesideELB}, baseline.All()...)
}

// picked takes the items of the given names, in the order of all items; no names take all.
func picked[T any](what, names string, all []T, nameOf func(T) string) ([]T, error) {
	if names == "" {
		return all, nil
	}
	var known []string
	for _, item := range all {
		known = append(known, nameOf(item))
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s: %q, want of %s", what, name, strings.Join(known, ", "))
		}
	}
	var out []T
	for i, item := range all {
		if slices.Contains(wanted, known[i]) {
			out = append(out, item)
		}
	}
	return out, nil
}

// open proves that the files can be written before anything is played.
func (f seasonFlags) open(s streams) (outputs, error) {
	return openOutputs(s.out, []namedFile{{"--markdown", f.asMarkdown}, {"--json", f.asJSON}, {"--html", f.page}}, nil)
}

// write writes the tables, to standard output unless there is a file for them, and what else was asked for.
func (f seasonFlags) write(t season.Table, files outputs, out io.Writer) error {
	if f.asMarkdown == "" {
		if err := t.Markdown(out); err != nil {
			return err
		}
	}
	return errors.Join(
		files.write("--markdown", t.Markdown),
		files.write("--json", func(w io.Writer) error { return writeSeasonJSON(t, w) }),
		files.write("--html", t.HTML),
	)
}

func writeSeasonJSON(t season.Table, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(t); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
