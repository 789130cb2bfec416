// Package literal reads text as Python's ast.literal_eval does: a number, text, bytes, tuple, list, dict, True, False
// or None.
package literal

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Maker makes the values of its caller of what Parse reads.
type Maker[V any] interface {
	None() V
	Bool(b bool) V
	Int(n int64) V
	Big(n *big.Int) V // what does not fit into an int64
	Float(f float64) V
	Text(s string) V
	Bytes(b string) V
	List(items []V) V
	Tuple(items []V) V
	// Dict has as many keys as values; equal keys may come again, and the last one counts. The error is that of a key
	// that cannot be one.
	Dict(keys, values []V) (V, error)
}

// Parse reads s; jsonNames adds true, false and null. ok is false for what is no literal. err is the first that
// Maker.Dict gave.
func Parse[V any](s string, m Maker[V], jsonNames bool) (v V, ok bool, err error) {
	var none V
	if s == "" || s[0] == ' ' || s[0] == '\t' || s[0] == '\f' || strings.IndexByte(s, 0) >= 0 {
		return none, false, nil
	}
	p := &parser[V]{s: s, make: m, jsonNames: jsonNames}
	p.first = len(s) - len(strings.TrimLeft(s, "\r\n"))
	p.last = len(strings.TrimRight(s, " \t\f\r\n"))
	p.space()
	v, ok = p.tuple()
	p.space()
	if !ok || p.at < len(p.s) {
		return none, false, nil
	}
	return v, true, p.err
}

// MaxDepth is Python's limit of nested brackets.
const MaxDepth = 200

type parser[V any] struct {
	s           string
	make        Maker[V]
	none        V   // returned with false
	first, last int // before first and from last on are lines without anything
	at          int
	depth       int
	jsonNames   bool
	err         error
}

func (p *parser[V]) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

// space skips blanks and, inside of brackets, newlines and comments.
func (p *parser[V]) space() {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			p.at++
		case c == '\\' && strings.HasPrefix(p.s[p.at+1:], "\n"):
			p.at += 2
		case (c == '\n' || c == '\r') && (p.depth > 0 || p.at < p.first || p.at >= p.last):
			p.at++
		case c == '#' && (p.depth > 0 || !strings.Contains(p.s[p.at:], "\n")):
			n := strings.IndexByte(p.s[p.at:], '\n')
			if n < 0 {
				n = len(p.s) - p.at
			}
			p.at += n
		default:
			return
		}
	}
}

func (p *parser[V]) skip(c byte) bool {
	p.space()
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

// tuple reads an expression, or several with commas.
func (p *parser[V]) tuple() (V, bool) {
	v, ok := p.expr()
	p.space()
	if !ok || p.peek() != ',' {
		return v, ok
	}
	items := []V{v}
	for p.skip(',') {
		p.space()
		if p.at == len(p.s) || p.peek() == ')' {
			break
		}
		if v, ok = p.expr(); !ok {
			return p.none, false
		}
		items = append(items, v)
	}
	return p.make.Tuple(items), true
}

func (p *parser[V]) expr() (V, bool) {
	p.space()
	switch c := p.peek(); {
	case c == '[':
		items, ok := p.items()
		return p.make.List(items), ok
	case c == '{':
		return p.dict()
	case c == '(':
		return p.parens()
	case c == '-' || c == '+':
		return p.signed()
	case c >= '0' && c <= '9' || c == '.':
		return p.number("")
	case c == '\'' || c == '"':
		return p.text()
	case c != 0:
		return p.name()
	}
	return p.none, false
}

func (p *parser[V]) open() bool {
	p.at++
	p.depth++
	return p.depth <= MaxDepth
}

func (p *parser[V]) items() ([]V, bool) {
	if !p.open() {
		return nil, false
	}
	items := []V{}
	for !p.skip(']') {
		if len(items) > 0 {
			if !p.skip(',') {
				return nil, false
			}
			if p.skip(']') {
				break
			}
		}
		v, ok := p.expr()
		if !ok {
			return nil, false
		}
		items = append(items, v)
	}
	p.depth--
	return items, true
}

func (p *parser[V]) dict() (V, bool) {
	if !p.open() {
		return p.none, false
	}
	var keys, values []V
	for !p.skip('}') {
		if len(keys) > 0 {
			if !p.skip(',') {
				return p.none, false
			}
			if p.skip('}') {
				break
			}
		}
		k, ok := p.expr()
		if !ok || !p.skip(':') {
			return p.none, false
		}
		v, ok := p.expr()
		if !ok {
			return p.none, false
		}
		keys, values = append(keys, k), append(values, v)
	}
	p.depth--
	d, err := p.make.Dict(keys, values)
	if p.err == nil {
		p.err = err
	}
	return d, true
}

func (p *parser[V]) parens() (V, bool) {
	if !p.open() {
		return p.none, false
	}
	if p.skip(')') {
		p.depth--
		return p.make.Tuple(nil), true
	}
	v, ok := p.tuple()
	if !ok || !p.skip(')') {
		return p.none, false
	}
	p.depth--
	return v, true
}

func (p *parser[V]) signed() (V, bool) {
	sign := p.s[p.at : p.at+1]
	p.at++
	p.space()
	if c := p.peek(); (c < '0' || c > '9') && c != '.' {
		return p.none, false
	}
	return p.number(sign)
}

// number reads a number without its sign, which was read before it: "-", "+" or "".
func (p *parser[V]) number(sign string) (V, bool) {
	start := p.at
	for p.at < len(p.s) && (isAlnum(p.s[p.at]) || p.s[p.at] == '.' || p.s[p.at] == '_' ||
		isExponentSign(p.s[start:p.at], p.s[p.at])) {
		p.at++
	}
	s := p.s[start:p.at]
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") ||
		strings.Contains(s, "_.") || strings.Contains(s, "._") || strings.ContainsAny(s, "jJ") {
		return p.none, false
	}
	plain := strings.ReplaceAll(s, "_", "")
	if isDecimal(plain) {
		if len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0") != "" {
			return p.none, false
		}
		if i, err := strconv.ParseInt(sign+plain, 10, 64); err == nil {
			return p.make.Int(i), true
		}
		if len(plain) > 4300 { // as Python limits the conversion
			return p.none, false
		}
		return p.big(sign+plain, 10)
	}
	if len(plain) > 2 && plain[0] == '0' && strings.IndexByte("xXoObB", plain[1]) >= 0 {
		return p.big(sign+strings.ToLower(plain), 0)
	}
	if strings.Trim(plain, "0123456789.eE+-") != "" || plain == "." {
		return p.none, false
	}
	f, err := strconv.ParseFloat(sign+plain, 64)
	if err != nil && !math.IsInf(f, 0) {
		return p.none, false
	}
	return p.make.Float(f), true
}

func (p *parser[V]) big(s string, base int) (V, bool) {
	n, ok := new(big.Int).SetString(s, base)
	switch {
	case !ok:
		return p.none, false
	case n.IsInt64():
		return p.make.Int(n.Int64()), true
	}
	return p.make.Big(n), true
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isExponentSign(before string, c byte) bool {
	n := len(before)
	return (c == '+' || c == '-') && n > 0 && (before[n-1] == 'e' || before[n-1] == 'E') &&
		!strings.HasPrefix(before, "0x") && !strings.HasPrefix(before, "0X")
}

func isDecimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (p *parser[V]) name() (V, bool) {
	start := p.at
	for p.at < len(p.s) && (isAlnum(p.s[p.at]) || p.s[p.at] == '_' || p.s[p.at] >= utf8.RuneSelf) {
		p.at++
	}
	word := p.s[start:p.at]
	if c := p.peek(); c == '\'' || c == '"' {
		switch strings.ToLower(word) {
		case "u", "r", "b", "br", "rb":
			p.at = start
			return p.text()
		}
		return p.none, false
	}
	switch word {
	case "True":
		return p.make.Bool(true), true
	case "False":
		return p.make.Bool(false), true
	case "None":
		return p.make.None(), true
	}
	if p.jsonNames {
		switch word {
		case "true":
			return p.make.Bool(true), true
		case "false":
			return p.make.Bool(false), true
		case "null":
			return p.make.None(), true
		}
	}
	return p.none, false
}
