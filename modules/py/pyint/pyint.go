// Package pyint reads whole numbers of any size, as Python has them, out of text that may come from anybody.
package pyint

import "math/big"

// MostDigits is how many characters are read as a number. The time that it takes grows with their square: a megabyte of digits would keep a
// processor busy for a minute.
const MostDigits = 1 << 16

// Parse reads a number in a base, as big.Int.SetString does; longer ones than MostDigits are none.
func Parse(s string, base int) (*big.Int, bool) {
	if len(s) > MostDigits {
		return nil, false
	}
	return new(big.Int).SetString(s, base)
}
