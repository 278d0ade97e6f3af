package picture

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// Geometry of a chart, in units of its view box.
const (
	chartWidth  = 1000
	plotLeft    = 168
	plotRight   = 986
	laneHeight  = 20
	rowHeight   = 19
	bandHeight  = 13
	axisHeight  = 30
	loadHeight  = 56
	gap         = 10
	tickMinutes = 5
)

// chart is a story as shapes.
type chart struct {
	ID, Label, Desc   string
	Width, Height     int
	Left, Right       int
	PlotTop, PlotTall int // the part that the shades cross
	Shades            []shade
	Lanes             []lane
	Rows              []row
	Ticks             []tick
	Load              load
	AxisY, LaneHeight int
	HeldLabel         string

	story drive.Story
}

// shade is an interval that crosses all rows.
type shade struct {
	Class string
	X, W  string
	Title string
}

// lane is a line above the members: what failed, or what Holdfast did.
type lane struct {
	Label string
	Y     int
	Bars  []bar
	Signs []sign
}

// bar is an interval in a lane or a row.
type bar struct {
	Class string
	X, W  string
	Y, H  int
	Title string
	Text  string // written inside, when there is room
}

// sign is something that happened at one instant.
type sign struct {
	Class string
	X     string
	Y     int
	Path  string
	Title string
}

type row struct {
	Label string
	Y     int
	Bars  []bar
	Signs []sign
}

type tick struct {
	X     string
	Label string
}

// load is the share of failing requests over time.
type load struct {
	Y, Base, Height int
	Path            string
	Title           string
}

func newChart(id, label string, s drive.Story) (*chart, error) {
	if len(s.Samples) == 0 || !s.End.After(s.Start) {
		return nil, errors.New("a story without samples cannot be drawn")
	}
	c := &chart{
		ID: id, Label: label, Desc: s.Headline(), Width: chartWidth, Left: plotLeft, Right: plotRight, LaneHeight: laneHeight, story: s,
	}
	y := gap
	y = c.addCauses(y)
	if s.Guarded {
		y = c.addHoldfast(y)
	}
	c.PlotTop = gap
	y += gap / 2
	y = c.addRows(y)
	y = c.addLoad(y + gap)
	c.PlotTall = y - c.PlotTop
	c.AxisY = y
	c.addTicks()
	c.addShades()
	c.Height = y + axisHeight
	return c, nil
}

// x is where an instant stands.
func (c *chart) x(at time.Time) float64 {
	span := c.story.End.Sub(c.story.Start).Seconds()
	share := min(1, max(0, at.Sub(c.story.Start).Seconds()/span))
	return plotLeft + share*(plotRight-plotLeft)
}

// place writes a coordinate the same way on every machine.
func place(v float64) string { return fmt.Sprintf("%.1f", v) }

func (c *chart) interval(from, to time.Time) (x, w string) {
	return place(c.x(from)), place(max(1, c.x(to)-c.x(from)))
}

func (c *chart) clock(at time.Time) string { return drive.Clock(c.story.Since(at)) }

func (c *chart) fromTo(s drive.Span) string {
	if s.Open {
		return "from " + c.clock(s.From) + " on"
	}
	return c.clock(s.From) + " to " + c.clock(s.To)
}

// addCauses draws what failed: the dependency, and its alarm.
func (c *chart) addCauses(y int) int {
	for _, cause := range []struct {
		label, class, title string
		spans               []drive.Span
	}{
		{"dependency fails", "cause", "the dependency fails, ", c.story.Outages()},
		{"its alarm is red", "alarm", "the alarm is in ALARM, ", c.story.Red()},
	} {
		if len(cause.spans) == 0 {
			continue
		}
		l := lane{Label: cause.label, Y: y}
		for _, s := range cause.spans {
			x, w := c.interval(s.From, s.To)
			l.Bars = append(l.Bars, bar{Class: cause.class, X: x, W: w, Y: y + 3, H: laneHeight - 6, Title: cause.title + c.fromTo(s)})
		}
		c.Lanes = append(c.Lanes, l)
		y += laneHeight
	}
	return y
}

// addHoldfast draws the hold, the marks, the resumes and what people were told.
func (c *chart) addHoldfast(y int) int {
	l := lane{Label: "Holdfast", Y: y}
	for _, s := range c.story.Holds() {
		x, w := c.interval(s.From, s.To)
		l.Bars = append(l.Bars, bar{
			Class: "held", X: x, W: w, Y: y + 3, H: laneHeight - 6, Title: "holds the group still, " + c.fromTo(s), Text: "held " + c.fromTo(s),
		})
	}
	middle := y + laneHeight/2
	for _, e := range c.story.Timeline {
		switch {
		case drive.IsGuardMark(e):
			l.Signs = append(l.Signs, c.sign("mark", e.At, middle, "marks "+e.Instance))
		case e.Kind == sim.EventResume:
			l.Signs = append(l.Signs, c.sign("resume", e.At, middle, "resumes "+e.Text))
		}
	}
	for _, n := range c.story.Notices {
		class := "notice"
		if n.Urgent {
			class = "page"
		}
		l.Signs = append(l.Signs, c.sign(class, n.At, middle, n.Key+": "+n.Text))
	}
	c.Lanes = append(c.Lanes, l)
	return y + laneHeight
}

// sign makes a sign at an instant; its shape tells as much as its colour.
func (c *chart) sign(class string, at time.Time, y int, text string) sign {
	paths := map[string]string{
		"mark":      "M-6 -6H6L0 6Z",
		"resume":    "M-4 -6L6 0L-4 6Z",
		"notice":    "M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5Z",
		"page":      "M0 -7L7 0L0 7L-7 0Z",
		"break":     "M-5 -5L5 5M5 -5L-5 5",
		"terminate": "M-4 -5H4V5H-4Z",
		"awsmark":   "M0 -6V6M-5 0H5",
		"restore":   "M-6 6H6L0 -6Z",
	}
	return sign{Class: class, X: place(c.x(at)), Y: y, Path: paths[class], Title: c.clock(at) + " " + text}
}

func (c *chart) addTicks() {
	total := int(c.story.End.Sub(c.story.Start) / time.Minute)
	for m := 0; m <= total; m += tickMinutes {
		at := c.story.Start.Add(time.Duration(m) * time.Minute)
		label := fmt.Sprint(m)
		if m == 0 {
			label = "0 min"
		}
		c.Ticks = append(c.Ticks, tick{X: place(c.x(at)), Label: label})
	}
}

func (c *chart) addShades() {
	for _, s := range c.story.Holds() {
		x, w := c.interval(s.From, s.To)
		c.Shades = append(c.Shades, shade{Class: "held", X: x, W: w, Title: "held " + c.fromTo(s)})
	}
	for _, s := range c.story.Outages() {
		x, w := c.interval(s.From, s.To)
		c.Shades = append(c.Shades, shade{Class: "cause", X: x, W: w, Title: "the dependency fails, " + c.fromTo(s)})
	}
}

// addLoad draws the share of failing requests as an area.
func (c *chart) addLoad(y int) int {
	base := y + loadHeight
	path, worst := fmt.Sprintf("M%d %d", plotLeft, base), 0.0
	previous := base
	for _, s := range c.story.Samples {
		h := base - int(s.FailShare*loadHeight+0.5)
		if h != previous {
			path += fmt.Sprintf("H%sV%d", place(c.x(s.At)), h)
			previous = h
		}
		worst = max(worst, s.FailShare)
	}
	path += fmt.Sprintf("H%dV%dZ", plotRight, base)
	c.Load = load{
		Y: y, Base: base, Height: loadHeight, Path: path,
		Title: fmt.Sprintf("share of requests that fail: %.0f %% at worst, %.1f minutes in all", worst*100, c.story.Stats.ErrorMinutes),
	}
	return base + 4
}
