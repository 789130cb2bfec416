package pyre

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape reads what follows a backslash outside of brackets.
func (p *parser) escape() (width, itemKind, error) {
	one := width{least: 1, most: 1}
	c := p.peek()
	p.at++
	switch {
	case strings.ContainsRune("AbB", c):
		p.out.WriteString(`\` + string(c))
		return width{}, nothing, nil
	case c == 'Z':
		p.out.WriteString(`\z`)
		return width{}, nothing, nil
	case strings.ContainsRune("dDsSwW", c):
		p.out.WriteString(p.category(c, false))
		return one, element, nil
	case c >= '1' && c <= '9':
		return p.backReference(c)
	}
	r, err := p.character(c, false)
	if err != nil {
		return width{}, nothing, err
	}
	p.literal(r)
	return one, element, nil
}

// category returns a class of characters by its letter.
func (p *parser) category(c rune, inClass bool) string {
	if !p.flags.ASCII {
		return `\` + string(c)
	}
	set := map[rune]string{'d': "0-9", 's': ` \t\n\r\f\v`, 'w': "a-zA-Z0-9_"}[c|0x20]
	switch {
	case c < 'a' && inClass:
		return `\` + string(c) // regexp2 cannot nest a negated set
	case c < 'a':
		return "[^" + set + "]"
	case inClass:
		return set
	}
	return "[" + set + "]"
}

// backReference reads \1, or a character by its octal number.
func (p *parser) backReference(first rune) (width, itemKind, error) {
	digits := string(first) + p.digits(decimal, 1)
	if len(digits) == 2 && strings.Trim(digits, octal) == "" {
		if third := p.digits(octal, 1); third != "" {
			return width{least: 1, most: 1}, element, p.octalLiteral(digits + third)
		}
	}
	n, _ := strconv.Atoi(digits)
	if n > len(p.widths) {
		return width{}, nothing, p.fail(len(digits), "invalid group reference %d", n)
	}
	return p.reference(n, len(digits)+1)
}

// reference writes a reference to group n, whose text had length characters.
func (p *parser) reference(n, length int) (width, itemKind, error) {
	w := p.widths[n-1]
	if w.open {
		return width{}, nothing, p.fail(length, "cannot refer to an open group")
	}
	if p.behind > 0 && n >= p.behind {
		return width{}, nothing, p.fail(0, "cannot refer to group defined in the same lookbehind subpattern")
	}
	p.out.WriteString(`(?:\` + strconv.Itoa(n) + ")")
	return w, element, nil
}

func (p *parser) octalLiteral(digits string) error {
	n, err := p.octalValue(digits)
	if err == nil {
		p.literal(n)
	}
	return err
}

func (s *source) octalValue(digits string) (rune, error) {
	n, _ := strconv.ParseInt(digits, 8, 32)
	if n > 0o377 {
		return 0, s.fail(len(digits)+1, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	return rune(n), nil
}

// character reads an escape that stands for one character; c is what followed the backslash.
func (p *parser) character(c rune, inClass bool) (rune, error) {
	if n := strings.IndexRune(`afnrtv\`, c); n >= 0 {
		return rune("\a\f\n\r\t\v\\"[n]), nil
	}
	switch {
	case c == 'b' && inClass:
		return '\b', nil
	case c == 'x' || c == 'u' || c == 'U':
		return p.hexCharacter(c)
	case c == '0' && !inClass:
		return p.octalValue("0" + p.digits(octal, 2))
	case inClass && c >= '0' && c <= '7':
		return p.octalValue(string(c) + p.digits(octal, 2))
	case isLetter(c) || c >= '0' && c <= '9':
		return 0, p.fail(2, `bad escape \%c`, c)
	}
	return c, nil
}

func (p *parser) hexCharacter(c rune) (rune, error) {
	size := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	digits := p.digits(hexa, size)
	if len(digits) < size {
		return 0, p.fail(len(digits)+2, `incomplete escape \%c%s`, c, digits)
	}
	n, _ := strconv.ParseInt(digits, 16, 64)
	if n > utf8.MaxRune {
		return 0, p.fail(len(digits)+2, `bad escape \%c%s`, c, digits)
	}
	return rune(n), nil
}

// class reads a set in brackets.
func (p *parser) class() error {
	here := p.at - 1
	p.out.WriteByte('[')
	if p.take('^') {
		p.out.WriteByte('^')
	}
	for first := true; ; first = false {
		if p.done() {
			return p.failAt(here, "unterminated character set")
		}
		if !first && p.take(']') {
			p.out.WriteByte(']')
			return nil
		}
		low, err := p.member()
		if err != nil {
			return err
		}
		if p.peek() != '-' || p.at+1 < len(p.text) && p.text[p.at+1] == ']' {
			p.out.WriteString(low.written)
			continue
		}
		p.at++
		if p.done() {
			return p.failAt(here, "unterminated character set")
		}
		high, err := p.member()
		if err != nil {
			return err
		}
		if !low.single || !high.single || low.r > high.r {
			return p.fail(len([]rune(low.source))+1+len([]rune(high.source)), "bad character range %s-%s", low.source,
				high.source)
		}
		p.out.WriteString(low.written + "-" + high.written)
	}
}

// member is an element of a set: a character, or a class like \d.
type member struct {
	r       rune
	single  bool
	written string
	source  string
}

func (p *parser) member() (member, error) {
	from := p.at
	c := p.text[p.at]
	p.at++
	if c == '\\' {
		c = p.peek()
		p.at++
		if strings.ContainsRune("dDsSwW", c) {
			return member{written: p.category(c, true), source: string(p.text[from:p.at])}, nil
		}
		r, err := p.character(c, true)
		if err != nil {
			return member{}, err
		}
		c = r
	}
	written := spelled(c)
	if strings.ContainsRune(`\[]^-`, c) {
		written = `\` + written
	}
	return member{r: c, single: true, written: written, source: string(p.text[from:p.at])}, nil
}
