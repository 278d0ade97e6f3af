package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// listed reads the file of survivors: one a line, its key, three dashes and the reason; lines that begin with # and empty lines are for people.
func listed(name string) (map[string]string, error) {
	out := map[string]string{}
	if name == "" {
		return out, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open survivors: %w", err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, " --- ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s line %d has no reason", name, n)
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("%s line %d is there twice", name, n)
		}
		out[key] = reason
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read survivors: %w", err)
	}
	return out, nil
}

// tally counts outcomes and holds them against the list.
type tally struct {
	reasons  map[string]string
	killed   int
	listed   int
	unlisted []mutant
	stale    []string
}

func (t *tally) add(o outcome) {
	_, known := t.reasons[o.mutant.key]
	switch {
	case o.killed && known:
		t.killed++
		t.stale = append(t.stale, o.mutant.key+" --- is killed by "+o.how)
	case o.killed:
		t.killed++
	case known:
		t.listed++
	default:
		t.unlisted = append(t.unlisted, o.mutant)
	}
}

// gone notes lines of the list that name no mutant of the package.
func (t *tally) gone(mutants []mutant) {
	there := map[string]bool{}
	for _, m := range mutants {
		there[m.key] = true
	}
	for key := range t.reasons {
		if !there[key] {
			t.stale = append(t.stale, key+" --- is no mutant any more")
		}
	}
}

func (t *tally) judged() int { return t.killed + t.listed + len(t.unlisted) }

// score is the part of the judged mutants that a test noticed, in percent; those that make no difference count as not noticed.
func (t *tally) score() float64 {
	if t.judged() == 0 {
		return 0
	}
	return 100 * float64(t.killed) / float64(t.judged())
}
