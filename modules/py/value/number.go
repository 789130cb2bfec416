package value

import (
	"math"
	"math/big"
)

// NewInt is n as Int if it fits, else as *BigInt.
func NewInt(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return &BigInt{n}
}

// AsInt returns an int or bool as int64; false for everything else and for ints that do not fit.
func AsInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case Int:
		return int64(v), true
	case Bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// AsBig returns an int or bool of any size; nil for everything else.
func AsBig(v Value) *big.Int {
	if b, ok := v.(*BigInt); ok {
		return b.Int
	}
	if i, ok := AsInt(v); ok {
		return big.NewInt(i)
	}
	return nil
}

// AsFloat gives any number as float64.
func AsFloat(v Value) (float64, bool) {
	switch v := v.(type) {
	case Float:
		return float64(v), true
	case *BigInt:
		f, _ := new(big.Float).SetInt(v.Int).Float64()
		return f, true
	}
	i, ok := AsInt(v)
	return float64(i), ok
}

// FloatToInt is Python's int(f).
func FloatToInt(f float64) (Value, error) {
	switch {
	case math.IsNaN(f):
		return nil, ValueErrorf("cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		return nil, Errorf("OverflowError", "cannot convert float infinity to integer")
	}
	f = math.Trunc(f)
	if math.Abs(f) < 1<<62 {
		return Int(int64(f)), nil
	}
	n, _ := big.NewFloat(f).Int(nil)
	return NewInt(n), nil
}

// maxBits bounds the ints that a template can make.
const maxBits = 1 << 22

// arith computes an operator on two numbers; false means that one of them is none.
func arith(op string, a, b Value) (Value, bool, error) {
	x, okX := AsInt(a)
	y, okY := AsInt(b)
	if okX && okY {
		if v, done, err := smallInts(op, x, y); done {
			return v, true, err
		}
	}
	_, floatA := a.(Float)
	_, floatB := b.(Float)
	if floatA || floatB {
		f, ok1 := AsFloat(a)
		g, ok2 := AsFloat(b)
		if !ok1 || !ok2 {
			return nil, false, nil
		}
		v, err := floats(op, f, g)
		return v, true, err
	}
	m, n := AsBig(a), AsBig(b)
	if m == nil || n == nil {
		return nil, false, nil
	}
	v, err := bigInts(op, m, n)
	return v, true, err
}

// smallInts does what does not overflow; done is false when big ints must do it.
func smallInts(op string, x, y int64) (v Value, done bool, err error) {
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return Int(s), true, nil
		}
	case "-":
		if s := x - y; (s < x) == (y > 0) {
			return Int(s), true, nil
		}
	case "*":
		if x == 0 || y == 0 {
			return Int(0), true, nil
		}
		if p := x * y; p/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64) {
			return Int(p), true, nil
		}
	case "/":
		if y == 0 {
			return nil, true, Errorf("ZeroDivisionError", "division by zero")
		}
		if abs(x) < 1<<53 && abs(y) < 1<<53 {
			return Float(float64(x) / float64(y)), true, nil
		}
	case "//", "%":
		if y == 0 || y == -1 {
			return nil, false, nil
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if op == "%" {
			return Int(r), true, nil
		}
		return Int(q), true, nil
	}
	return nil, false, nil
}

func abs(x int64) int64 {
	if x < 0 && x != math.MinInt64 {
		return -x
	}
	return x & math.MaxInt64
}

func bigInts(op string, m, n *big.Int) (Value, error) {
	switch op {
	case "+":
		return NewInt(new(big.Int).Add(m, n)), nil
	case "-":
		return NewInt(new(big.Int).Sub(m, n)), nil
	case "*":
		if m.BitLen()+n.BitLen() > maxBits {
			return nil, Errorf("OverflowError", "the product has too many digits")
		}
		return NewInt(new(big.Int).Mul(m, n)), nil
	case "/":
		if n.Sign() == 0 {
			return nil, Errorf("ZeroDivisionError", "division by zero")
		}
		f, _ := new(big.Rat).SetFrac(m, n).Float64()
		if math.IsInf(f, 0) {
			return nil, Errorf("OverflowError", "integer division result too large for a float")
		}
		return Float(f), nil
	case "//", "%":
		return bigDivMod(op, m, n)
	}
	return bigPow(m, n)
}

func bigDivMod(op string, m, n *big.Int) (Value, error) {
	if n.Sign() == 0 && op == "//" {
		return nil, Errorf("ZeroDivisionError", "integer division or modulo by zero")
	}
	if n.Sign() == 0 {
		return nil, Errorf("ZeroDivisionError", "integer modulo by zero")
	}
	q, r := new(big.Int).QuoRem(m, n, new(big.Int))
	if r.Sign() != 0 && r.Sign() != n.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, n)
	}
	if op == "%" {
		return NewInt(r), nil
	}
	return NewInt(q), nil
}

func bigPow(m, n *big.Int) (Value, error) {
	if n.Sign() < 0 {
		f, _ := new(big.Float).SetInt(m).Float64()
		g, _ := new(big.Float).SetInt(n).Float64()
		return floats("**", f, g)
	}
	if m.BitLen() > 1 && (!n.IsInt64() || n.Int64() > maxBits || int64(m.BitLen()-1)*n.Int64() > maxBits) {
		return nil, Errorf("OverflowError", "the power has too many digits")
	}
	if !n.IsInt64() { // -1, 0 or 1 to a huge power
		n = big.NewInt(int64(n.Bit(0)) + 2)
	}
	return NewInt(new(big.Int).Exp(m, n, nil)), nil
}

func floats(op string, f, g float64) (Value, error) {
	switch op {
	case "+":
		return Float(f + g), nil
	case "-":
		return Float(f - g), nil
	case "*":
		return Float(f * g), nil
	case "/":
		if g == 0 {
			return nil, Errorf("ZeroDivisionError", "float division by zero")
		}
		return Float(f / g), nil
	case "//", "%":
		return floatDivMod(op, f, g)
	}
	return floatPow(f, g)
}

func floatDivMod(op string, f, g float64) (Value, error) {
	if g == 0 && op == "//" {
		return nil, Errorf("ZeroDivisionError", "float floor division by zero")
	}
	if g == 0 {
		return nil, Errorf("ZeroDivisionError", "float modulo")
	}
	r := math.Mod(f, g)
	q := (f - r) / g
	if r != 0 && (r < 0) != (g < 0) {
		r += g
		q--
	}
	if op == "%" {
		if r == 0 {
			r = math.Copysign(0, g)
		}
		return Float(r), nil
	}
	if q == 0 {
		return Float(math.Copysign(0, f/g)), nil
	}
	whole := math.Floor(q)
	if q-whole > 0.5 {
		whole++
	}
	return Float(whole), nil
}

func floatPow(f, g float64) (Value, error) {
	if f == 0 && g < 0 {
		return nil, Errorf("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if f < 0 && g != math.Trunc(g) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
		return nil, ValueErrorf("a complex number as the result of a power is not supported")
	}
	r := Pow(f, g)
	if math.IsInf(r, 0) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
		return nil, Errorf("OverflowError", "(34, 'Numerical result out of range')")
	}
	return Float(r), nil
}
