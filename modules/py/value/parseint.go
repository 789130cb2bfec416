package value

import "math/big"

// MostDigits is how many characters are read as a number, which may come from anybody: the time that it takes grows
// with their square, and a megabyte of digits would keep a processor busy for a minute.
const MostDigits = 1 << 16

// ParseInt reads a number of any size in a base, as big.Int.SetString does; longer ones than MostDigits are none.
func ParseInt(s string, base int) (*big.Int, bool) {
	if len(s) > MostDigits {
		return nil, false
	}
	return new(big.Int).SetString(s, base)
}
