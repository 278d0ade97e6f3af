package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit/collect"
)

// barWidth is the bar's own width in columns.
const barWidth = 24

// progress is one line that shows how far a reading is; without a terminal it shows nothing.
type progress struct {
	w    io.Writer
	last string
}

func newProgress(w io.Writer) *progress {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return &progress{}
	}
	return &progress{w: w}
}

// show draws the line anew where it changed.
func (p *progress) show(at collect.Progress) {
	if p.w == nil || at.Total == 0 {
		return
	}
	full := at.Done * barWidth / at.Total
	line := fmt.Sprintf("[%s%s] %3d %% %s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), at.Done*100/at.Total, at.Stage)
	if line == p.last {
		return
	}
	p.last = line
	_, _ = fmt.Fprint(p.w, "\r"+line+"\x1b[K") // a bar that cannot be drawn stops nothing
}

// say shows what is being done without knowing how far it is.
func (p *progress) say(what string) {
	if p.w == nil {
		return
	}
	p.last = what
	_, _ = fmt.Fprint(p.w, "\r"+what+"\x1b[K") // a line that cannot be drawn stops nothing
}

// clear takes the line away.
func (p *progress) clear() {
	if p.w != nil && p.last != "" {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K") // the same
	}
}
