package templar

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja/value"
)

// parseLiteral reads text as Python's ast.literal_eval does: a number, text, bytes, tuple, list, dict, True, False or
// None. jsonNames adds true, false and null. ok is false for everything else. The error is that of a dict with a key
// that cannot be one.
func parseLiteral(s string, jsonNames bool) (v value.Value, ok bool, err error) {
	if s == "" || s[0] == ' ' || s[0] == '\t' || s[0] == '\f' || strings.IndexByte(s, 0) >= 0 {
		return nil, false, nil
	}
	p := &literal{s: s, jsonNames: jsonNames}
	p.space()
	v, ok = p.tuple()
	p.space()
	if !ok || p.at < len(p.s) {
		return nil, false, nil
	}
	return v, true, p.err
}

// maxLiteralDepth is Python's limit of nested brackets.
const maxLiteralDepth = 200

type literal struct {
	s         string
	at        int
	depth     int
	jsonNames bool
	err       error
}

func (p *literal) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

// space skips blanks and, inside of brackets, newlines and comments.
func (p *literal) space() {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			p.at++
		case c == '\\' && strings.HasPrefix(p.s[p.at+1:], "\n"):
			p.at += 2
		case (c == '\n' || c == '\r') && (p.depth > 0 || strings.Trim(p.s[p.at:], " \t\f\r\n") == "" || strings.Trim(p.s[:p.at], "\r\n") == ""):
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

func (p *literal) skip(c byte) bool {
	p.space()
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

// tuple reads an expression, or several with commas.
func (p *literal) tuple() (value.Value, bool) {
	v, ok := p.expr()
	p.space()
	if !ok || p.peek() != ',' {
		return v, ok
	}
	t := value.NewTuple(v)
	for p.skip(',') {
		p.space()
		if p.at == len(p.s) || p.peek() == ')' {
			break
		}
		if v, ok = p.expr(); !ok {
			return nil, false
		}
		t.Items = append(t.Items, v)
	}
	return t, true
}

func (p *literal) expr() (value.Value, bool) {
	p.space()
	switch c := p.peek(); {
	case c == '[':
		items, ok := p.items(']')
		return &value.List{Items: items}, ok
	case c == '{':
		return p.dict()
	case c == '(':
		return p.parens()
	case c == '-' || c == '+':
		return p.signed()
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case c == '\'' || c == '"':
		return p.text()
	case c != 0:
		return p.name()
	}
	return nil, false
}

func (p *literal) open() bool {
	p.at++
	p.depth++
	return p.depth <= maxLiteralDepth
}

func (p *literal) items(closing byte) ([]value.Value, bool) {
	if !p.open() {
		return nil, false
	}
	items := []value.Value{}
	for !p.skip(closing) {
		if len(items) > 0 {
			if !p.skip(',') {
				return nil, false
			}
			if p.skip(closing) {
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

func (p *literal) dict() (value.Value, bool) {
	if !p.open() {
		return nil, false
	}
	d := value.NewDict()
	for first := true; !p.skip('}'); first = false {
		if !first {
			if !p.skip(',') {
				return nil, false
			}
			if p.skip('}') {
				break
			}
		}
		k, ok := p.expr()
		if !ok || !p.skip(':') {
			return nil, false
		}
		v, ok := p.expr()
		if !ok {
			return nil, false
		}
		if !d.SetKey(k, v) && p.err == nil {
			p.err = value.Hashable(k)
		}
	}
	p.depth--
	return d, true
}

func (p *literal) parens() (value.Value, bool) {
	if !p.open() {
		return nil, false
	}
	if p.skip(')') {
		p.depth--
		return value.NewTuple(), true
	}
	v, ok := p.tuple()
	if !ok || !p.skip(')') {
		return nil, false
	}
	p.depth--
	return v, true
}

func (p *literal) signed() (value.Value, bool) {
	op := string(p.peek())
	p.at++
	p.space()
	if c := p.peek(); (c < '0' || c > '9') && c != '.' {
		return nil, false
	}
	v, ok := p.number()
	if !ok {
		return nil, false
	}
	v, err := value.Unary(op, v)
	return v, err == nil
}

func (p *literal) number() (value.Value, bool) {
	start := p.at
	for p.at < len(p.s) && (isAlnum(p.s[p.at]) || p.s[p.at] == '.' || p.s[p.at] == '_' || isExponentSign(p.s[start:p.at], p.s[p.at])) {
		p.at++
	}
	s := p.s[start:p.at]
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") ||
		strings.Contains(s, "_.") || strings.Contains(s, "._") || strings.ContainsAny(s, "jJ") {
		return nil, false
	}
	plain := strings.ReplaceAll(s, "_", "")
	if isDecimal(plain) {
		if len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0") != "" {
			return nil, false
		}
		if i, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return value.Int(i), true
		}
		if len(plain) > 4300 { // as Python limits the conversion
			return nil, false
		}
		n, ok := new(big.Int).SetString(plain, 10)
		return value.NewInt(n), ok
	}
	if len(plain) > 2 && plain[0] == '0' && strings.IndexByte("xXoObB", plain[1]) >= 0 {
		n, ok := new(big.Int).SetString(strings.ToLower(plain), 0)
		if !ok {
			return nil, false
		}
		return value.NewInt(n), true
	}
	if strings.Trim(plain, "0123456789.eE+-") != "" || plain == "." {
		return nil, false
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, false
	}
	return value.Float(f), true
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

func (p *literal) name() (value.Value, bool) {
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
		return nil, false
	}
	switch word {
	case "True":
		return value.Bool(true), true
	case "False":
		return value.Bool(false), true
	case "None":
		return value.None{}, true
	}
	if p.jsonNames {
		switch word {
		case "true":
			return value.Bool(true), true
		case "false":
			return value.Bool(false), true
		case "null":
			return value.None{}, true
		}
	}
	return nil, false
}
