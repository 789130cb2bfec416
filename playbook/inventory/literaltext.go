package inventory

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja/value"
)

// texts reads one or more adjacent string literals, which Python joins.
func (p *literalParser) texts() (value.Value, bool) {
	var b strings.Builder
	n := 0
	for {
		p.space()
		start := p.at
		raw, ok := p.prefix()
		if !ok {
			p.at = start
			break
		}
		s, ok := p.text(raw)
		if !ok {
			return nil, false
		}
		b.WriteString(s)
		n++
	}
	return value.YAMLStr(b.String()), n > 0
}

// prefix passes r, b, u and their pairs; false if no quote follows. Bytes become text in an inventory.
func (p *literalParser) prefix() (raw, ok bool) {
	for n := 0; p.at < len(p.s) && n <= 2; n++ {
		switch c := p.s[p.at]; c {
		case '\'', '"':
			return raw, true
		case 'r', 'R':
			raw = true
		case 'b', 'B', 'u', 'U':
		default:
			return false, false
		}
		p.at++
	}
	return false, false
}

func (p *literalParser) text(raw bool) (string, bool) {
	quote := p.s[p.at : p.at+1]
	if strings.HasPrefix(p.s[p.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	p.at += len(quote)
	var b strings.Builder
	for p.at < len(p.s) {
		rest := p.s[p.at:]
		switch {
		case strings.HasPrefix(rest, quote):
			p.at += len(quote)
			return b.String(), true
		case rest[0] == '\\' && len(rest) > 1 && raw:
			b.WriteString(rest[:2])
			p.at += 2
		case rest[0] == '\\':
			if !p.escape(&b) {
				return "", false
			}
		case rest[0] == '\n' && len(quote) == 1:
			return "", false
		default:
			b.WriteByte(rest[0])
			p.at++
		}
	}
	return "", false
}

var textEscapes = map[byte]string{'\\': `\`, '\'': `'`, '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\n': ""}

func (p *literalParser) escape(b *strings.Builder) bool {
	rest := p.s[p.at+1:]
	if rest == "" {
		return false
	}
	if s, ok := textEscapes[rest[0]]; ok {
		b.WriteString(s)
		p.at += 2
		return true
	}
	if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]; digits > 0 {
		if len(rest) < 1+digits {
			return false
		}
		n, err := strconv.ParseUint(rest[1:1+digits], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return false
		}
		b.WriteRune(rune(n))
		p.at += 2 + digits
		return true
	}
	octal := 0
	for octal < 3 && octal < len(rest) && rest[octal] >= '0' && rest[octal] <= '7' {
		octal++
	}
	if octal > 0 {
		n, _ := strconv.ParseUint(rest[:octal], 8, 32) // only octal digits
		b.WriteRune(rune(n))
		p.at += 1 + octal
		return true
	}
	b.WriteByte('\\') // an unknown escape stays
	p.at++
	return true
}
