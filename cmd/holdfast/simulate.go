package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// simulate runs an incident in the simulator, in memory: exit 0 when Holdfast kept its promise, 1 when it did not.
func simulate(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	list := fs.Bool("list", false, "list the incidents")
	seed := fs.Uint64("seed", 1, "seed of every random draw")
	html := fs.String("html", "", "write a page with pictures to this file")
	asJSON := fs.Bool("json", false, "write one JSON object instead of the story")
	name, code, ok := parseNamed(fs, args, s)
	if !ok {
		return code
	}
	if *list {
		return listIncidents(s)
	}
	in, found := sim.Find(name)
	if !found {
		complain(s, "holdfast simulate: %q is no incident; see holdfast simulate --list\n", name)
		return exitUsage
	}
	c, err := playAll(ctx, in, func(ctx context.Context, in sim.Incident, w way) (drive.Story, error) {
		r, err := drive.Run(ctx, in, drive.Options{Guarded: w.guarded, Seed: *seed, HealthChecks: w.checks})
		return r.Story, err
	})
	if err == nil && *html != "" {
		how := fmt.Sprintf("Run by holdfast simulate in memory, with the real runner and decision core, seed %d.", *seed)
		err = writePage(*html, picture.Input{How: how, Cases: []picture.Case{c}})
	}
	if err == nil {
		if *asJSON {
			err = writeCaseJSON(s.out, c)
		} else {
			err = writeCase(s.out, c)
		}
	}
	if err != nil {
		complain(s, "holdfast simulate: %v\n", err)
		return exitUsage
	}
	return judge(c, "simulate", s)
}

// parseNamed parses flags that may stand before or after one name.
func parseNamed(fs *flag.FlagSet, args []string, s streams) (name string, code int, ok bool) {
	if code, ok := parseFlags(fs, args, s); !ok {
		return "", code, false
	}
	if fs.NArg() == 0 {
		return "", exitOK, true
	}
	name = fs.Arg(0)
	if code, ok := parseFlags(fs, fs.Args()[1:], s); !ok {
		return "", code, false
	}
	if fs.NArg() > 0 {
		complain(s, "holdfast %s: one name only, not also %q\n", fs.Name(), fs.Arg(0))
		return "", exitUsage, false
	}
	return name, exitOK, true
}

func listIncidents(s streams) int {
	for _, in := range sim.Incidents() {
		_, _ = fmt.Fprintln(s.out, in.Name) // if nobody reads it, nobody is told
		for _, line := range wrapped(in.About, 100) {
			_, _ = fmt.Fprintln(s.out, "  "+line)
		}
	}
	return exitOK
}

// judge complains about every promise that a guarded run did not keep.
func judge(c picture.Case, command string, s streams) int {
	code := exitOK
	for _, r := range c.Runs {
		if !r.Story.Guarded {
			continue
		}
		for _, unmet := range r.Story.Unmet() {
			complain(s, "holdfast %s: %s, %s: %s\n", command, c.Name, r.Label, unmet)
			code = exitNo
		}
	}
	return code
}

// spanJSON is an interval in seconds from the beginning of the story.
type spanJSON struct {
	From float64 `json:"from_seconds"`
	To   float64 `json:"to_seconds"`
	Open bool    `json:"open,omitempty"`
}

// runJSON is one way in which an incident went.
type runJSON struct {
	Label               string         `json:"label"`
	Guarded             bool           `json:"guarded"`
	HealthChecks        []string       `json:"health_checks"`
	Headline            string         `json:"headline"`
	HealthyLost         int            `json:"healthy_lost"`
	BrokenReplaced      int            `json:"broken_replaced"`
	Broken              int            `json:"broken"`
	Marks               int            `json:"marks"`
	CapacityMinutesLost float64        `json:"capacity_minutes_lost"`
	ErrorMinutes        float64        `json:"error_minutes"`
	WorstServing        int            `json:"worst_serving"`
	Looks               int            `json:"looks"`
	Holds               []spanJSON     `json:"holds"`
	Unmet               []string       `json:"unmet"`
	Notices             []drive.Notice `json:"notices"`
	Timeline            []drive.Line   `json:"timeline"`
}

func writeCaseJSON(w io.Writer, c picture.Case) error {
	out := struct {
		Incident string    `json:"incident"`
		Seed     uint64    `json:"seed"`
		Start    time.Time `json:"start"`
		Runs     []runJSON `json:"runs"`
	}{Incident: c.Name, Seed: c.Runs[0].Story.Seed, Start: c.Runs[0].Story.Start}
	for _, r := range c.Runs {
		s := r.Story
		one := runJSON{
			Label: strings.TrimSpace(r.Label), Guarded: s.Guarded, HealthChecks: s.Checks, Headline: s.Headline(),
			HealthyLost: s.Stats.HealthyTerminated, BrokenReplaced: s.Stats.BrokenTerminated, Broken: len(s.Broken()), Marks: len(s.Marks()),
			CapacityMinutesLost: s.Stats.CapacityMinutesLost, ErrorMinutes: s.Stats.ErrorMinutes, WorstServing: s.Stats.WorstServing,
			Looks: s.Looks, Holds: []spanJSON{}, Unmet: []string{}, Notices: s.Notices, Timeline: s.Lines(),
		}
		for _, h := range s.Holds() {
			one.Holds = append(one.Holds, spanJSON{From: s.Since(h.From).Seconds(), To: s.Since(h.To).Seconds(), Open: h.Open})
		}
		if s.Guarded {
			one.Unmet = append(one.Unmet, s.Unmet()...)
		}
		out.Runs = append(out.Runs, one)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
