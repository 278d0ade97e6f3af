package chaos

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice is one stream of random draws. Each purpose has its own stream, so that more draws for one do not change the luck of another.
type dice struct{ *rand.Rand }

func newDice(seed uint64, purpose string) dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // a hash never fails
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance is true with probability p, 0 to 1.
func (d dice) chance(p float64) bool { return d.Float64() < p }

// between draws from lo to hi, both included.
func (d dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// span draws a duration from lo up to hi, in milliseconds.
func (d dice) span(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(d.Int64N(int64((hi-lo)/time.Millisecond)+1))*time.Millisecond
}

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }
