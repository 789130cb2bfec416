package pyre

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// group reads what follows an opening parenthesis.
func (p *parser) group(verbose bool, depth int) (width, itemKind, error) {
	start := p.at - 1
	if !p.take('?') {
		return p.capture("", start, verbose, depth)
	}
	if p.done() {
		return width{}, nothing, p.fail(0, "unexpected end of pattern")
	}
	c := p.peek()
	p.at++
	switch {
	case c == 'P':
		return p.named(start, verbose, depth)
	case c == ':' || c == '>':
		return p.wrap("(?"+string(c), start, verbose, depth)
	case c == '#':
		for !p.take(')') {
			if p.done() {
				return width{}, nothing, p.failAt(start, "missing ), unterminated comment")
			}
			p.at++
		}
		return width{}, skipped, nil
	case c == '=' || c == '!':
		_, _, err := p.wrap("(?"+string(c), start, verbose, depth)
		return width{}, element, err
	case c == '<':
		return p.lookBehind(start, verbose, depth)
	case c == '(':
		return p.conditional(start, verbose, depth)
	case c == '-' || strings.ContainsRune("aiLmsux", c):
		p.at--
		return p.scoped(start, verbose, depth)
	}
	return width{}, nothing, p.fail(2, "unknown extension ?%c", c)
}

// close takes the parenthesis that ends the group that began at start.
func (p *parser) close(start int) error {
	if !p.take(')') {
		return p.failAt(start, "missing ), unterminated subpattern")
	}
	p.out.WriteByte(')')
	return nil
}

// wrap reads a group that captures nothing.
func (p *parser) wrap(opening string, start int, verbose bool, depth int) (width, itemKind, error) {
	p.out.WriteString(opening)
	w, err := p.branches(verbose, depth+1)
	if err != nil {
		return width{}, nothing, err
	}
	return w, element, p.close(start)
}

func (p *parser) capture(name string, start int, verbose bool, depth int) (width, itemKind, error) {
	p.widths = append(p.widths, width{open: true})
	n := len(p.widths)
	if name != "" {
		if old, taken := p.names[name]; taken {
			return width{}, nothing, p.fail(len([]rune(name))+1, "redefinition of group name %s as group %d; was group %d",
				value.ReprText(name), n, old)
		}
		p.names[name] = n
	}
	w, kind, err := p.wrap("(", start, verbose, depth)
	p.widths[n-1] = w
	return w, kind, err
}

// named reads (?P<name>...) and (?P=name).
func (p *parser) named(start int, verbose bool, depth int) (width, itemKind, error) {
	switch {
	case p.take('<'):
		name, err := p.until('>')
		if err != nil {
			return width{}, nothing, err
		}
		if !isIdentifier(name) {
			return width{}, nothing, p.badName(name)
		}
		return p.capture(name, start, verbose, depth)
	case p.take('='):
		name, err := p.until(')')
		if err != nil {
			return width{}, nothing, err
		}
		if !isIdentifier(name) {
			return width{}, nothing, p.badName(name)
		}
		n, known := p.names[name]
		if !known {
			return width{}, nothing, p.fail(len([]rune(name))+1, "unknown group name %s", value.ReprText(name))
		}
		return p.reference(n, len([]rune(name))+1)
	}
	if p.done() {
		return width{}, nothing, p.fail(0, "unexpected end of pattern")
	}
	p.at++
	return width{}, nothing, p.fail(3, "unknown extension ?P%c", p.text[p.at-1])
}

func (p *parser) lookBehind(start int, verbose bool, depth int) (width, itemKind, error) {
	if p.done() {
		return width{}, nothing, p.fail(0, "unexpected end of pattern")
	}
	c := p.peek()
	p.at++
	if c != '=' && c != '!' {
		return width{}, nothing, p.fail(3, "unknown extension ?<%c", c)
	}
	outer := p.behind
	if outer == 0 {
		p.behind = len(p.widths) + 1
	}
	w, _, err := p.wrap("(?<"+string(c), start, verbose, depth)
	p.behind = outer
	if err == nil && w.least != w.most {
		err = reError("look-behind requires fixed-width pattern")
	}
	return width{}, element, err
}

// conditional reads (?(1)yes|no).
func (p *parser) conditional(start int, verbose bool, depth int) (width, itemKind, error) {
	name, err := p.until(')')
	if err != nil {
		return width{}, nothing, err
	}
	n, known := p.names[name]
	if !known {
		length := len([]rune(name)) + 1
		var convErr error
		switch n, convErr = strconv.Atoi(name); {
		case isIdentifier(name):
			return width{}, nothing, p.fail(length, "unknown group name %s", value.ReprText(name))
		case convErr != nil || n < 0:
			return width{}, nothing, p.badName(name)
		case n == 0:
			return width{}, nothing, p.fail(length, "bad group number")
		case n > len(p.widths):
			return width{}, nothing, p.fail(length, "invalid group reference %d", n)
		}
	}
	p.out.WriteString("(?(" + strconv.Itoa(n) + ")")
	w, err := p.sequence(verbose, depth+1)
	if err != nil {
		return width{}, nothing, err
	}
	other := width{}
	if p.take('|') {
		p.out.WriteByte('|')
		if other, err = p.sequence(verbose, depth+1); err != nil {
			return width{}, nothing, err
		}
		if p.peek() == '|' {
			return width{}, nothing, p.fail(0, "conditional backref with more than two branches")
		}
	}
	return w.or(other), element, p.close(start)
}

// scoped reads a group with flags of its own, as (?i:...).
func (p *parser) scoped(start int, verbose bool, depth int) (width, itemKind, error) {
	outer := p.flags
	on, written := true, ""
	for !p.done() {
		c := p.peek()
		p.at++
		switch {
		case c == ')' && on:
			return width{}, nothing, p.failAt(start, "global flags not at the start of the expression")
		case c == ':':
			defer func() { p.flags = outer }()
			return p.wrap("(?"+written+":", start, p.flags.Verbose, depth)
		case c == '-' && on:
			on = false
			written += "-"
		case strings.ContainsRune("aiLmsux", c):
			p.flags.set(c, on)
			if strings.ContainsRune("ims", c) {
				written += string(c)
			}
		default:
			p.flags = outer
			return width{}, nothing, p.fail(1, "unknown flag")
		}
	}
	return width{}, nothing, p.fail(0, "missing -, : or )")
}
