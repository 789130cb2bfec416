package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// spec is how one value is formatted: Python's format specification, to which the flags of % are translated.
type spec struct {
	fill  string
	align byte // 0, '<', '>', '=' or '^'
	sign  byte // '-', '+' or ' '
	alt   bool
	noNeg bool // z: a zero has no sign
	width int
	group byte // 0, ',' or '_'
	prec  int  // -1 if not given
	typ   byte // 0 if not given
}

// maxWidth bounds width and precision.
const maxWidth = 1 << 20

// parseSpec reads a format specification.
func parseSpec(s string, typeName string) (spec, error) {
	sp := spec{fill: " ", sign: '-', prec: -1}
	rest := s
	filled := false
	if r, n := utf8.DecodeRuneInString(rest); n > 0 && len(rest) > n && strings.IndexByte("<>=^", rest[n]) >= 0 {
		filled = true
		sp.fill, sp.align, rest = string(r), rest[n], rest[n+1:]
	} else if rest != "" && strings.IndexByte("<>=^", rest[0]) >= 0 {
		sp.align, rest = rest[0], rest[1:]
	}
	if rest != "" && strings.IndexByte("+- ", rest[0]) >= 0 {
		sp.sign, rest = rest[0], rest[1:]
	}
	if strings.HasPrefix(rest, "z") {
		sp.noNeg, rest = true, rest[1:]
	}
	if strings.HasPrefix(rest, "#") {
		sp.alt, rest = true, rest[1:]
	}
	if strings.HasPrefix(rest, "0") {
		rest = rest[1:]
		if !filled {
			sp.fill = "0"
		}
		if sp.align == 0 {
			sp.align = '='
		}
	}
	var err error
	if sp.width, rest, err = leadingInt(rest, 0); err != nil {
		return sp, err
	}
	if rest != "" && (rest[0] == ',' || rest[0] == '_') {
		sp.group, rest = rest[0], rest[1:]
	}
	if strings.HasPrefix(rest, ".") {
		if sp.prec, rest, err = leadingInt(rest[1:], -1); err != nil {
			return sp, err
		}
		if sp.prec < 0 {
			return sp, ValueErrorf("Format specifier missing precision")
		}
	}
	if len(rest) > 1 {
		return sp, ValueErrorf("Invalid format specifier '%s' for object of type '%s'", s, typeName)
	}
	if rest != "" {
		sp.typ = rest[0]
	}
	return sp, nil
}

// leadingInt reads the digits that s starts with; none is none.
func leadingInt(s string, none int) (int, string, error) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return none, s, nil
	}
	i, err := strconv.Atoi(s[:n])
	if err != nil || i > maxWidth {
		return 0, "", ValueErrorf("Too many decimal digits in format string")
	}
	return i, s[n:], nil
}

// Format is Python's format(v, spec).
func Format(v Value, format string) (string, error) {
	if o, ok := v.(interface {
		Format(spec string) (string, error)
	}); ok {
		return o.Format(format)
	}
	if u, ok := v.(*Undefined); ok {
		return "", u.Use()
	}
	if format == "" {
		return ToStr(v)
	}
	sp, err := parseSpec(format, v.Type())
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case Float:
		return sp.float(float64(v), v.Type())
	case Bool, Int, *BigInt:
		return sp.number(v)
	}
	s, ok := Text(v)
	if !ok {
		return "", TypeErrorf("unsupported format string passed to %s.__format__", v.Type())
	}
	return sp.text(s, v.Type())
}

func (sp spec) number(v Value) (string, error) {
	switch sp.typ {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		f, _ := AsFloat(v)
		return sp.float(f, v.Type())
	case 'c':
		return sp.char(AsBig(v))
	case 0, 'd', 'n', 'b', 'o', 'x', 'X':
		if sp.noNeg {
			return "", ValueErrorf("Negative zero coercion (z) not allowed in integer format specifier")
		}
		if sp.prec >= 0 {
			return "", ValueErrorf("Precision not allowed in integer format specifier")
		}
		return sp.integer(AsBig(v)), nil
	}
	return "", ValueErrorf("Unknown format code '%c' for object of type '%s'", sp.typ, v.Type())
}

func (sp spec) char(n *big.Int) (string, error) {
	if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
		return "", Errorf("OverflowError", "%%c arg not in range(0x110000)")
	}
	if sp.align == 0 {
		sp.align = '<'
	}
	return sp.pad("", string(rune(n.Int64()))), nil
}

func (sp spec) integer(n *big.Int) string {
	base, prefix := 10, ""
	switch sp.typ {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(sp.typ)
	}
	digits := new(big.Int).Abs(n).Text(base)
	if sp.typ == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !sp.alt {
		prefix = ""
	}
	every := 3
	if base != 10 {
		every = 4
	}
	return sp.numeric(n.Sign() < 0, prefix, digits, "", every)
}

func (sp spec) float(f float64, typeName string) (string, error) {
	typ, prec := sp.typ, sp.prec
	neg := math.Signbit(f) && !math.IsNaN(f)
	f = math.Abs(f)
	suffix := ""
	switch typ {
	case 0, 'e', 'E', 'f', 'F', 'g', 'G', 'n':
	case '%':
		f, suffix, typ = f*100, "%", 'f'
	default:
		return "", ValueErrorf("Unknown format code '%c' for object of type '%s'", sp.typ, typeName)
	}
	if typ == 0 && prec < 0 {
		s := FloatText(f)
		whole, rest := splitFloat(s)
		return sp.numeric(neg, "", whole, rest, 3), nil
	}
	if prec < 0 {
		prec = 6
	}
	s := floatDigits(f, typ, prec, sp.alt)
	if typ == 'E' || typ == 'F' || typ == 'G' {
		s = strings.ToUpper(s)
	}
	whole, rest := splitFloat(s)
	if sp.noNeg && strings.Trim(whole+rest, "0.") == "" {
		neg = false
	}
	return sp.numeric(neg, "", whole, rest+suffix, 3), nil
}

func splitFloat(s string) (whole, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return s, ""
	}
	return s[:n], s[n:]
}

// floatDigits is f >= 0 as printf prints it.
func floatDigits(f float64, typ byte, prec int, alt bool) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return "inf"
	}
	switch typ {
	case 'e', 'E':
		s := strconv.FormatFloat(f, 'e', prec, 64)
		if alt && prec == 0 {
			s = strings.Replace(s, "e", ".e", 1)
		}
		return s
	case 'f', 'F':
		s := strconv.FormatFloat(f, 'f', prec, 64)
		if alt && prec == 0 {
			s += "."
		}
		return s
	}
	return general(f, typ, max(prec, 1), alt)
}

// general is %g: as many digits as prec says, in the shorter notation, without trailing zeros.
func general(f float64, typ byte, prec int, alt bool) string {
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	at := strings.IndexByte(s, 'e')
	exp, _ := strconv.Atoi(s[at+1:])
	limit := prec
	if typ == 0 { // as repr, with at least one digit after the point
		limit = prec - 1
	}
	if exp < -4 || exp >= limit && !(typ == 0 && exp < prec-1) {
		mantissa := s[:at]
		if !alt && strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + s[at:]
	}
	s = strconv.FormatFloat(f, 'f', max(prec-1-exp, 0), 64)
	if !alt && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if typ == 0 && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// numeric puts sign, prefix, grouped digits and the rest together and pads them.
func (sp spec) numeric(neg bool, prefix, digits, rest string, every int) string {
	sign := ""
	switch {
	case neg:
		sign = "-"
	case sp.sign != '-':
		sign = string(sp.sign)
	}
	if sp.align == 0 {
		sp.align = '>'
	}
	if sp.group != 0 {
		minDigits := 0
		if sp.align == '=' && sp.fill == "0" {
			minDigits = sp.width - len(sign) - len(prefix) - len(rest)
		}
		digits = groupDigits(digits, sp.group, every, minDigits)
	}
	return sp.pad(sign+prefix, digits+rest)
}

func groupDigits(digits string, sep byte, every, width int) string {
	out := ""
	for {
		n := min(every, len(digits))
		out = digits[len(digits)-n:] + out
		digits = digits[:len(digits)-n]
		if digits == "" {
			if len(out) >= width {
				return out
			}
			// zeros up to the width are grouped too
			missing := every - n
			for missing > 0 && len(out) < width {
				out = "0" + out
				missing--
			}
			if len(out) >= width {
				return out
			}
			digits = strings.Repeat("0", min(every, max(1, width-len(out)-1)))
		}
		out = string(sep) + out
	}
}

// pad brings head and body to the width.
func (sp spec) pad(head, body string) string {
	missing := sp.width - utf8.RuneCountInString(head) - utf8.RuneCountInString(body)
	if missing <= 0 {
		return head + body
	}
	switch sp.align {
	case '<':
		return head + body + strings.Repeat(sp.fill, missing)
	case '^':
		left := missing / 2
		return strings.Repeat(sp.fill, left) + head + body + strings.Repeat(sp.fill, missing-left)
	case '=':
		return head + strings.Repeat(sp.fill, missing) + body
	}
	return strings.Repeat(sp.fill, missing) + head + body
}

func (sp spec) text(s, typeName string) (string, error) {
	switch {
	case sp.typ != 0 && sp.typ != 's':
		return "", ValueErrorf("Unknown format code '%c' for object of type '%s'", sp.typ, typeName)
	case sp.sign != '-':
		return "", ValueErrorf("Sign not allowed in string format specifier")
	case sp.noNeg:
		return "", ValueErrorf("Negative zero coercion (z) not allowed in string format specifier")
	case sp.alt:
		return "", ValueErrorf("Alternate form (#) not allowed in string format specifier")
	case sp.align == '=' && sp.fill != "0":
		return "", ValueErrorf("'=' alignment not allowed in string format specifier")
	case sp.group != 0:
		return "", ValueErrorf("Cannot specify '%c' with 's'.", sp.group)
	}
	if sp.align == 0 || sp.align == '=' {
		sp.align = '<'
	}
	if sp.prec >= 0 {
		s = firstRunes(s, sp.prec)
	}
	return sp.pad("", s), nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
