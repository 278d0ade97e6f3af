// Package sample is what the tests of mutate change.
package sample

import "time"

// limit is a constant: its mutants are built one at a time.
const limit = 10

// Level is a number with a name.
type Level struct {
	High bool
	Of   int
}

// Judge has a condition, a bound, a number of a named type and a result.
func Judge(n int, age time.Duration) Level {
	if n >= limit && age < 2*time.Minute {
		return Level{High: true, Of: n}
	}
	out := Level{}
	out.Of = max(n, 1)
	return out
}
