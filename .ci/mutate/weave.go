package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// awakeVariable tells a woven test binary which mutant is awake; without it none is.
const awakeVariable = "HOLDFAST_MUTANT"

// switches is the file that the copy has more than the package: who is awake is asked once, when the program begins.
const switches = `package %s

import (
	mutantos "os"
	mutantconv "strconv"
)

var mutantAwake, _ = mutantconv.Atoi(mutantos.Getenv("` + awakeVariable + `"))

func mutantIs(id int) bool { return mutantAwake == id }

func mutantOr[T any](id int, other func() T, original T) T {
	if mutantAwake == id {
		return other()
	}
	return original
}
`

// piece is text that is put into a source.
type piece struct {
	at      int
	closing bool // closes what began before: goes first
	rank    int  // inner pieces close first, outer pieces open first
	text    string
}

// weave writes a source with all its woven mutants asleep. Every piece stands on a line that is there already, so that lines keep their numbers.
func weave(s source, mutants []mutant) []byte {
	var pieces []piece
	for i, m := range mutants {
		if m.file != filepath.Base(s.name) || !m.woven() {
			continue
		}
		pieces = append(pieces, piece{at: m.from, rank: i, text: m.before}, piece{at: m.to, closing: true, rank: -i, text: m.after})
	}
	sort.SliceStable(pieces, func(a, b int) bool {
		x, y := pieces[a], pieces[b]
		switch {
		case x.at != y.at:
			return x.at < y.at
		case x.closing != y.closing:
			return x.closing
		}
		return x.rank < y.rank
	})
	var out strings.Builder
	done := 0
	for _, p := range pieces {
		out.Write(s.text[done:p.at])
		out.WriteString(p.text)
		done = p.at
	}
	out.Write(s.text[done:])
	return []byte(out.String())
}

// overlay writes a copy of the package into a work folder and returns the file that tells go of it. With a mutant of a constant, that one is in the copy.
func overlay(work string, sources []source, mutants []mutant, only *mutant) (string, error) {
	replace := map[string]string{}
	write := func(original string, text []byte) error {
		place := filepath.Join(work, filepath.Base(original))
		replace[original] = place
		return os.WriteFile(place, text, 0o600)
	}
	for _, s := range sources {
		text := s.text
		switch {
		case only == nil:
			text = weave(s, mutants)
		case only.file == filepath.Base(s.name):
			text = []byte(string(s.text[:only.from]) + only.swap + string(s.text[only.to:]))
		}
		if err := write(s.name, text); err != nil {
			return "", fmt.Errorf("write copy: %w", err)
		}
	}
	if only == nil {
		name := filepath.Join(filepath.Dir(sources[0].name), "mutant_switches.go")
		if err := write(name, fmt.Appendf(nil, switches, sources[0].tree.Name.Name)); err != nil {
			return "", fmt.Errorf("write switches: %w", err)
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	return list, nil
}
