package filters

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
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
		if u, ok := in.(*value.Undefined); ok {
			return nil, u.Use()
		}
		return nil, value.TypeErrorf("bad operand type for abs(): '%s'", in.Type())
	}
	return value.NewInt(new(big.Int).Abs(n)), nil
}

func round(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_round", value.Opt("precision", value.Int(0)), value.Opt("method", value.Str("common")))
	if err != nil {
		return nil, err
	}
	digits, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	method, _ := value.Text(a[1])
	f, ok := value.AsFloat(in)
	if !ok {
		if u, undefined := in.(*value.Undefined); undefined {
			return nil, u.Use()
		}
		return nil, value.TypeErrorf("type %s doesn't define __round__ method", in.Type())
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
	case "floor":
		return value.Float(math.Floor(f*scale) / scale), nil
	}
	return nil, filterArgError("method must be common, ceil or floor")
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

func fileSize(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_filesizeformat", value.Opt("binary", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	binary, err := truthArg(a[0])
	if err != nil {
		return nil, err
	}
	size, ok := value.AsFloat(in)
	if s, isText := value.Text(in); isText {
		size, ok = parseFloat(s)
	}
	if !ok {
		return nil, value.TypeErrorf("float() argument must be a string or a real number, not '%s'", in.Type())
	}
	base, units := 1000.0, []string{"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"}
	if binary {
		base, units = 1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	}
	switch {
	case size == 1:
		return value.Str("1 Byte"), nil
	case size < base:
		return value.Str(fmt.Sprintf("%d Bytes", int64(size))), nil
	}
	unit := base
	for i, name := range units {
		unit = math.Pow(base, float64(i+2))
		if size < unit || i == len(units)-1 {
			return value.Str(fmt.Sprintf("%.1f %s", base*size/unit, name)), nil
		}
	}
	return nil, value.ValueErrorf("no unit for %v", size)
}

func number(fn string, v value.Value) (float64, error) {
	f, ok := value.AsFloat(v)
	if !ok {
		if u, undefined := v.(*value.Undefined); undefined {
			return 0, u.Use()
		}
		return 0, value.Errorf("AnsibleFilterTypeError", "%s() can only be used on numbers: must be real number, not %s", fn, v.Type())
	}
	return f, nil
}

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
		return nil, value.ValueErrorf("math domain error")
	}
	switch base {
	case 10:
		return value.Float(math.Log10(x)), nil
	case math.E:
		return value.Float(math.Log(x)), nil
	case 1:
		return nil, value.Errorf("ZeroDivisionError", "float division by zero")
	}
	return value.Float(math.Log(x) / math.Log(base)), nil
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
	return value.Float(math.Pow(x, y)), nil
}

func root(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("inversepower", value.Opt("base", value.Int(2)))
	if err != nil {
		return nil, err
	}
	x, err := number("root", in)
	if err != nil {
		return nil, err
	}
	base, err := number("root", a[0])
	if err != nil {
		return nil, err
	}
	switch {
	case base == 0:
		return nil, value.Errorf("ZeroDivisionError", "float division by zero")
	case base == 2 && x < 0:
		return nil, value.ValueErrorf("math domain error")
	case base == 2:
		return value.Float(math.Sqrt(x)), nil
	}
	return value.Float(math.Pow(x, 1/base)), nil
}

// sizeUnits are the letters of sizes, the largest first.
var sizeUnits = []struct {
	letter string
	power  float64
}{{"Y", 1 << 80}, {"Z", 1 << 70}, {"E", 1 << 60}, {"P", 1 << 50}, {"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}}

func humanReadable(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("human_readable", value.Opt("isbits", value.Bool(false)), value.Opt("unit", none))
	if err != nil {
		return nil, err
	}
	isBits, err := truthArg(a[0])
	if err != nil {
		return nil, err
	}
	size, ok := value.AsFloat(in)
	if s, isText := value.Text(in); isText {
		size, ok = parseFloat(s)
	}
	if !ok {
		return nil, value.Errorf("AnsibleFilterTypeError", "human_readable() failed on bad input: could not convert %s to float", in.Type())
	}
	wanted, _ := value.Text(a[1])
	base := "Bytes"
	if isBits {
		base = "bits"
	}
	for _, u := range sizeUnits {
		fits := wanted == "" && (size >= u.power || u.letter == "B")
		if !fits && (wanted == "" || !strings.EqualFold(wanted[:1], u.letter)) {
			continue
		}
		suffix := base
		if u.letter != "B" {
			suffix = u.letter + base[:1]
		}
		return value.Str(fmt.Sprintf("%.2f %s", size/u.power, suffix)), nil
	}
	return value.Str(fmt.Sprintf("%.2f %s", size, base)), nil
}

var humanSize = regexp.MustCompile(`^\s*(\d*\.?\d*)\s*([A-Za-z]+)?`)

func humanToBytes(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("human_to_bytes", value.Opt("default_unit", none), value.Opt("isbits", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	isBits, err := truthArg(a[1])
	if err != nil {
		return nil, err
	}
	text, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) error {
		return value.Errorf("AnsibleFilterTypeError", "human_to_bytes() failed on bad input: "+format, args...)
	}
	m := humanSize.FindStringSubmatch(text)
	if m == nil || m[1] == "" {
		return nil, bad("human_to_bytes() can't interpret following string: %s", text)
	}
	n, numErr := strconv.ParseFloat(m[1], 64)
	if numErr != nil {
		return nil, bad("human_to_bytes() can't interpret following number: %s (original input string: %s)", m[1], text)
	}
	unit := m[2]
	if unit == "" {
		unit, _ = value.Text(a[0])
	}
	if unit == "" {
		return value.FloatToInt(pyRound(n, 0))
	}
	factor, problem := sizeFactor(unit, isBits)
	if problem != "" {
		return nil, bad("human_to_bytes() failed to convert %s. %s", text, problem)
	}
	return value.FloatToInt(pyRound(n*factor, 0))
}

// sizeFactor is what a unit stands for: K, KB, Kbyte; with bits Kb, Kbit.
func sizeFactor(unit string, isBits bool) (factor float64, problem string) {
	letter := strings.ToUpper(unit[:1])
	for _, u := range sizeUnits {
		if u.letter == letter {
			factor = u.power
		}
	}
	if factor == 0 {
		return 0, "The suffix must be one of Y, Z, E, P, T, G, M, K, B"
	}
	class, word := "B", "byte"
	if isBits {
		class, word = "b", "bit"
	}
	lower := strings.ToLower(unit)
	switch {
	case len(unit) == 1:
		return factor, ""
	case lower == word, lower == word+"s", lower == strings.ToLower(letter)+word, lower == strings.ToLower(letter)+word+"s":
		return factor, ""
	case len(unit) == 2 && unit[1:] == class:
		return factor, ""
	}
	return 0, fmt.Sprintf("Value is not a valid string (expect %s%s or %s%s)", letter, class, letter, word)
}
