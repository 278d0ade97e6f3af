package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/season"
)

// collectAt lets the heap grow to so many percent of what is in use before it is collected: many short plays leave much behind.
const collectAt = 800

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
	fs.Uint64Var(&f.seeds, "seeds", 1000, "how many seeds to play")
	fs.Uint64Var(&f.first, "first", 1, "the first seed")
	fs.StringVar(&f.days, "days", "", "comma-separated `names` of days; all without it")
	fs.StringVar(&f.guardians, "guardians", "", "comma-separated `names` of guardians; without it all but those that hear heartbeats alone")
	fs.StringVar(&f.asJSON, "json", "", "write the figures to this `file`")
	fs.StringVar(&f.asMarkdown, "markdown", "", "write the tables to this `file` and not to standard output")
	fs.StringVar(&f.page, "html", "", "write a page with small pictures to this `file`")
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	plan, err := f.plan()
	if err != nil {
		return misused(fs, s, err.Error())
	}
	files, err := f.open()
	if err != nil {
		complain(s, "holdfast gameday: %v\n", err)
		return exitUsage
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	table, err := season.Play(ctx, plan)
	if err == nil {
		err = files.write(table, s.out)
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
	if f.seeds < 1 {
		return p, fmt.Errorf("--seeds: 0, want 1 or more")
	}
	days, err := picked("--days", f.days, gameday.Days(), func(d gameday.Day) string { return d.Name })
	if err != nil {
		return p, err
	}
	p.Days = days
	usual := append([]func() gameday.Guardian{gameday.Holdfast, gameday.HoldfastOnCall, gameday.HoldfastBesideELB}, baseline.All()...)
	if f.guardians == "" {
		p.Guardians = usual
		return p, nil
	}
	everybody := append(slices.Clone(usual), baseline.ByAgent()...)
	p.Guardians, err = picked("--guardians", f.guardians, everybody, func(g func() gameday.Guardian) string { return g().Name() })
	return p, err
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

// seasonFile is one file of results, opened before anything is played, so that a path that cannot be written is told at once.
type seasonFile struct {
	file *os.File
	fill func(season.Table, io.Writer) error
}

type seasonFiles struct {
	all []seasonFile
	// said says that the tables go to a file.
	said bool
}

func (f seasonFlags) open() (seasonFiles, error) {
	var out seasonFiles
	for _, one := range []struct {
		path string
		fill func(season.Table, io.Writer) error
	}{{f.asMarkdown, season.Table.Markdown}, {f.asJSON, writeSeasonJSON}, {f.page, season.Table.HTML}} {
		if one.path == "" {
			continue
		}
		file, err := os.OpenFile(one.path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return out, fmt.Errorf("write results: %w", err)
		}
		out.all = append(out.all, seasonFile{file, one.fill})
	}
	out.said = f.asMarkdown != ""
	return out, nil
}

// write puts the results in the place of what was in the files.
func (f seasonFiles) write(t season.Table, out io.Writer) error {
	if !f.said {
		if err := t.Markdown(out); err != nil {
			return err
		}
	}
	for _, one := range f.all {
		var text bytes.Buffer
		if err := one.fill(t, &text); err != nil {
			return err
		}
		if info, err := one.file.Stat(); err == nil && info.Mode().IsRegular() {
			if err := one.file.Truncate(0); err != nil {
				return fmt.Errorf("write results: %w", err)
			}
		}
		if _, err := one.file.Write(text.Bytes()); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		if err := one.file.Close(); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

func writeSeasonJSON(t season.Table, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(t); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
