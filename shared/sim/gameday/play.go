package gameday

import (
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Play plays a day with a guardian that has not been used before. An error says that the day or a look of the guardian could not be carried
// out, not that it ended badly.
func Play(day Day, g Guardian, seed uint64) (Measure, error) {
	m, err := play(day, g, seed)
	if err != nil {
		return Measure{}, fmt.Errorf("play %s with %s, seed %d: %w", day.Name, g.Name(), seed, err)
	}
	return m, nil
}

func play(day Day, g Guardian, seed uint64) (Measure, error) {
	cloud := sim.NewCloud(sim.Config{Seed: seed, Lean: true})
	course := day.course(seed)
	w := &World{Cloud: cloud, Day: day, Start: cloud.Now()}
	if course.Corrected > 0 {
		w.Corrected = w.Start.Add(course.Corrected)
	}
	if err := course.Setup(cloud); err != nil {
		return Measure{}, err
	}
	r := newRecorder(w)
	r.plan(course.Script)
	if err := g.Start(w); err != nil {
		return Measure{}, err
	}
	cloud.Advance(w.Start.Add(day.Duration))
	if r.err != nil {
		return Measure{}, fmt.Errorf("script: %w", r.err)
	}
	if checked, ok := g.(interface{ Err() error }); ok {
		if err := checked.Err(); err != nil {
			return Measure{}, err
		}
	}
	return r.measure(g)
}
