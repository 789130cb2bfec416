package filters

import (
	"math"
	"math/big"
	"strconv"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// arithmetic are Jinja's filters that calculate.
func arithmetic() map[string]jinja.Filter {
	return map[string]jinja.Filter{"abs": abs, "round": round, "filesizeformat": fileSize}
}

// ansibleMaths are Ansible's filters that calculate.
func ansibleMaths() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"log":            logarithm,
		"pow":            power,
		"root":           root,
		"human_readable": humanReadable,
		"human_to_bytes": humanToBytes,
	}
}

func abs(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if f, ok := in.(value.Float); ok {
		return value.Float(math.Abs(float64(f))), nil
	}
	n := value.AsBig(in)
	if n == nil {
		return nil, value.TypeErrorf("bad operand type for abs(): '%s'", in.Type())
	}
	return value.NewInt(new(big.Int).Abs(n)), nil
}

func round(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_round", value.Opt("precision", value.Int(0)), value.Opt("method", value.Str("common")))
	if err != nil {
		return nil, err
	}
	method, _ := value.Text(a[1])
	if method != "common" && method != "ceil" && method != "floor" {
		return nil, filterArgError("method must be common, ceil or floor")
	}
	f, ok := value.AsFloat(in)
	if !ok {
		if u, undefined := in.(*value.Undefined); undefined {
			return nil, u.Use()
		}
		return nil, value.TypeErrorf("type %s doesn't define __round__ method", in.Type())
	}
	digits, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	scale := math.Pow(10, float64(digits))
	switch method {
	case "common":
		if n := value.AsBig(in); n != nil {
			if digits >= 0 {
				return in, nil
			}
			return value.FloatToInt(pyRound(f, digits))
		}
		return value.Float(pyRound(f, digits)), nil
	case "ceil":
		return value.Float(math.Ceil(f*scale) / scale), nil
	}
	return value.Float(math.Floor(f*scale) / scale), nil
}

// pyRound rounds half to even on the exact value, as Python's round does.
func pyRound(f float64, digits int) float64 {
	if digits >= 0 {
		out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', min(digits, 300), 64), 64)
		return out
	}
	scale := math.Pow(10, float64(-digits))
	return math.RoundToEven(f/scale) * scale
}

// number returns an operand of the filter fn.
func number(fn string, v value.Value) (float64, error) {
	f, ok := value.AsFloat(v)
	if !ok {
		return 0, value.Errorf("AnsibleFilterTypeError", "%s() can only be used on numbers: must be real number, not %s", fn,
			value.NativeType(v))
	}
	return f, nil
}

var errDomain = value.ValueErrorf("math domain error")

func logarithm(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("logarithm", value.Opt("base", value.Float(math.E)))
	if err != nil {
		return nil, err
	}
	x, err := number("log", in)
	if err != nil {
		return nil, err
	}
	base, err := number("log", a[0])
	if err != nil {
		return nil, err
	}
	if x <= 0 || base <= 0 {
		return nil, errDomain
	}
	switch base {
	case 10:
		return value.Float(math.Log10(x)), nil
	case 1:
		return nil, value.Errorf("ZeroDivisionError", "float division by zero")
	}
	return value.Float(value.Ln(x) / value.Ln(base)), nil
}

func power(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("power", value.Req("y"))
	if err != nil {
		return nil, err
	}
	x, err := number("pow", in)
	if err != nil {
		return nil, err
	}
	y, err := number("pow", a[0])
	if err != nil {
		return nil, err
	}
	return pythonPow(x, y)
}

// pythonPow is math.pow, which refuses results that are no number or too large.
func pythonPow(x, y float64) (value.Value, error) {
	out := value.Pow(x, y)
	switch {
	case x == 0 && y < 0, math.IsNaN(out) && !math.IsNaN(x) && !math.IsNaN(y):
		return nil, errDomain
	case math.IsInf(out, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		return nil, value.Errorf("OverflowError", "math range error")
	}
	return value.Float(out), nil
}

func root(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("inversepower", value.Opt("base", value.Int(2)))
	if err != nil {
		return nil, err
	}
	base, err := rootBase(a[0])
	if err != nil {
		return nil, err
	}
	x, err := number("root", in)
	switch {
	case err != nil:
		return nil, err
	case base == 0:
		return nil, value.Errorf("ZeroDivisionError", "float division by zero")
	case base == 2 && x >= 0:
		return value.Float(math.Sqrt(x)), nil
	}
	out, err := pythonPow(x, 1/base)
	if err == errDomain {
		err = value.Errorf("AnsibleFilterTypeError", "root() can only be used on numbers: %s", err)
	}
	return out, err
}

func rootBase(v value.Value) (float64, error) {
	base, ok := value.AsFloat(v)
	s, isText := value.Text(v)
	if isText {
		base, ok = parseFloat(s)
	}
	switch {
	case ok:
		return base, nil
	case isText:
		return 0, value.Errorf("AnsibleFilterTypeError",
			"root() can only be used on numbers: could not convert string to float: %s", value.ReprText(s))
	}
	return 0, value.Errorf("AnsibleFilterTypeError",
		"root() can only be used on numbers: float() argument must be a string or a real number, not '%s'", v.Type())
}
