package value

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// percent is Python's s % right.
func percent(left Value, s string, right Value) (Value, error) {
	f := formatter{s: s, args: []Value{right}, single: true}
	if t, ok := right.(*Tuple); ok {
		f.args, f.single = t.Items, false
	}
	if err := f.run(right); err != nil {
		return nil, err
	}
	if IsUnsafe(left) || HasUnsafe(right) {
		return UnsafeStr(f.out.String()), nil
	}
	return Str(f.out.String()), nil
}

type formatter struct {
	s      string
	at     int
	args   []Value
	used   int
	single bool // right is no tuple
	keyed  bool // a (key) was used
	out    strings.Builder
}

func (f *formatter) run(right Value) error {
	for {
		i := strings.IndexByte(f.s[f.at:], '%')
		if i < 0 {
			f.out.WriteString(f.s[f.at:])
			break
		}
		f.out.WriteString(f.s[f.at : f.at+i])
		f.at += i + 1
		if err := f.conversion(right); err != nil {
			return err
		}
		if f.out.Len() > MaxText {
			return TooLong()
		}
	}
	if f.used < len(f.args) && !f.keyed && !(f.single && subscriptable(right)) {
		return TypeErrorf("not all arguments converted during string formatting")
	}
	return nil
}

// subscriptable values may be left over, as Python takes them for mappings.
func subscriptable(v Value) bool {
	switch v.(type) {
	case *List, *Dict, Range, Bytes, Mapping:
		return true
	}
	return false
}

func (f *formatter) conversion(right Value) error {
	sp := spec{fill: " ", sign: '-', prec: -1, align: '>'}
	var arg Value
	if f.at < len(f.s) && f.s[f.at] == '(' {
		v, err := f.key(right)
		if err != nil {
			return err
		}
		arg = v
	}
	if err := f.flags(&sp); err != nil {
		return err
	}
	if f.at >= len(f.s) {
		return ValueErrorf("incomplete format")
	}
	r, n := utf8.DecodeRuneInString(f.s[f.at:])
	index := utf8.RuneCountInString(f.s[:f.at])
	f.at += n
	if r == '%' && f.s[f.at-2] == '%' && arg == nil {
		f.out.WriteByte('%')
		return nil
	}
	if r != '%' && !strings.ContainsRune("diouxXeEfFgGcrsa", r) {
		return ValueErrorf("unsupported format character '%c' (0x%x) at index %d", r, r, index)
	}
	if arg == nil {
		v, err := f.next()
		if err != nil {
			return err
		}
		arg = v
	}
	if r == '%' {
		f.out.WriteByte('%')
		return nil
	}
	s, err := sp.percent(byte(r), arg)
	f.out.WriteString(s)
	return err
}

func (f *formatter) next() (Value, error) {
	if f.used >= len(f.args) {
		return nil, TypeErrorf("not enough arguments for format string")
	}
	f.used++
	return f.args[f.used-1], nil
}

func (f *formatter) key(right Value) (Value, error) {
	depth, i := 1, f.at+1
	for i < len(f.s) && depth > 0 {
		switch f.s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		i++
	}
	if depth > 0 {
		return nil, ValueErrorf("incomplete format key")
	}
	key := f.s[f.at+1 : i-1]
	f.at = i
	if !subscriptable(right) {
		return nil, TypeErrorf("format requires a mapping")
	}
	f.keyed = true
	return Get(right, Str(key))
}

func (f *formatter) flags(sp *spec) error {
	zero := false
	for ; f.at < len(f.s); f.at++ {
		switch f.s[f.at] {
		case '-':
			sp.align = '<'
		case '+':
			sp.sign = '+'
		case ' ':
			if sp.sign != '+' {
				sp.sign = ' '
			}
		case '#':
			sp.alt = true
		case '0':
			zero = true
		default:
			return f.sizes(sp, zero)
		}
	}
	return nil
}

func (f *formatter) sizes(sp *spec, zero bool) error {
	width, err := f.size()
	if err != nil {
		return err
	}
	if width < 0 && width > -maxWidth {
		sp.align, width = '<', -width
	}
	sp.width = width
	if zero && sp.align != '<' {
		sp.align, sp.fill = '=', "0"
	}
	if f.at < len(f.s) && f.s[f.at] == '.' {
		f.at++
		if sp.prec, err = f.size(); err != nil {
			return err
		}
		sp.prec = max(sp.prec, 0)
	}
	for f.at < len(f.s) && strings.IndexByte("hlL", f.s[f.at]) >= 0 {
		f.at++
	}
	return nil
}

// size reads digits or takes the next argument for a star.
func (f *formatter) size() (int, error) {
	if f.at < len(f.s) && f.s[f.at] == '*' {
		f.at++
		v, err := f.next()
		if err != nil {
			return 0, err
		}
		n, ok := AsInt(v)
		if !ok {
			return 0, TypeErrorf("* wants int")
		}
		if n > maxWidth || n < -maxWidth {
			return 0, ValueErrorf("width too big")
		}
		return int(n), nil
	}
	n, rest, err := leadingInt(f.s[f.at:], 0)
	f.at = len(f.s) - len(rest)
	return n, err
}

func (sp spec) percent(typ byte, v Value) (string, error) {
	switch typ {
	case 's', 'r', 'a':
		s, err := ToStr(v)
		if typ != 's' {
			s, err = Repr(v)
		}
		if typ == 'a' {
			s = ASCIIOnly(s)
		}
		if err != nil {
			return "", err
		}
		if sp.prec >= 0 {
			s = firstRunes(s, sp.prec)
		}
		if sp.align == '=' {
			sp.align, sp.fill = '>', " "
		}
		return sp.pad("", s), nil
	case 'c':
		return sp.percentChar(v)
	case 'd', 'i', 'u':
		return sp.percentInt('d', v)
	case 'o', 'x', 'X':
		return sp.percentInt(typ, v)
	}
	f, ok := AsFloat(v)
	if !ok {
		if u, ok := v.(*Undefined); ok {
			return "", &UndefinedError{Msg: u.Msg, Undefined: u}
		}
		return "", TypeErrorf("must be real number, not %s", v.Type())
	}
	sp.typ = typ
	return sp.float(f, "float")
}

func (sp spec) percentInt(typ byte, v Value) (string, error) {
	n := AsBig(v)
	if f, ok := v.(Float); ok && typ == 'd' {
		i, err := FloatToInt(float64(f))
		if err != nil {
			return "", err
		}
		n = AsBig(i)
	}
	if n == nil {
		if u, ok := v.(*Undefined); ok {
			return "", &UndefinedError{Msg: u.Msg, Undefined: u}
		}
		want := "an integer"
		if typ == 'd' {
			want = "a real number"
		}
		return "", TypeErrorf("%%%c format: %s is required, not %s", typ, want, v.Type())
	}
	sp.typ = typ
	prec := sp.prec
	sp.prec = -1
	if prec <= 0 {
		return sp.integer(n), nil
	}
	digits := new(big.Int).Abs(n).Text(map[byte]int{'d': 10, 'o': 8, 'x': 16, 'X': 16}[typ])
	if typ == 'X' {
		digits = strings.ToUpper(digits)
	}
	prefix := ""
	if sp.alt && typ != 'd' {
		prefix = "0" + string(typ)
	}
	digits = strings.Repeat("0", max(0, prec-len(digits))) + digits
	return sp.numeric(n.Sign() < 0, prefix, digits, "", 3), nil
}

func (sp spec) percentChar(v Value) (string, error) {
	if s, ok := Text(v); ok && utf8.RuneCountInString(s) == 1 {
		return sp.pad("", s), nil
	}
	n, ok := AsInt(v)
	if !ok {
		return "", TypeErrorf("%%c requires int or char")
	}
	return sp.char(big.NewInt(n))
}

// ASCIIOnly writes what is beyond ASCII as the escapes of Python's string literals.
func ASCIIOnly(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
