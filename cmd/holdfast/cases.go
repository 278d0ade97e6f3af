package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// way is one way to run an incident.
type way struct {
	label   string
	guarded bool
	// checks are the group's health check types; nil keeps the incident's own.
	checks []string
}

// player runs an incident in one way.
type player func(context.Context, sim.Incident, way) (drive.Story, error)

// playAll runs an incident with AWS alone, with Holdfast, and with AWS alone on the other kind of health checks.
func playAll(ctx context.Context, in sim.Incident, play player) (picture.Case, error) {
	c := picture.Case{Name: in.Name, About: in.About}
	ways := []way{{label: "AWS alone"}, {label: "with Holdfast", guarded: true}}
	for i := 0; i < len(ways); i++ {
		w := ways[i]
		story, err := play(ctx, in, w)
		if err != nil {
			return c, fmt.Errorf("run %s, %s: %w", in.Name, w.label, err)
		}
		if i == 0 {
			ways = append(ways, way{checks: otherChecks(story.Checks)})
		}
		if !w.guarded {
			w.label = "AWS alone, " + story.Checks[len(story.Checks)-1] + " health checks"
		}
		c.Runs = append(c.Runs, picture.Run{Label: w.label, Story: story, Aside: w.checks != nil})
	}
	return c, nil
}

func otherChecks(checks []string) []string {
	if slices.Contains(checks, "ELB") {
		return []string{"EC2"}
	}
	return []string{"EC2", "ELB"}
}

// writeCase writes an incident for people: how it went in each way, then the numbers side by side.
func writeCase(w io.Writer, c picture.Case) error {
	var b strings.Builder
	b.WriteString(c.Name + "\n")
	for _, line := range wrapped(c.About, 100) {
		b.WriteString("  " + line + "\n")
	}
	for _, r := range c.Runs {
		fmt.Fprintf(&b, "\n  %s: %s\n", r.Label, r.Story.Headline())
		if r.Aside {
			continue
		}
		for _, l := range r.Story.Lines() {
			fmt.Fprintf(&b, "    %6s  %-13s  %s\n", l.Clock, l.Who, l.Text)
		}
	}
	b.WriteString("\n")
	table := tabwriter.NewWriter(&b, 0, 8, 3, ' ', tabwriter.AlignRight)
	row := func(cells ...any) { _, _ = fmt.Fprintf(table, "  %v\t%v\t%v\t%v\t%v\t\n", cells...) } // a builder never fails
	row("", "healthy lost", "broken replaced", "member minutes lost", "minutes of failing requests")
	for _, r := range c.Runs {
		s := r.Story.Stats
		row(r.Label, s.HealthyTerminated, fmt.Sprintf("%d of %d", s.BrokenTerminated, len(r.Story.Broken())),
			fmt.Sprintf("%.1f", s.CapacityMinutesLost), fmt.Sprintf("%.2f", s.ErrorMinutes))
	}
	_ = table.Flush() // the same
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write story: %w", err)
	}
	return nil
}

// wrapped breaks a text into lines of at most so many bytes, between words.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// writePage writes the page of pictures into a file.
func writePage(path string, in picture.Input) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if err := picture.Page(f, in); err != nil {
		_ = f.Close() // the other error is the reason
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
