package methods

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/modules/py/codecs"
	"hark/modules/py/value"
)

func intMethod(name string) Func {
	switch name {
	case "bit_length", "bit_count":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			if _, err := args.BindMethod("int."+name, 0); err != nil {
				return nil, err
			}
			n := new(big.Int).Abs(value.AsBig(self))
			if name == "bit_length" {
				return value.Int(n.BitLen()), nil
			}
			return value.Int(strings.Count(n.Text(2), "1")), nil
		}
	case "conjugate":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("int.conjugate", 0)
			return value.NewInt(value.AsBig(self)), err
		}
	case "as_integer_ratio":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("int.as_integer_ratio", 0)
			return value.NewTuple(value.NewInt(value.AsBig(self)), value.Int(1)), err
		}
	}
	return nil
}

func intAttr(v value.Value, name string) (value.Value, bool) {
	switch name {
	case "real", "numerator":
		return value.NewInt(value.AsBig(v)), true
	case "imag":
		return value.Int(0), true
	case "denominator":
		return value.Int(1), true
	}
	return nil, false
}

func floatMethod(name string) Func {
	switch name {
	case "is_integer":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("float.is_integer", 0)
			f := float64(self.(value.Float))
			return value.Bool(f == math.Trunc(f) && !math.IsInf(f, 0)), err
		}
	case "conjugate":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("float.conjugate", 0)
			return self, err
		}
	case "hex":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("float.hex", 0)
			return value.Str(floatHex(float64(self.(value.Float)))), err
		}
	case "as_integer_ratio":
		return integerRatio
	}
	return nil
}

// floatHex is Python's float.hex: thirteen digits behind the point.
func floatHex(f float64) string {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		if f == 0 {
			return strings.Repeat("-", b2i(math.Signbit(f))) + "0x0.0p+0"
		}
		return value.FloatText(f)
	}
	s := strconv.FormatFloat(f, 'x', 13, 64)
	at := strings.IndexByte(s, 'p')
	exp, _ := strconv.Atoi(s[at+1:])
	return fmt.Sprintf("%sp%+d", s[:at], exp)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func integerRatio(self value.Value, args *value.Args) (value.Value, error) {
	if _, err := args.BindMethod("float.as_integer_ratio", 0); err != nil {
		return nil, err
	}
	f := float64(self.(value.Float))
	r := new(big.Rat).SetFloat64(f)
	if r == nil && math.IsNaN(f) {
		return nil, value.ValueErrorf("cannot convert NaN to integer ratio")
	}
	if r == nil {
		return nil, value.Errorf("OverflowError", "cannot convert Infinity to integer ratio")
	}
	return value.NewTuple(value.NewInt(r.Num()), value.NewInt(r.Denom())), nil
}

func floatAttr(v value.Float, name string) (value.Value, bool) {
	switch name {
	case "real":
		return v, true
	case "imag":
		return value.Float(0), true
	}
	return nil, false
}

func encode(_ value.Value, s string, args *value.Args) (value.Value, error) {
	name, errors, err := codec("encode", args)
	if err != nil {
		return nil, err
	}
	out, err := codecs.Encode(s, name)
	if err == nil {
		return value.Bytes(out), nil
	}
	out = nil
	for _, r := range s {
		raw, refused := codecs.Encode(string(r), name)
		if refused != nil {
			substitute, known := unencodable(r, errors)
			if !known {
				return nil, err
			}
			raw = []byte(substitute)
		}
		out = append(out, raw...)
	}
	return value.Bytes(out), nil
}

// unencodable returns what a handler of errors puts for a character that an encoding does not have; false if it puts
// nothing for any.
func unencodable(r rune, handler string) (string, bool) {
	switch handler {
	case "ignore":
		return "", true
	case "replace":
		return "?", true
	case "xmlcharrefreplace":
		return fmt.Sprintf("&#%d;", r), true
	case "backslashreplace":
		return value.ASCIIOnly(string(r)), true
	}
	return "", false
}

// codec reads the arguments of encode and decode.
func codec(method string, args *value.Args) (name, errors string, err error) {
	a, err := args.BindMethod(method, 0, "encoding", "errors")
	if err != nil {
		return "", "", err
	}
	name, errors = "utf-8", "strict"
	if a[0] != nil {
		if name, err = wantText(method, 1, a[0]); err != nil {
			return "", "", err
		}
	}
	if a[1] != nil {
		errors, err = wantText(method, 2, a[1])
	}
	return name, errors, err
}

func bytesMethod(name string) Func {
	switch name {
	case "decode":
		return decode
	case "hex":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("bytes.hex", 0)
			return value.Str(fmt.Sprintf("%x", []byte(self.(value.Bytes)))), err
		}
	}
	return nil
}

func decode(self value.Value, args *value.Args) (value.Value, error) {
	name, errors, err := codec("decode", args)
	if err != nil {
		return nil, err
	}
	raw := self.(value.Bytes)
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
	case "utf8":
		return decodeUTF8(raw, errors)
	case "ascii":
		return decodeASCII(raw, errors)
	case "latin1", "iso88591":
		runes := make([]rune, len(raw))
		for i, c := range raw {
			runes[i] = rune(c)
		}
		return value.Str(string(runes)), nil
	}
	text, err := codecs.Decode(raw, name)
	return value.Str(text), err
}

func decodeASCII(raw value.Bytes, errors string) (value.Value, error) {
	var b strings.Builder
	for i, c := range raw {
		switch {
		case c < utf8.RuneSelf:
			b.WriteByte(c)
		case errors == "ignore":
		case errors == "replace":
			b.WriteRune(utf8.RuneError)
		default:
			return nil, value.Errorf("UnicodeDecodeError",
				"'ascii' codec can't decode byte 0x%02x in position %d: ordinal not in range(128)", c, i)
		}
	}
	return value.Str(b.String()), nil
}

func decodeUTF8(raw value.Bytes, errors string) (value.Value, error) {
	switch {
	case utf8.Valid(raw):
		return value.Str(raw), nil
	case errors == "ignore":
		return value.Str(strings.ToValidUTF8(string(raw), "")), nil
	case errors == "replace":
		return value.Str(strings.ToValidUTF8(string(raw), "\ufffd")), nil
	}
	return nil, value.Errorf("UnicodeDecodeError", "'utf-8' codec can't decode bytes: invalid start byte")
}
