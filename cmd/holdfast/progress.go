package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit/collect"
)

// barWidth is the bar's own width in columns.
const barWidth = 24

// plainStep is how many percent lie between two lines of progress where nothing can be drawn anew.
const plainStep = 10

// progress is one line that shows how far something is; without a terminal it shows nothing, or plain lines for who asks for them.
type progress struct {
	w    io.Writer
	last string
	// plain is what every plain line begins with; "" draws one line anew.
	plain string
}

// progressFlag adds the flag that asks for progress where no terminal is.
func progressFlag(fs *flag.FlagSet) *bool {
	return fs.Bool("progress", false, "tell on standard error how far it is, also where that is no terminal")
}

// newProgressOf is newProgress for a command with that flag.
func newProgressOf(command string, w io.Writer, asked bool) *progress {
	p := newProgress(w)
	if asked && p.w == nil {
		return &progress{w: w, plain: "holdfast " + command + ": "}
	}
	return p
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
	if p.plain != "" {
		p.line(at)
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

// line writes a plain line for every step.
func (p *progress) line(at collect.Progress) {
	line := fmt.Sprintf("%s%d %% %s\n", p.plain, at.Done*100/at.Total/plainStep*plainStep, at.Stage)
	if line == p.last {
		return
	}
	p.last = line
	_, _ = io.WriteString(p.w, line) // progress that cannot be told stops nothing
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
	if p.w != nil && p.plain == "" && p.last != "" {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K") // the same
	}
}
