package picture

import (
	"bytes"
	_ "embed" // for the templates
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

//go:embed page.html
var pageText string

//go:embed chart.svg
var chartText string

// Case is one incident and the ways in which it was run.
type Case struct {
	Name  string
	About string
	Runs  []Run
}

// Run is one way in which an incident was run.
type Run struct {
	// Label names it, such as "with Holdfast".
	Label string
	Story drive.Story
	// Aside puts the picture behind a heading that opens it.
	Aside bool
}

// Input is what a page shows.
type Input struct {
	// How says in a sentence how the stories came about.
	How   string
	Cases []Case
}

// runView is a run as the page's template wants it.
type runView struct {
	Run
	ID       string
	Headline string
	Lines    []drive.Line
	Chart    template.HTML
	Checks   string
}

type caseView struct {
	Case
	ID   string
	Runs []runView
}

// Page writes a page of cases. An error is one of writing, or of a story without samples.
func Page(w io.Writer, in Input) error {
	tmpl, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	view := struct {
		How                   string
		Cases                 []caseView
		Columns               []Column
		Contrast, Explanation string
	}{How: in.How, Columns: Columns(), Contrast: Contrast(in.Cases), Explanation: Explanation()}
	for _, c := range in.Cases {
		cv := caseView{Case: c, ID: c.Name}
		for i, r := range c.Runs {
			id := fmt.Sprintf("%s-%d", c.Name, i+1)
			svg, err := SVG(id, r.Label, r.Story)
			if err != nil {
				return fmt.Errorf("draw %s, %s: %w", c.Name, r.Label, err)
			}
			cv.Runs = append(cv.Runs, runView{
				Run: r, ID: id, Headline: r.Story.Headline(), Lines: r.Story.Lines(), Checks: strings.Join(r.Story.Checks, " and "),
				Chart: template.HTML(svg), // made by a template of ours, which has escaped all that came from outside
			})
		}
		view.Cases = append(view.Cases, cv)
	}
	var page bytes.Buffer
	if err := tmpl.Execute(&page, view); err != nil {
		return fmt.Errorf("fill page: %w", err)
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// SVG draws one story. The id begins every id inside, so that several pictures may stand on one page.
func SVG(id, label string, s drive.Story) (string, error) {
	tmpl, err := template.New("chart").Parse(chartText)
	if err != nil {
		return "", fmt.Errorf("parse chart: %w", err)
	}
	c, err := newChart(id, label, s)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := tmpl.Execute(&out, c); err != nil {
		return "", fmt.Errorf("fill chart: %w", err)
	}
	return out.String(), nil
}

// Standalone draws one story as a file of its own, with the page's styles and a background, such as the pictures of the README.
func Standalone(id, label string, s drive.Story) (string, error) {
	svg, err := SVG(id, label, s)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(pageText, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	head, body, ok := strings.Cut(svg, ">\n")
	if !ok {
		return "", fmt.Errorf("draw %s: the picture has no first line", id)
	}
	return head + ">\n<style>" + style + "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: var(--panel)\"/>\n" + body, nil
}
