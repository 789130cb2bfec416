package value

import (
	"math"
	"math/big"
)

// C's pow and log are right to the last digit nearly always, Go's are not; these are.

// precision is in bits, for results of 53.
const precision = 200

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// atanhTimes2 is 2·atanh(z) by its series; |z| is a third at most.
func atanhTimes2(z *big.Float) *big.Float {
	square, power, sum := bigFloat(0).Mul(z, z), bigFloat(0).Set(z), bigFloat(0)
	for n := 1; n < 2*precision; n += 2 {
		sum.Add(sum, bigFloat(0).Quo(power, bigFloat(float64(n))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, bigFloat(2))
}

// lnBig returns the natural logarithm of x > 0.
func lnBig(x float64) *big.Float {
	fraction, exponent := math.Frexp(x) // in [1/2, 1)
	if fraction < 0.75 {
		fraction, exponent = fraction*2, exponent-1
	}
	m := bigFloat(fraction)
	z := bigFloat(0).Quo(bigFloat(0).Sub(m, bigFloat(1)), bigFloat(0).Add(m, bigFloat(1)))
	ln2 := atanhTimes2(bigFloat(0).Quo(bigFloat(1), bigFloat(3)))
	return ln2.Mul(ln2, bigFloat(float64(exponent))).Add(ln2, atanhTimes2(z))
}

// Ln returns the natural logarithm of x > 0.
func Ln(x float64) float64 {
	if math.IsInf(x, 1) || math.IsNaN(x) {
		return x
	}
	out, _ := lnBig(x).Float64()
	return out
}

// expBig is e to the x.
func expBig(x *big.Float) *big.Float {
	const halvings = 20
	ln2 := atanhTimes2(bigFloat(0).Quo(bigFloat(1), bigFloat(3)))
	quotient, _ := bigFloat(0).Quo(x, ln2).Float64()
	whole := math.Round(quotient)
	rest := bigFloat(0).Sub(x, bigFloat(0).Mul(ln2, bigFloat(whole)))
	rest.SetMantExp(rest, -halvings)
	term, sum := bigFloat(1), bigFloat(1)
	for n := 1; n < 20; n++ {
		term.Mul(term, rest)
		term.Quo(term, bigFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(whole))
}

// Pow is x to the y as C's, also where the result is no number or too large.
func Pow(x, y float64) float64 {
	rough := math.Pow(x, y)
	if rough == 0 || math.IsInf(rough, 0) || math.IsNaN(rough) || math.IsInf(y, 0) || x == 1 || x == -1 || y == 0 {
		return rough
	}
	out, _ := expBig(bigFloat(0).Mul(lnBig(math.Abs(x)), bigFloat(y))).Float64()
	return math.Copysign(out, rough)
}
