package season

import (
	"slices"
	"strings"
)

// Verdict puts a guardian beside the others on one day.
type Verdict struct {
	Day  string `json:"day"`
	Cell Cell   `json:"-"`
	// Limit is the capacity that an oracle loses, and Over how much more the guardian loses, as a share; 0 without an oracle or a loss.
	Limit float64 `json:"limit_capacity_minutes"`
	Over  float64 `json:"over_limit"`
	// Better names the other guardians, oracles left out, that lose no more healthy members and clearly less capacity, or fewer healthy
	// members and not clearly more capacity. Clearly is: the confidence intervals do not touch.
	Better []string `json:"better"`
}

// Verdicts compares one guardian with the others, day by day. Guardians whose names begin with oracle are limits; limit is the name of
// the one to compare with. A guardian that is not in the table has no verdicts.
func (t Table) Verdicts(guardian, limit string) []Verdict {
	at := slices.Index(t.Guardians, guardian)
	if at < 0 {
		return nil
	}
	var out []Verdict
	for _, day := range t.Days {
		own := day.Cells[at]
		v := Verdict{Day: day.Name, Cell: own}
		for i, other := range day.Cells {
			switch {
			case t.Guardians[i] == limit:
				v.Limit = other.CapacityMinutes.Value
				if v.Limit > 0 {
					v.Over = own.CapacityMinutes.Value/v.Limit - 1
				}
			case i == at || strings.HasPrefix(t.Guardians[i], "oracle") || strings.HasPrefix(t.Guardians[i], guardian):
			case better(other, own):
				v.Better = append(v.Better, t.Guardians[i])
			}
		}
		out = append(out, v)
	}
	return out
}

// better says whether a beats b in healthy members and capacity together.
func better(a, b Cell) bool {
	if a.HealthyLost.below(b.HealthyLost) {
		return !b.CapacityMinutes.below(a.CapacityMinutes)
	}
	return !b.HealthyLost.below(a.HealthyLost) && a.HealthyLost.Value <= b.HealthyLost.Value && a.CapacityMinutes.below(b.CapacityMinutes)
}

// below says that a mean is clearly below another.
func (m Mean) below(other Mean) bool { return m.Value+m.Half < other.Value-other.Half }
