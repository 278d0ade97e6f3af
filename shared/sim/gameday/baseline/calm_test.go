package baseline

import (
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// TestLooksThatAreLeftOutChangeNothing compares each day, event by event, with the same day with every look carried out.
func TestLooksThatAreLeftOutChangeNothing(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, day := range gameday.Days() {
		for _, build := range append(All(), ByAgent()...) {
			for seed := range seeds {
				play := func(never bool) []sim.Event {
					g := build()
					switch g := g.(type) {
					case *watch:
						g.calm.never = never
					case *oracle:
						g.calm.never = never
					default:
						return nil
					}
					c := sim.NewCloud(sim.Config{Seed: seed})
					w := &gameday.World{Cloud: c, Day: day, Start: c.Now()}
					if err := day.Incident(seed).Start(c); err != nil {
						t.Fatal(err)
					}
					if err := g.Start(w); err != nil {
						t.Fatal(err)
					}
					c.Advance(w.Start.Add(day.Duration))
					return c.Timeline()
				}
				if !slices.Equal(play(false), play(true)) {
					t.Errorf("%s, seed %d: %s plays another day when it leaves looks out", day.Name, seed, build().Name())
				}
			}
		}
	}
}
