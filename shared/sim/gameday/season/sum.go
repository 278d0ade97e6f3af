package season

import (
	"math"
	"slices"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Table is what a season came to.
type Table struct {
	FirstSeed uint64   `json:"first_seed"`
	Seeds     uint64   `json:"seeds"`
	Guardians []string `json:"guardians"`
	Days      []Day    `json:"days"`
}

// Day is one day of a table, with a cell for each guardian in the table's order.
type Day struct {
	Name         string  `json:"name"`
	About        string  `json:"about"`
	Groups       int     `json:"groups"`
	DurationHour float64 `json:"duration_hours"`
	Cells        []Cell  `json:"cells"`
}

// Cell is what one day cost with one guardian. What each figure counts is told by [gameday.Measure]; each is per played day.
type Cell struct {
	Guardian        string `json:"guardian"`
	HealthyLost     Mean   `json:"healthy_lost"`
	BrokenReplaced  Mean   `json:"broken_replaced"`
	CapacityMinutes Mean   `json:"capacity_minutes"`
	ErrorMinutes    Mean   `json:"error_minutes"`
	Pages           Mean   `json:"pages"`
	FalsePages      Mean   `json:"false_pages"`
	Notices         Mean   `json:"notices"`
	Calls           Mean   `json:"calls"`
	Repair          Repair `json:"repair"`
	// RunsWithLoss counts seeds with at least one healthy member lost, WorstLoss is the most that one lost.
	RunsWithLoss int `json:"runs_with_loss"`
	WorstLoss    int `json:"worst_loss"`
}

// Mean is the mean over the seeds; the 95 % confidence interval is Value ± Half, by the normal approximation: 1.96 standard errors, from
// the deviation within the sample. Half is 0 for a single seed, of which nothing is known.
type Mean struct {
	Value float64 `json:"mean"`
	Half  float64 `json:"ci95_half_width"`
}

// Repair sums up the times to repair of all seeds together. P50 and P95 are nearest-rank percentiles in seconds, 0 without any broken
// member; one that was never made good counts with the time to the end of its day.
type Repair struct {
	Broken     int `json:"broken"`
	Unrepaired int `json:"unrepaired"`
	P50        int `json:"p50_seconds"`
	P95        int `json:"p95_seconds"`
}

// sum adds up in the order of the seeds, so that the same measures give the same last digit.
func (p Plan) sum(played [][]gameday.Measure) Table {
	t := Table{FirstSeed: p.First, Seeds: p.Seeds}
	for _, guardian := range p.Guardians {
		t.Guardians = append(t.Guardians, guardian().Name())
	}
	for d, day := range p.Days {
		row := Day{Name: day.Name, About: day.About, Groups: len(day.Groups), DurationHour: day.Duration.Hours()}
		for g, name := range t.Guardians {
			measures := make([]gameday.Measure, 0, len(played))
			for _, seed := range played {
				measures = append(measures, seed[d*len(p.Guardians)+g])
			}
			row.Cells = append(row.Cells, cell(name, measures))
		}
		t.Days = append(t.Days, row)
	}
	return t
}

func cell(guardian string, measures []gameday.Measure) Cell {
	mean := func(of func(gameday.Measure) float64) Mean { return meanOf(measures, of) }
	c := Cell{
		Guardian:        guardian,
		HealthyLost:     mean(func(m gameday.Measure) float64 { return float64(m.HealthyLost) }),
		BrokenReplaced:  mean(func(m gameday.Measure) float64 { return float64(m.BrokenReplaced) }),
		CapacityMinutes: mean(func(m gameday.Measure) float64 { return m.CapacityMinutes }),
		ErrorMinutes:    mean(func(m gameday.Measure) float64 { return m.ErrorMinutes }),
		Pages:           mean(func(m gameday.Measure) float64 { return float64(m.Pages) }),
		FalsePages:      mean(func(m gameday.Measure) float64 { return float64(m.FalsePages) }),
		Notices:         mean(func(m gameday.Measure) float64 { return float64(m.Notices) }),
		Calls:           mean(func(m gameday.Measure) float64 { return float64(m.Calls) }),
	}
	var repairs []int32
	for _, m := range measures {
		c.Repair.Broken += int(m.Broken)
		c.Repair.Unrepaired += int(m.Unrepaired)
		repairs = append(repairs, m.Repairs[:m.Broken]...)
		if m.HealthyLost > 0 {
			c.RunsWithLoss++
		}
		c.WorstLoss = max(c.WorstLoss, int(m.HealthyLost))
	}
	slices.Sort(repairs)
	c.Repair.P50, c.Repair.P95 = rank(repairs, 50), rank(repairs, 95)
	return c
}

func meanOf(measures []gameday.Measure, of func(gameday.Measure) float64) Mean {
	n, sum := float64(len(measures)), 0.0
	for _, m := range measures {
		sum += of(m)
	}
	mean, squares := sum/n, 0.0
	for _, m := range measures {
		squares += (of(m) - mean) * (of(m) - mean)
	}
	half := 0.0
	if n > 1 {
		half = 1.96 * math.Sqrt(squares/(n-1)/n)
	}
	return Mean{Value: digits(mean), Half: digits(half)}
}

// digits keeps six decimals: what is beyond says more about the adding up than about the day.
func digits(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// rank is the nearest-rank percentile of sorted values.
func rank(sorted []int32, percent int) int {
	if len(sorted) == 0 {
		return 0
	}
	return int(sorted[(len(sorted)*percent+99)/100-1])
}
