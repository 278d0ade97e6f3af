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
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// simulate runs an incident or a game day in the simulator, in memory: exit 0 when Holdfast kept its promise, 1 when it did not. About a
// game day there is no promise: the command gameday measures those.
func simulate(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	list := fs.Bool("list", false, "list the incidents")
	seed := fs.Uint64("seed", 1, "seed of every random draw")
	html := fs.String("html", "", "write a page with pictures to this file")
	asJSON := fs.Bool("json", false, "write JSON instead of the story: one object for each group")
	rest, code, ok := parseMixed(fs, args, s)
	empty := refuseEmpty(fs)
	switch {
	case !ok:
		return code
	case empty != nil:
		return misused(fs, s, empty.Error())
	case *list && len(rest) > 0:
		return misused(fs, s, unexpected(rest[0])+" beside --list")
	case *list && *html != "":
		return misused(fs, s, "--html beside --list, want one of the two")
	case *list:
		return listIncidents(*asJSON, s)
	case len(rest) == 0:
		return misused(fs, s, "want the name of an incident: "+incidentNames())
	case len(rest) > 1:
		return misused(fs, s, unexpected(rest[1]))
	}
	o := simulation{seed: *seed, html: *html, json: *asJSON}
	if in, found := sim.Find(rest[0]); found {
		return simulateAll(ctx, []sim.Incident{in}, o, s)
	}
	day, found := gameday.Find(rest[0])
	if !found {
		return misused(fs, s, fmt.Sprintf("%q is no incident, want %s", rest[0], incidentNames()))
	}
	o.free = true
	return simulateAll(ctx, day.Incidents(*seed), o, s)
}

// simulation is how to run an incident and what to write of it.
type simulation struct {
	seed uint64
	html string
	json bool
	// free says that nothing was promised.
	free bool
}

// simulateAll tells incidents, one after the other, and draws them on one page.
func simulateAll(ctx context.Context, all []sim.Incident, o simulation, s streams) int {
	page, err := openPage(o.html, s)
	if err != nil {
		complain(s, "holdfast simulate: %v\n", err)
		return exitUsage
	}
	defer page.close()
	cases, err := o.play(ctx, all)
	if err == nil {
		how := fmt.Sprintf("Run by holdfast simulate in memory, with the real runner and decision core, seed %d.", o.seed)
		err = writePage(page, picture.Input{How: how, Cases: cases})
	}
	for i := 0; i < len(cases) && err == nil; i++ {
		if o.json {
			err = writeCaseJSON(s.out, cases[i], o.free)
		} else {
			err = writeCase(s.out, cases[i])
		}
	}
	if err != nil {
		complain(s, "holdfast simulate: %v\n", err)
		return exitUsage
	}
	code := exitOK
	for _, c := range cases {
		if !o.free {
			code = max(code, judge(c, "simulate", s))
		}
	}
	return code
}

func (o simulation) play(ctx context.Context, all []sim.Incident) ([]picture.Case, error) {
	var cases []picture.Case
	for _, in := range all {
		ways := promised()
		if o.free {
			ways = provisioned()
		}
		c, err := playAll(ctx, in, ways, func(ctx context.Context, in sim.Incident, w way) (drive.Story, error) {
			r, err := drive.Run(ctx, in, drive.Options{Guarded: w.guarded, Seed: o.seed, HealthChecks: w.checks})
			return r.Story, err
		})
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func incidentNames() string {
	var names []string
	for _, in := range incidents() {
		names = append(names, in.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// incidents are the incidents of the simulator and after them the game days, as drawn for no seed in particular.
func incidents() []sim.Incident {
	all := sim.Incidents()
	for _, day := range gameday.Days() {
		all = append(all, day.Incident(0))
	}
	return all
}

// listIncidents tells which incidents there are.
func listIncidents(asJSON bool, s streams) int {
	type incidentJSON struct {
		Name  string `json:"name"`
		About string `json:"about"`
	}
	all := []incidentJSON{}
	text := ""
	for _, in := range incidents() {
		all = append(all, incidentJSON{in.Name, in.About})
		text += in.Name + "\n"
		for _, line := range wrapped(in.About, 100) {
			text += "  " + line + "\n"
		}
	}
	var err error
	if asJSON {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(all)
	} else {
		_, err = io.WriteString(s.out, text)
	}
	if err != nil {
		complain(s, "holdfast simulate: write the list: %v\n", err)
		return exitUsage
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

func writeCaseJSON(w io.Writer, c picture.Case, free bool) error {
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
		if s.Guarded && !free {
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
