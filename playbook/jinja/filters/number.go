package filters

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// numbers are Jinja's filters of numbers.
func numbers() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"int":   intFilter,
		"float": floatFilter,
	}
}

func intFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := value.Sealed(in); err != nil {
		return nil, err
	}
	a, err := args.Bind("do_int", value.Opt("default", value.Int(0)), value.Opt("base", value.Int(10)))
	if err != nil {
		return nil, err
	}
	switch v := in.(type) {
	case value.Int, *value.BigInt:
		return v, nil
	case value.Bool:
		n, _ := value.AsInt(v)
		return value.Int(n), nil
	case value.Float:
		n, err := value.FloatToInt(float64(v))
		if err != nil {
			return a[0], nil
		}
		return n, nil
	case *value.Undefined:
		return nil, &value.UndefinedError{Msg: v.Msg, Undefined: v}
	}
	s, ok := value.Text(in)
	base, isInt := value.AsInt(a[1])
	if !ok || !isInt {
		return a[0], nil
	}
	if n := parseInt(s, int(base)); n != nil {
		return n, nil
	}
	if f, ok := parseFloat(s); ok {
		if n, err := value.FloatToInt(f); err == nil {
			return n, nil
		}
	}
	return a[0], nil
}

// asciiDigits writes the decimal digits of all scripts as 0 to 9, as Python reads them.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			return r
		}
		for _, run := range unicode.Nd.R16 {
			if r >= rune(run.Lo) && r <= rune(run.Hi) {
				return '0' + (r-rune(run.Lo))%10
			}
		}
		for _, run := range unicode.Nd.R32 {
			if r >= rune(run.Lo) && r <= rune(run.Hi) {
				return '0' + (r-rune(run.Lo))%10
			}
		}
		return r
	}, s)
}

// parseInt is Python's int(s, base); nil if s is no int.
func parseInt(s string, base int) value.Value {
	s = asciiDigits(strings.TrimSpace(s))
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]
	if prefix != "" && len(s) > 2 && strings.EqualFold(s[:2], prefix) {
		s = strings.TrimPrefix(s[2:], "_")
	}
	if s == "" || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") || s[0] == '-' ||
		s[0] == '+' {
		return nil
	}
	if base != 0 && (base < 2 || base > 36) {
		return nil
	}
	if base != 0 {
		s = strings.ReplaceAll(s, "_", "")
	}
	if len(s) > value.MaxDigits && base&(base-1) != 0 || len(s) > 1<<16 {
		return nil
	}
	n, ok := new(big.Int).SetString(strings.TrimPrefix(sign, "+")+s, base)
	if !ok {
		return nil
	}
	return value.NewInt(n)
}

// parseFloat is Python's float(s).
func parseFloat(s string) (float64, bool) {
	s = asciiDigits(strings.TrimSpace(s))
	if strings.ContainsAny(s, "xXpP") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && f == 0 {
		return 0, false
	}
	return f, true
}

func floatFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := value.Sealed(in); err != nil {
		return nil, err
	}
	a, err := args.Bind("do_float", value.Opt("default", value.Float(0)))
	if err != nil {
		return nil, err
	}
	if u, ok := in.(*value.Undefined); ok {
		return nil, &value.UndefinedError{Msg: u.Msg, Undefined: u}
	}
	if f, ok := value.AsFloat(in); ok {
		return value.Float(f), nil
	}
	if s, ok := value.Text(in); ok {
		if f, ok := parseFloat(s); ok {
			return value.Float(f), nil
		}
	}
	return a[0], nil
}
