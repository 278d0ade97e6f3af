//go:build unix

package gameday_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Every day once per round; group-hours/s are simulated hours of one group, summed over the groups of the days.
func BenchmarkDays(b *testing.B) {
	for _, one := range []struct {
		name     string
		guardian func() gameday.Guardian
	}{
		{"nobody", func() gameday.Guardian { return gameday.Nobody("EC2", "ELB") }},
		{"holdfast", gameday.Holdfast},
	} {
		b.Run(one.name, func(b *testing.B) {
			hours, seed, before := 0.0, uint64(0), cpuTime(b)
			for b.Loop() {
				for _, day := range gameday.Days() {
					if _, err := gameday.Play(day, one.guardian(), seed); err != nil {
						b.Fatal(err)
					}
					hours += day.Duration.Hours() * float64(len(day.Groups))
				}
				seed++
			}
			b.ReportMetric(hours/b.Elapsed().Seconds(), "group-hours/s")
			b.ReportMetric(hours/(cpuTime(b)-before).Seconds(), "group-hours/cpu-s")
		})
	}
}
