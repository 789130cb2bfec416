package pyre

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// part of a template is text, or a group if group is not negative.
type part struct {
	text  string
	group int
}

func expand(b *strings.Builder, parts []part, m *Match) {
	for _, p := range parts {
		if p.group < 0 {
			b.WriteString(p.text)
			continue
		}
		text, _ := m.Group(p.group)
		b.WriteString(text)
	}
}

// template reads a replacement: \1, \g<name>, \n.
func (r *Regexp) template(text string) ([]part, error) {
	t := &templateReader{source: source{text: r.runes(text)}, r: r}
	for !t.done() {
		c := t.peek()
		t.at++
		if c != '\\' {
			t.plain = append(t.plain, c)
			continue
		}
		if t.done() {
			return nil, t.fail(1, "bad escape (end of pattern)")
		}
		if err := t.escape(); err != nil {
			return nil, err
		}
	}
	t.flush()
	return t.parts, nil
}

type templateReader struct {
	source
	r     *Regexp
	plain []rune
	parts []part
}

func (t *templateReader) flush() {
	if len(t.plain) > 0 {
		t.parts = append(t.parts, part{text: t.r.text(t.plain), group: -1})
		t.plain = nil
	}
}

func (t *templateReader) group(n, offset int) error {
	if n > t.r.groups {
		return t.fail(offset, "invalid group reference %d", n)
	}
	t.flush()
	t.parts = append(t.parts, part{group: n})
	return nil
}

func (t *templateReader) escape() error {
	c := t.peek()
	t.at++
	switch {
	case c == 'g':
		return t.named()
	case c == '0':
		n, err := t.octalValue("0" + t.digits(octal, 2))
		t.plain = append(t.plain, n)
		return err
	case c >= '1' && c <= '9':
		digits := string(c) + t.digits(decimal, 1)
		if len(digits) == 2 && strings.Trim(digits, octal) == "" {
			if third := t.digits(octal, 1); third != "" {
				n, err := t.octalValue(digits + third)
				t.plain = append(t.plain, n)
				return err
			}
		}
		n, _ := strconv.Atoi(digits)
		return t.group(n, len(digits))
	}
	if n := strings.IndexRune(`abfnrtv\`, c); n >= 0 {
		t.plain = append(t.plain, rune("\a\b\f\n\r\t\v\\"[n]))
		return nil
	}
	if isLetter(c) {
		return t.fail(2, `bad escape \%c`, c)
	}
	t.plain = append(t.plain, '\\', c)
	return nil
}

// named reads the rest of \g<name>.
func (t *templateReader) named() error {
	if !t.take('<') {
		return t.fail(0, "missing <")
	}
	name, err := t.until('>')
	if err != nil {
		return err
	}
	length := len([]rune(name)) + 1
	if isIdentifier(name) {
		n, known := t.r.names[name]
		if !known {
			return &Error{Class: "IndexError", Msg: "unknown group name " + value.ReprText(name)}
		}
		return t.group(n, length)
	}
	n, convErr := strconv.Atoi(name)
	if convErr != nil || n < 0 {
		return t.badName(name)
	}
	return t.group(n, length)
}
