package baseline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

// noon is when most examples begin.
func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// long is how long a machine of an example has been what it is, unless it says otherwise.
const long = 24 * time.Hour

// some returns n machines of pool "web" in zone "a", all changed as asked, named by a letter and a number from 0.
func some(n int, letter string, change ...func(*baseline.Machine)) []baseline.Machine {
	out := make([]baseline.Machine, n)
	for i := range out {
		out[i] = baseline.Machine{
			ID: fmt.Sprintf("%s%d", letter, i), Pool: "web", Zone: "a", Readiness: baseline.Ready,
			Since: noon().Add(-long), Well: noon(), Created: noon().Add(-long),
		}
		for _, f := range change {
			f(&out[i])
		}
	}
	return out
}

// well returns n machines that are well.
func well(n int, change ...func(*baseline.Machine)) []baseline.Machine {
	return some(n, "w", change...)
}

// sick returns n machines that are not ready for long.
func sick(n int, change ...func(*baseline.Machine)) []baseline.Machine {
	return some(n, "s", slices.Concat([]func(*baseline.Machine){notReady, lastWell(long)}, change)...)
}

func notReady(m *baseline.Machine)  { m.Readiness = baseline.NotReady }
func unknown(m *baseline.Machine)   { m.Readiness = baseline.Unknown }
func unseen(m *baseline.Machine)    { m.Readiness, m.Well = baseline.Unseen, time.Time{} }
func leaving(m *baseline.Machine)   { m.Leaving = true }
func marked(m *baseline.Machine)    { m.Marked = true }
func excluded(m *baseline.Machine)  { m.Excluded = true }
func notRouted(m *baseline.Machine) { m.Routed = false }

func since(ago time.Duration) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Since = noon().Add(-ago) }
}

func lastWell(ago time.Duration) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Well = noon().Add(-ago) }
}

func created(ago time.Duration) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Created = noon().Add(-ago) }
}

func zone(name string) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Zone, m.ID = name, name+m.ID }
}

func pool(name string) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Pool, m.ID = name, name+m.ID }
}

func named(letter string) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.ID = letter + m.ID }
}

func succeeds(share float64) func(*baseline.Machine) {
	return func(m *baseline.Machine) { m.Routed, m.Success = true, share }
}

// at is an observation of machines, so long after noon.
func at(after time.Duration, machines ...[]baseline.Machine) baseline.Observation {
	return baseline.Observation{Now: noon().Add(after), Machines: slices.Concat(machines...)}
}

// replaced is the IDs that an action replaces, as text.
func replaced(a baseline.Action) string { return strings.Join(a.Replace, " ") }

// vector is one example of the card of a system. A skip says why our mapping cannot express it.
type vector struct {
	name string
	skip string
	show func(t *testing.T)
}

func run(t *testing.T, vectors []vector) {
	t.Helper()
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			if v.skip != "" {
				t.Skip(v.skip)
			}
			v.show(t)
		})
	}
}

// replaces checks how many machines an action replaces.
func replaces(t *testing.T, a baseline.Action, want int) {
	t.Helper()
	if len(a.Replace) != want {
		t.Errorf("replaces %q (why not: %q), want %d", replaced(a), a.Why, want)
	}
}
