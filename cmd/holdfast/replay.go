package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// replay runs scenario files: exit 0 when every expectation was met, 1 when one was not, 2 when a file is bad; then none is run.
func replay(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "write one JSON object a sweep instead of the story")
	quiet := fs.Bool("quiet", false, "write one line a file, and in full what was not met")
	files, code, ok := parseMixed(fs, args, s)
	switch {
	case !ok:
		return code
	case len(files) == 0:
		return misused(fs, s, "no file")
	case *quiet && *asJSON:
		return misused(fs, s, "--quiet beside --json, want one of the two")
	}
	scenarios, ok := loadAll(files, s)
	if !ok {
		return exitUsage
	}
	out := teller{w: s.out, quiet: *quiet, json: *asJSON}
	for _, sc := range scenarios {
		result, err := scenario.Replay(ctx, sc, scenario.Options{})
		if err != nil {
			complain(s, "holdfast replay: %s: %v\n", sc.File, err)
			return exitUsage
		}
		if err := out.tell(result); err != nil {
			complain(s, "holdfast replay: %v\n", err)
			return exitUsage
		}
	}
	if err := out.end(); err != nil {
		complain(s, "holdfast replay: %v\n", err)
		return exitUsage
	}
	if out.failures > 0 {
		return exitNo
	}
	return exitOK
}

// loadAll parses all files, so that every problem is told at once; a name must belong to one file.
func loadAll(files []string, s streams) ([]*scenario.Scenario, bool) {
	var out []*scenario.Scenario
	names := map[string]string{}
	good := true
	for _, file := range files {
		sc, err := scenario.Load(file)
		if err != nil {
			complainOf(s, err)
			good = false
			continue
		}
		if other, taken := names[sc.Name]; taken {
			complain(s, "holdfast replay: %s:1: name: %q is the name of %s too, want a unique one\n", file, sc.Name, other)
			good = false
		}
		names[sc.Name] = file
		out = append(out, sc)
	}
	return out, good
}

// complainOf tells every problem of a file on a line of its own.
func complainOf(s streams, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		complain(s, "holdfast replay: %s\n", line)
	}
}

// teller writes what came of each file, and of all.
type teller struct {
	w                      io.Writer
	quiet, json            bool
	files, looks, failures int
}

func (t *teller) tell(r scenario.Result) error {
	t.files++
	t.looks += len(r.Sweeps)
	t.failures += r.Failures()
	switch {
	case t.json:
		return r.WriteJSON(t.w)
	case t.quiet:
		return r.WriteVerdict(t.w)
	}
	if err := r.WriteStory(t.w); err != nil {
		return err
	}
	return t.line("")
}

// end writes the line about all files.
func (t *teller) end() error {
	if t.json {
		return nil
	}
	return t.line(guard.Counted(t.files, "file") + ", " + guard.Counted(t.looks, "look") + ", " + scenario.Met(t.failures))
}

func (t *teller) line(text string) error {
	if _, err := fmt.Fprintln(t.w, text); err != nil {
		return fmt.Errorf("write story: %w", err)
	}
	return nil
}
