package season

import (
	"bytes"
	_ "embed" // for the template
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

//go:embed page.html
var pageText string

// barWidth is the width of a full bar in the units of the picture.
const barWidth = 72.0

// bar is one figure of a cell as the template draws it.
type bar struct {
	Class, Figure   string
	Y, Mid, Text    int
	Width, From, To float64
	CI              bool
}

type cellView struct {
	Own   bool
	Label string
	Bars  []bar
}

type dayView struct {
	Day
	Cells []cellView
}

type guardianView struct {
	Name string
	Own  bool
}

// HTML writes the table as a page of small pictures that needs nothing from anywhere else.
func (t Table) HTML(w io.Writer) error {
	tmpl, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	view := struct {
		Table
		Guardians []guardianView
		Days      []dayView
		Legend    []string
		Plays     string
		Counted   string
	}{Table: t, Legend: legend(), Plays: guard.Counted(int(t.Seeds), "play"), Counted: guard.Counted(int(t.Seeds), "seed")}
	for _, name := range t.Guardians {
		view.Guardians = append(view.Guardians, guardianView{name, own(name)})
	}
	for _, day := range t.Days {
		view.Days = append(view.Days, dayView{day, cellViews(day)})
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

// own says whether a column is Holdfast's.
func own(guardian string) bool { return strings.HasPrefix(guardian, guardianName) }

// figure is one of the four figures of a cell.
type figure struct {
	class, what string
	of          func(Cell) Mean
	none        func(Cell) bool
}

func figures() []figure {
	always := func(Cell) bool { return false }
	return []figure{
		{"lost", "healthy members lost", func(c Cell) Mean { return c.HealthyLost }, always},
		{"capacity", "capacity minutes lost", func(c Cell) Mean { return c.CapacityMinutes }, always},
		{"failing", "error minutes", func(c Cell) Mean { return c.ErrorMinutes }, always},
		{"repair", "minutes to repair, median", func(c Cell) Mean { return Mean{Value: float64(c.Repair.P50) / 60} }, func(c Cell) bool { return c.Repair.Broken == 0 }},
	}
}

// cellViews scales each figure to the worst guardian of the day.
func cellViews(day Day) []cellView {
	out := make([]cellView, len(day.Cells))
	for i, c := range day.Cells {
		out[i] = cellView{Own: own(c.Guardian), Label: day.Name + ", " + c.Guardian + ":"}
	}
	for n, f := range figures() {
		worst := 0.0
		for _, c := range day.Cells {
			worst = max(worst, f.of(c).Value)
		}
		for i, c := range day.Cells {
			m, y := f.of(c), n*16
			b := bar{Class: f.class, Y: y, Mid: y + 5, Text: y + 9, Figure: short(m.Value)}
			if f.none(c) {
				b.Figure = "–"
			}
			if worst > 0 {
				b.Width = tenth(barWidth * m.Value / worst)
				b.From, b.To = tenth(barWidth*max(0, m.Value-m.Half)/worst), tenth(min(barWidth, barWidth*(m.Value+m.Half)/worst))
				b.CI = m.Half > 0
			}
			out[i].Bars = append(out[i].Bars, b)
			out[i].Label += fmt.Sprintf(" %s %s;", f.what, m)
		}
	}
	for i := range out {
		out[i].Label = strings.TrimSuffix(out[i].Label, ";")
	}
	return out
}

// tenth keeps one decimal.
func tenth(x float64) float64 { return float64(int(x*10+0.5)) / 10 }

// short is a figure of at most four or five characters.
func short(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
