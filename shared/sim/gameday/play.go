package gameday

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Play plays a day with a guardian that has not been used before. An error says that the day or a look of the guardian could not be carried
// out, not that it ended badly.
func Play(day Day, g Guardian, seed uint64) (Measure, error) {
	cloud := sim.NewCloud(sim.Config{Seed: seed})
	w := &World{Cloud: cloud, Day: day, Start: cloud.Now()}
	if err := day.Incident(seed).Start(cloud); err != nil {
		return Measure{}, fmt.Errorf("play %s, seed %d: %w", day.Name, seed, err)
	}
	if err := g.Start(w); err != nil {
		return Measure{}, fmt.Errorf("play %s, seed %d: %w", day.Name, seed, err)
	}
	cloud.Advance(w.Start.Add(day.Duration))
	if checked, ok := g.(interface{ Err() error }); ok {
		if err := checked.Err(); err != nil {
			return Measure{}, fmt.Errorf("play %s with %s, seed %d: %w", day.Name, g.Name(), seed, err)
		}
	}
	for _, e := range cloud.Timeline() {
		if strings.HasPrefix(e.Text, "script:") {
			return Measure{}, fmt.Errorf("play %s, seed %d: %s", day.Name, seed, e.Text)
		}
	}
	return measure(w, g)
}
