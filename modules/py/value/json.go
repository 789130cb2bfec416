package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseJSON reads a text as Python's json.loads does: NaN and Infinity are numbers, the last of equal keys
// wins, and the error is worded as Python's, "Expecting value: line 1 column 1 (char 0)".
func ParseJSON(text string, kind Kind) (Value, error) {
	return readJSON(&jsonReader{text: text, kind: kind})
}

func readJSON(p *jsonReader) (Value, error) {
	p.space()
	v := read(p.value(0))
	if p.err == nil {
		if p.space(); p.at < len(p.text) {
			p.fail("Extra data", p.at)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return v, nil
}

// maxJSONDepth is where Python's own recursion limit stops its parser, about.
const maxJSONDepth = 900

type jsonReader struct {
	text string
	at   int
	kind Kind
	err  error
	// object makes the value of an object; nil leaves it a dict.
	object func(*Dict) (Value, error)
}

func (p *jsonReader) fail(msg string, at int) Value {
	if p.err == nil {
		before := p.text[:at]
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		p.err = fmt.Errorf("%s: line %d column %d (char %d)", msg, line, column, utf8.RuneCountInString(before))
	}
	return None{}
}

func (p *jsonReader) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonReader) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *jsonReader) value(depth int) Value {
	if depth > maxJSONDepth {
		return p.fail("Nested too deeply", p.at)
	}
	switch c := p.next(); {
	case c == '"':
		return p.kind.TextAs(p.str())
	case c == '{':
		return p.dict(depth)
	case c == '[':
		return p.array(depth)
	case c == '-' && strings.HasPrefix(p.text[p.at:], "-Infinity"):
		p.at += len("-Infinity")
		return Float(math.Inf(-1))
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *jsonReader) word() Value {
	for word, v := range jsonWords {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v
		}
	}
	return p.fail("Expecting value", p.at)
}

var jsonWords = map[string]Value{"null": None{}, "true": Bool(true), "false": Bool(false), "NaN": Float(math.NaN()),
	"Infinity": Float(math.Inf(1))}

func (p *jsonReader) digits() (n int) {
	for c := p.next(); c >= '0' && c <= '9'; c = p.next() {
		p.at++
		n++
	}
	return n
}

func (p *jsonReader) number() Value {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	if p.next() == '0' {
		p.at++
	} else if p.digits() == 0 {
		return p.fail("Expecting value", start)
	}
	end := p.at
	if p.next() == '.' {
		if p.at++; p.digits() > 0 {
			end = p.at
		}
		p.at = end
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		if p.digits() > 0 {
			end = p.at
		}
		p.at = end
	}
	v, err := Number(p.text[start:end])
	if err != nil { // a float out of range is infinity for Python
		f, _ := strconv.ParseFloat(p.text[start:end], 64)
		return Float(f)
	}
	return v
}

func (p *jsonReader) array(depth int) Value {
	l := NewList()
	p.at++
	if p.space(); p.next() == ']' {
		p.at++
		return l
	}
	for p.err == nil {
		l.Items = append(l.Items, read(p.value(depth+1)))
		p.space()
		switch p.next() {
		case ']':
			p.at++
			return l
		case ',':
			p.at++
			p.space()
		default:
			p.fail("Expecting ',' delimiter", p.at)
		}
	}
	return l
}

func (p *jsonReader) dict(depth int) Value {
	d := NewDict()
	p.at++
	if p.space(); p.next() == '}' {
		p.at++
		return p.made(d)
	}
	for p.err == nil {
		if p.next() != '"' {
			return p.fail("Expecting property name enclosed in double quotes", p.at)
		}
		key := p.kind.TextAs(p.str())
		if p.space(); p.next() != ':' {
			return p.fail("Expecting ':' delimiter", p.at)
		}
		p.at++
		p.space()
		d.SetKey(key, p.value(depth+1))
		p.space()
		switch p.next() {
		case '}':
			p.at++
			return p.made(d)
		case ',':
			p.at++
			p.space()
		default:
			p.fail("Expecting ',' delimiter", p.at)
		}
	}
	return d
}

// made returns what becomes of a whole object.
func (p *jsonReader) made(d *Dict) Value {
	if p.object == nil || p.err != nil {
		return d
	}
	v, err := p.object(d)
	if err != nil {
		p.err = err
	}
	return v
}

func (p *jsonReader) str() string {
	start := p.at
	p.at++
	if n := plainLength(p.text[p.at:]); p.at+n < len(p.text) && p.text[p.at+n] == '"' {
		p.at += n + 1
		return strings.Clone(p.text[start+1 : p.at-1]) // so that the whole text need not stay
	}
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String()
		case c == '\\':
			if !p.escape(&b) {
				return ""
			}
		case c < 0x20:
			p.fail("Invalid control character at", p.at)
			return ""
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	p.fail("Unterminated string starting at", start)
	return ""
}

// plainLength returns how much of the beginning of s stands for itself in a JSON string.
func plainLength(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

var jsonEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *jsonReader) escape(b *strings.Builder) bool {
	start := p.at
	if p.at++; p.at >= len(p.text) {
		p.fail("Unterminated string starting at", start)
		return false
	}
	c := p.text[p.at]
	p.at++
	if plain, ok := jsonEscapes[c]; ok {
		b.WriteByte(plain)
		return true
	}
	if c != 'u' {
		p.fail("Invalid \\escape", start)
		return false
	}
	r, ok := p.hex4()
	if !ok {
		p.fail("Invalid \\uXXXX escape", start+1)
		return false
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.text[p.at:], `\u`) {
		back := p.at
		p.at += 2
		if low, ok := p.hex4(); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			r = utf16.DecodeRune(r, low)
		} else {
			p.at = back
		}
	}
	if r >= 0xdc80 && r <= 0xdcff { // alone it is a byte that is no UTF-8, as Python's surrogateescape has it
		b.WriteByte(byte(r))
		return true
	}
	b.WriteRune(r)
	return true
}

func (p *jsonReader) hex4() (rune, bool) {
	if p.at+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 32)
	if err != nil {
		return 0, false
	}
	p.at += 4
	return rune(n), true
}
