package literal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text reads one or more string literals in a row, with their prefixes.
func (p *parser[V]) text() (V, bool) {
	var b strings.Builder
	bytes := -1
	for {
		start := p.at
		for p.at < len(p.s) && strings.IndexByte("uUrRbB", p.s[p.at]) >= 0 {
			p.at++
		}
		prefix := strings.ToLower(p.s[start:p.at])
		if c := p.peek(); c != '\'' && c != '"' {
			p.at = start
			if bytes < 0 || prefix != "" {
				return p.none, false
			}
			break
		}
		isBytes := 0
		if strings.Contains(prefix, "b") {
			isBytes = 1
		}
		if bytes >= 0 && bytes != isBytes {
			return p.none, false
		}
		bytes = isBytes
		if !p.quoted(&b, strings.Contains(prefix, "r"), isBytes == 1) {
			return p.none, false
		}
		p.space()
	}
	if bytes == 1 {
		return p.make.Bytes(b.String()), true
	}
	return p.make.Text(b.String()), true
}

// quoted reads one literal without its prefix.
func (p *parser[V]) quoted(b *strings.Builder, raw, bytes bool) bool {
	quote := p.s[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.s[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	for p.at < len(p.s) {
		rest := p.s[p.at:]
		switch {
		case strings.HasPrefix(rest, quote):
			p.at += len(quote)
			return true
		case rest[0] == '\n' && len(quote) == 1:
			return false
		case rest[0] == '\\' && raw:
			_, n := utf8.DecodeRuneInString(rest[1:])
			b.WriteString(rest[:1+n])
			p.at += 1 + n
		case rest[0] == '\\':
			n := escapeSequence(b, rest, bytes)
			if n == 0 {
				return false
			}
			p.at += n
		case bytes && rest[0] >= utf8.RuneSelf:
			return false
		default:
			b.WriteByte(rest[0])
			p.at++
		}
	}
	return false
}

// escapeSequence writes the escape that s starts with and gives its length, 0 if it is wrong.
func escapeSequence(b *strings.Builder, s string, bytes bool) int {
	if len(s) == 1 {
		return 0
	}
	if i := strings.IndexByte(`\'"abfnrtv`, s[1]); i >= 0 {
		b.WriteByte("\\'\"\a\b\f\n\r\t\v"[i])
		return 2
	}
	switch c := s[1]; {
	case c == '\n':
		return 2
	case c >= '0' && c <= '7':
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		r, _ := strconv.ParseUint(s[1:n], 8, 32)
		writeCode(b, rune(r), bytes)
		return n
	case c == 'x':
		return hexSequence(b, s, 2, bytes)
	case c == 'u' && !bytes:
		return hexSequence(b, s, 4, false)
	case c == 'U' && !bytes:
		return hexSequence(b, s, 8, false)
	case c == 'N' && !bytes:
		return 0
	}
	b.WriteByte('\\')
	return 1
}

func hexSequence(b *strings.Builder, s string, digits int, bytes bool) int {
	if len(s) < 2+digits {
		return 0
	}
	r, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || r > unicode.MaxRune {
		return 0
	}
	writeCode(b, rune(r), bytes)
	return 2 + digits
}

func writeCode(b *strings.Builder, r rune, bytes bool) {
	if bytes {
		b.WriteByte(byte(r))
		return
	}
	b.WriteRune(r)
}
