package dynamo

import (
	"math/big"
	"strings"
)

// Limits of the number type. Source: AWS developer guide, "Supported data types and naming rules".
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

// parseNumber reads a DynamoDB number exactly. Binary floating point would turn limits such as 0.1 into others.
func parseNumber(text string) (*big.Rat, error) {
	if text == "" || strings.Trim(text, "+-.0123456789eE") != "" {
		return nil, validation("The parameter cannot be converted to a numeric value: %s", text)
	}
	// A huge exponent would make big.Rat allocate without bound, so it is looked at first.
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 5 {
		return nil, validation("Number overflow. Attempting to store a number with magnitude larger than supported range")
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, validation("The parameter cannot be converted to a numeric value: %s", text)
	}
	if err := checkNumber(r); err != nil {
		return nil, err
	}
	return r, nil
}

func checkNumber(r *big.Rat) error {
	digits, exponent := significant(r)
	switch {
	case len(digits) > maxDigits:
		return validation("Attempting to store more than 38 significant digits in a Number")
	case exponent > maxExponent:
		return validation("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case digits != "" && exponent < minExponent:
		return validation("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	}
	return nil
}

// formatNumber writes the one canonical form: no exponent, no leading or trailing zeros.
func formatNumber(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	text := strings.TrimRight(r.FloatString(decimals(r)), "0")
	return strings.TrimSuffix(text, ".")
}

// decimals returns how many digits after the point write r exactly; the inputs are decimals, so one exists.
func decimals(r *big.Rat) int {
	n, rest, count := new(big.Int).Set(r.Denom()), new(big.Int), 0
	ten := big.NewInt(10)
	for n.Cmp(big.NewInt(1)) != 0 {
		// Dividing the denominator by its common factor with ten takes at most one 2 and one 5 a step.
		n.Quo(n, rest.GCD(nil, nil, n, ten))
		count++
	}
	return count
}

// significant returns the significant digits and the exponent of the first of them (0 for 1 to 9.99).
func significant(r *big.Rat) (digits string, exponent int) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(formatNumber(r), "-"), ".")
	all := whole + fraction
	digits = strings.TrimLeft(all, "0")
	exponent = len(whole) - 1 - (len(all) - len(digits))
	return strings.TrimRight(digits, "0"), exponent
}

// numberSize is the documented estimate: one byte for two digits, one more, and one for a sign.
func numberSize(text string) int {
	r, err := parseNumber(text)
	if err != nil {
		return len(text)
	}
	digits, _ := significant(r)
	size := (len(digits)+1)/2 + 1
	if r.Sign() < 0 {
		size++
	}
	return size
}
