package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of a scenario file.
type Problem struct {
	File string
	// Line counts from 1.
	Line int
	// Thing is the key or row at fault; Rule is what it breaks.
	Thing, Rule string
}

// String gives file:line: thing: rule.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Thing, p.Rule)
}

// Problems are all faults of one file, by line. It is the error of Parse and Load.
type Problems []Problem

// Error gives one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted orders the problems by line; what several groups share is told once.
func (ps Problems) sorted() Problems {
	var out Problems
	told := map[Problem]bool{}
	for _, p := range ps {
		if !told[p] {
			told[p] = true
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return out
}
