package gameday

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Dice draws what differs between two seeds of a day. The same seed, day and order of draws give the same values.
type Dice struct{ r *rand.Rand }

// NewDice returns the dice of a day for a seed.
func NewDice(day string, seed uint64) *Dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(day)) // a hash never fails
	return &Dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// Between draws a duration from low to high, both included, in whole seconds.
func (d *Dice) Between(low, high time.Duration) time.Duration {
	seconds := int64((high - low) / time.Second)
	return low + time.Duration(d.r.Int64N(seconds+1))*time.Second
}

// Number draws a whole number from low to high, both included.
func (d *Dice) Number(low, high int) int { return low + d.r.IntN(high-low+1) }

// Share draws a share from low to high, in whole percents.
func (d *Dice) Share(low, high int) float64 { return float64(d.Number(low, high)) / 100 }

// Some draws n different numbers from 0 to below, in the order of the draw.
func (d *Dice) Some(n, below int) []int { return d.r.Perm(below)[:min(n, below)] }
