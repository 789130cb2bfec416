package inventory

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja/value"
)

// literal reads text as Python's ast.literal_eval does: numbers, text, lists, tuples, dicts, sets, True, False and None. Text that is no
// literal stays text. INI files give values so.
func literal(text string) value.Value {
	if plainText(text) {
		return value.YAMLStr(text)
	}
	p := &literalParser{s: strings.TrimLeft(text, " \t")}
	v, ok := p.expr(0)
	if !ok {
		return value.YAMLStr(text)
	}
	p.space()
	if p.at < len(p.s) && p.s[p.at] == ',' {
		if v, ok = p.bareTuple(v); !ok {
			return value.YAMLStr(text)
		}
	}
	if p.space(); p.at != len(p.s) {
		return value.YAMLStr(text)
	}
	return v
}

// plainText spares the common case the parser: words that begin with no literal.
func plainText(s string) bool {
	if s == "" {
		return true
	}
	switch c := s[0]; {
	case c == '\'' || c == '"' || c == '[' || c == '(' || c == '{' || c == '-' || c == '+' || c == '.' || c == ' ' || c == '\t' || c >= '0' && c <= '9':
		return false
	case strings.IndexByte("TFNrRbBuUs", c) >= 0: // True, False, None, prefixes of text, set()
		return false
	}
	return true
}

const maxLiteralDepth = 90

type literalParser struct {
	s  string
	at int
}

// space skips blanks and, at the end, a comment. Within brackets line ends are blanks too; a value has none.
func (p *literalParser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\f\n\r", p.s[p.at]) >= 0 {
		p.at++
	}
	if p.at < len(p.s) && p.s[p.at] == '#' {
		p.at = len(p.s)
	}
}

func (p *literalParser) peek() byte {
	p.space()
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *literalParser) expr(depth int) (value.Value, bool) {
	if depth > maxLiteralDepth {
		return nil, false
	}
	switch c := p.peek(); {
	case c == '[':
		p.at++
		items, _, ok := p.items(']', depth)
		return value.NewList(items...), ok
	case c == '(':
		p.at++
		items, comma, ok := p.items(')', depth)
		if ok && len(items) == 1 && !comma {
			return items[0], true
		}
		return value.NewTuple(items...), ok
	case c == '{':
		p.at++
		return p.braces(depth)
	case c == '-' || c == '+':
		p.at++
		return p.signed(c, depth)
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	}
	if v, ok := p.word(); ok {
		return v, true
	}
	return p.texts()
}

func (p *literalParser) signed(sign byte, depth int) (value.Value, bool) {
	v, ok := p.expr(depth + 1)
	if !ok {
		return nil, false
	}
	switch n := v.(type) {
	case value.Int:
		if sign == '-' {
			return -n, n != math.MinInt64
		}
		return n, true
	case *value.BigInt:
		if sign == '-' {
			return normal(new(big.Int).Neg(n.Int)), true
		}
		return n, true
	case value.Float:
		if sign == '-' {
			return -n, true
		}
		return n, true
	}
	return nil, false
}

func normal(n *big.Int) value.Value {
	if n.IsInt64() {
		return value.Int(n.Int64())
	}
	return &value.BigInt{Int: n}
}

func (p *literalParser) word() (value.Value, bool) {
	for _, w := range []struct {
		name string
		v    value.Value
	}{{"True", value.Bool(true)}, {"False", value.Bool(false)}, {"None", value.None{}}, {"set()", value.NewList()}} {
		rest, ok := strings.CutPrefix(p.s[p.at:], w.name)
		if ok && (rest == "" || !wordByte(rest[0])) {
			p.at += len(w.name)
			return w.v, true
		}
	}
	return nil, false
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func (p *literalParser) number() (value.Value, bool) {
	start := p.at
	for p.at < len(p.s) && (wordByte(p.s[p.at]) || p.s[p.at] == '.' || (p.s[p.at] == '-' || p.s[p.at] == '+') && exponent(p.s[start:p.at])) {
		p.at++
	}
	return pythonNumber(p.s[start:p.at])
}

// exponent tells whether a sign may follow: 1e-5.
func exponent(s string) bool {
	return s != "" && (s[len(s)-1] == 'e' || s[len(s)-1] == 'E') && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X")
}

func pythonNumber(s string) (value.Value, bool) {
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return nil, false
	}
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' && strings.Trim(s, "0_") != "" && !strings.ContainsAny(s, ".eE") {
		return nil, false // 0644 is no number in Python 3
	}
	base, digits := 10, s
	if len(s) > 2 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			base, digits = 16, s[2:]
		case 'o':
			base, digits = 8, s[2:]
		case 'b':
			base, digits = 2, s[2:]
		}
	}
	clean := strings.ReplaceAll(digits, "_", "")
	if n, ok := new(big.Int).SetString(clean, base); ok && clean[0] != '+' && clean[0] != '-' {
		return normal(n), true
	}
	if base != 10 || strings.ContainsAny(clean, "xXpPiInN") { // Go knows more floats than Python
		return nil, false
	}
	f, err := strconv.ParseFloat(clean, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, false
	}
	return value.Float(f), true
}

// items reads up to the closing bracket; comma tells whether there was one.
func (p *literalParser) items(end byte, depth int) (items []value.Value, comma, ok bool) {
	for {
		if p.peek() == end {
			p.at++
			return items, comma, true
		}
		v, ok := p.expr(depth + 1)
		if !ok {
			return nil, comma, false
		}
		items = append(items, v)
		switch p.peek() {
		case ',':
			comma = true
			p.at++
		case end:
		default:
			return nil, comma, false
		}
	}
}

// bareTuple reads the rest of 1, 2 after the first value.
func (p *literalParser) bareTuple(first value.Value) (value.Value, bool) {
	items := []value.Value{first}
	for p.peek() == ',' {
		p.at++
		if p.peek() == 0 {
			break
		}
		v, ok := p.expr(1)
		if !ok {
			return nil, false
		}
		items = append(items, v)
	}
	return value.NewTuple(items...), true
}

func (p *literalParser) braces(depth int) (value.Value, bool) {
	d, set := value.NewDict(), value.NewDict()
	for {
		if p.peek() == '}' {
			p.at++
			if set.Len() > 0 {
				return value.NewList(set.Keys()...), true
			}
			return d, true
		}
		k, ok := p.expr(depth + 1)
		if !ok {
			return nil, false
		}
		if p.peek() == ':' {
			p.at++
			v, ok := p.expr(depth + 1)
			if !ok || set.Len() > 0 || !d.SetKey(k, v) {
				return nil, false
			}
		} else if d.Len() > 0 || !set.SetKey(k, value.None{}) {
			return nil, false
		}
		switch p.peek() {
		case ',':
			p.at++
		case '}':
		default:
			return nil, false
		}
	}
}
