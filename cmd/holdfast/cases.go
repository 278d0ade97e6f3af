package main

import (
	"context"
	"fmt"
	"io"
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
	// aside says that only its numbers are told.
	aside bool
}

// promised are the ways to run an incident about which there is a promise: the promise is about the incident's own health checks.
func promised() []way { return []way{{label: "AWS alone"}, {label: "with Holdfast", guarded: true}} }

// provisioned are the ways to run a game day: Holdfast as it provisions groups, and beside ELB health checks.
func provisioned() []way {
	return []way{
		{label: "AWS alone"}, {label: "with Holdfast, EC2 health checks", guarded: true, checks: []string{"EC2"}},
		{label: "with Holdfast, ELB health checks", guarded: true, aside: true},
	}
}

// player runs an incident in one way.
type player func(context.Context, sim.Incident, way) (drive.Story, error)

// playAll runs an incident in each way, and then with AWS alone on the other kind of health checks. The first way is AWS alone.
func playAll(ctx context.Context, in sim.Incident, ways []way, play player) (picture.Case, error) {
	c := picture.Case{Name: in.Name, About: in.About}
	for i := 0; i < len(ways); i++ { // the first adds one
		w := ways[i]
		story, err := play(ctx, in, w)
		if err != nil {
			return c, fmt.Errorf("run %s, %s: %w", in.Name, w.label, err)
		}
		if i == 0 {
			ways = append(ways, way{checks: otherChecks(story.Checks), aside: true})
		}
		if !w.guarded {
			w.label = "AWS alone, " + story.Checks[len(story.Checks)-1] + " health checks"
		}
		c.Runs = append(c.Runs, picture.Run{Label: w.label, Story: story, Aside: w.aside})
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
	row := func(name string, cells []string) { // a builder never fails
		_, _ = fmt.Fprintf(table, "  %s\t%s\t\n", name, strings.Join(cells, "\t"))
	}
	var top, bottom []string
	for _, column := range picture.Columns() {
		top, bottom = append(top, column.Top), append(bottom, column.Bottom)
	}
	row("", top)
	row("", bottom)
	for _, r := range c.Runs {
		row(r.Label, r.Cells())
	}
	_ = table.Flush() // the same
	b.WriteString("\n")
	for _, line := range wrapped(picture.Explanation(), 100) {
		b.WriteString("  " + line + "\n")
	}
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

// openPage proves that the page of --html can be written; no path is no page.
func openPage(path string, s streams) (outputs, error) {
	return openOutputs(s.out, []namedFile{{"--html", path}}, nil)
}

// writePage puts the page of pictures in the place of what was in the file of --html.
func writePage(page outputs, in picture.Input) error {
	return page.write("--html", func(w io.Writer) error { return picture.Page(w, in) })
}
