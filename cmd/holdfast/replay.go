package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// replay runs scenario files: exit 0 when every expectation was met, 1 when one was not, 2 when a file is bad; then none is run.
func replay(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "write one JSON object a sweep instead of the story")
	if code, ok := parseFlags(fs, args, s); !ok {
		return code
	}
	if fs.NArg() == 0 {
		complain(s, "holdfast replay: no file\n")
		fs.Usage()
		return exitUsage
	}
	scenarios, ok := loadAll(fs.Args(), s)
	if !ok {
		return exitUsage
	}
	code := exitOK
	for i, sc := range scenarios {
		result, err := scenario.Replay(ctx, sc, scenario.Options{})
		if err != nil {
			complain(s, "holdfast replay: %s: %v\n", sc.File, err)
			return exitUsage
		}
		if result.Failed() {
			code = exitNo
		}
		if err := writeResult(result, *asJSON, i > 0, s.out); err != nil {
			complain(s, "holdfast replay: %v\n", err)
			return exitUsage
		}
	}
	return code
}

// loadAll parses all files, so that every problem is told at once; a name must belong to one file.
func loadAll(files []string, s streams) ([]*scenario.Scenario, bool) {
	var out []*scenario.Scenario
	names := map[string]string{}
	good := true
	for _, file := range files {
		sc, err := scenario.Load(file)
		if err != nil {
			complain(s, "%v\n", err)
			good = false
			continue
		}
		if other, taken := names[sc.Name]; taken {
			complain(s, "%s:1: name: %q is the name of %s too, want a unique one\n", file, sc.Name, other)
			good = false
		}
		names[sc.Name] = file
		out = append(out, sc)
	}
	return out, good
}

func writeResult(r scenario.Result, asJSON, again bool, w io.Writer) error {
	if asJSON {
		return r.WriteJSON(w)
	}
	if again {
		if _, err := fmt.Fprintln(w); err != nil {
			return fmt.Errorf("write story: %w", err)
		}
	}
	return r.WriteStory(w)
}
