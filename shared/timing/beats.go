package timing

import (
	"fmt"
	"math"
	"time"
)

// Month is the month of the cost figures: 30 days.
const Month = 30 * 24 * time.Hour

// RuleBeats is the rule that a single lost beat must not make a member late.
const RuleBeats = "heartbeat-interval"

// Prices are those of DynamoDB in US dollars.
type Prices struct {
	// Writes and Reads are on demand, for a million request units.
	Writes, Reads float64
	// WriteUnit and ReadUnit are provisioned, for one capacity unit an hour.
	WriteUnit, ReadUnit float64
}

// ListPrices are those of us-east-1, standard table class, since November 2024. Other Regions have other prices.
// Source: DynamoDB pricing page, on-demand and provisioned capacity.
func ListPrices() Prices {
	return Prices{Writes: 0.625, Reads: 0.125, WriteUnit: 0.00065, ReadUnit: 0.00013}
}

// Utilization is the share of provisioned capacity that the fleet uses, as auto scaling aims at by default: beats come in no even flow,
// and a lost second must not throttle the next.
// Source: DynamoDB developer guide, "Managing throughput capacity automatically with DynamoDB auto scaling".
const Utilization = 0.7

// Beats are the heartbeats of a fleet. A row is below 1 KB: one write unit, and one read unit when it is read strongly consistent.
// Source: DynamoDB developer guide, "Read and write operations".
type Beats struct {
	// Instances is how many write, 0 or more; Every is the time between two beats of one, above 0.
	Instances int
	Every     time.Duration
	// Sweep is the time between two looks of the guard, above 0; each look reads every row once.
	Sweep time.Duration
	// Fresh and Stale are the policy's heartbeat_fresh_seconds and heartbeat_stale_seconds.
	Fresh, Stale time.Duration
}

// WritesPerSecond is what the table must take; 0 when it cannot be said. A new table on demand takes 4,000 at once.
// Source: DynamoDB developer guide, "On-demand capacity mode".
func (b Beats) WritesPerSecond() float64 { return perSecond(b.Instances, b.Every) }

// WritesPerMonth is the number of write units in 30 days.
func (b Beats) WritesPerMonth() float64 { return b.WritesPerSecond() * Month.Seconds() }

// ReadsPerMonth is the number of read units in 30 days.
func (b Beats) ReadsPerMonth() float64 { return perSecond(b.Instances, b.Sweep) * Month.Seconds() }

// WriteCost and ReadCost are US dollars for 30 days.
func (b Beats) WriteCost(p Prices) float64 { return b.WritesPerMonth() / 1e6 * p.Writes }

// ReadCost is what the guard's looks cost in US dollars for 30 days.
func (b Beats) ReadCost(p Prices) float64 { return b.ReadsPerMonth() / 1e6 * p.Reads }

// WriteUnits is the provisioned write capacity that the fleet needs, at least 1: writes a second over Utilization, rounded up.
func (b Beats) WriteUnits() int { return units(b.WritesPerSecond()) }

// ReadUnits is the provisioned read capacity, at least 1. A look reads all rows at once, out of the burst capacity that was not used since the
// look before. Source: DynamoDB developer guide, "Burst and adaptive capacity": up to 300 seconds of it are kept.
func (b Beats) ReadUnits() int { return units(perSecond(b.Instances, b.Sweep)) }

// ProvisionedCost is what both capacities cost in US dollars for 30 days.
func (b Beats) ProvisionedCost(p Prices) float64 {
	return (float64(b.WriteUnits())*p.WriteUnit + float64(b.ReadUnits())*p.ReadUnit) * Month.Hours()
}

// MissedUntilLate is how many beats in a row may be lost before a member is called late.
func (b Beats) MissedUntilLate() int { return missed(b.Fresh, b.Every) }

// MissedUntilStale is how many beats in a row may be lost before a member is called stale.
func (b Beats) MissedUntilStale() int { return missed(b.Stale, b.Every) }

// Problems lists what makes no sense, with its sum.
func (b Beats) Problems() []Problem {
	switch {
	case b.Instances < 0:
		return []Problem{{RuleNegative, "instances are below 0"}}
	case b.Every <= 0 || b.Sweep <= 0:
		return []Problem{{RuleNegative, fmt.Sprintf("beats every %s and looks every %s, want both above 0", b.Every, b.Sweep)}}
	case b.MissedUntilLate() < 1:
		return []Problem{{RuleBeats, fmt.Sprintf("a beat every %s is late after %s: one lost beat makes a member late, want 2 x %s = %s below heartbeat_fresh_seconds", b.Every, b.Fresh, b.Every, 2*b.Every)}}
	}
	return nil
}

func perSecond(n int, every time.Duration) float64 {
	if every <= 0 {
		return 0
	}
	return float64(n) / every.Seconds()
}

func units(perSecond float64) int {
	// A hair less, so that 70 writes a second at 0.7 are 100 units and not 101.
	return max(1, int(math.Ceil(perSecond/Utilization-1e-9)))
}

// missed counts the beats that may be lost: after n lost ones the next is due at (n+1) x every, which must be below the limit.
func missed(limit, every time.Duration) int {
	if every <= 0 || limit <= every {
		return 0
	}
	return int((limit-1)/every) - 1
}
