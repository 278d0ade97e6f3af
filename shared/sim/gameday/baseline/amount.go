package baseline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrAmount is the error of a number or percentage that cannot be read.
var ErrAmount = errors.New("want a whole number or a percentage, such as 3 or 40%")

// Amount is a number of machines or a percentage of a pool, written as Kubernetes writes it: "3" or "40%".
type Amount string

// Of is the amount for a pool of so many machines. Percentages round up or down as asked: the systems differ in that. It returns
// ErrAmount for anything else than a whole number or percentage that is not negative.
func (a Amount) Of(machines int, roundUp bool) (int, error) {
	text, percent := strings.CutSuffix(string(a), "%")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("read amount %q: %w", string(a), ErrAmount)
	}
	if !percent {
		return n, nil
	}
	if roundUp {
		return (n*machines + 99) / 100, nil
	}
	return n * machines / 100, nil
}
