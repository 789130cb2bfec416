package filters

import (
	"math"
	"math/big"
)

// C's pow and log are right to the last digit nearly always, Go's are not; these are.

// precision is in bits, for results of 53.
const precision = 200

func newFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// atanhTimes2 is 2·atanh(z) by its series; |z| is a third at most.
func atanhTimes2(z *big.Float) *big.Float {
	square, power, sum := newFloat(0).Mul(z, z), newFloat(0).Set(z), newFloat(0)
	for n := 1; n < 2*precision; n += 2 {
		sum.Add(sum, newFloat(0).Quo(power, newFloat(float64(n))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, newFloat(2))
}

// lnBig is the natural logarithm of x > 0.
func lnBig(x float64) *big.Float {
	fraction, exponent := math.Frexp(x) // in [1/2, 1)
	if fraction < 0.75 {
		fraction, exponent = fraction*2, exponent-1
	}
	m := newFloat(fraction)
	z := newFloat(0).Quo(newFloat(0).Sub(m, newFloat(1)), newFloat(0).Add(m, newFloat(1)))
	ln2 := atanhTimes2(newFloat(0).Quo(newFloat(1), newFloat(3)))
	return ln2.Mul(ln2, newFloat(float64(exponent))).Add(ln2, atanhTimes2(z))
}

// ln is the natural logarithm of x > 0.
func ln(x float64) float64 {
	if math.IsInf(x, 1) || math.IsNaN(x) {
		return x
	}
	out, _ := lnBig(x).Float64()
	return out
}

// expBig is e to the x.
func expBig(x *big.Float) *big.Float {
	const halvings = 20
	ln2 := atanhTimes2(newFloat(0).Quo(newFloat(1), newFloat(3)))
	quotient, _ := newFloat(0).Quo(x, ln2).Float64()
	whole := math.Round(quotient)
	rest := newFloat(0).Sub(x, newFloat(0).Mul(ln2, newFloat(whole)))
	rest.SetMantExp(rest, -halvings)
	term, sum := newFloat(1), newFloat(1)
	for n := 1; n < 20; n++ {
		term.Mul(term, rest)
		term.Quo(term, newFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(whole))
}

// pow is x to the y as C's, also where the result is no number or too large.
func pow(x, y float64) float64 {
	rough := math.Pow(x, y)
	if rough == 0 || math.IsInf(rough, 0) || math.IsNaN(rough) || math.IsInf(y, 0) || x == 1 || x == -1 || y == 0 {
		return rough
	}
	out, _ := expBig(newFloat(0).Mul(lnBig(math.Abs(x)), newFloat(y))).Float64()
	return math.Copysign(out, rough)
}
