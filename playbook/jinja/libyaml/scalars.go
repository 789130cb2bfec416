package libyaml

import "strings"

// folding are the blanks and breaks between the words of a scalar that may go over lines.
type folding struct {
	spaces, first, more []rune // blanks of one line; the first break; those behind it
	broken              bool
}

// add reads a blank or a break.
func (f *folding) add(in *input) {
	switch r := in.peek(0); {
	case isBlank(r):
		if !f.broken {
			f.spaces = append(f.spaces, r)
		}
		in.skip(1)
	case !f.broken:
		f.spaces, f.broken = nil, true
		f.first = in.line(nil)
	default:
		f.more = in.line(f.more)
	}
}

// fold returns what the blanks and breaks become, and forgets them.
func (f *folding) fold(to []rune) []rune {
	switch {
	case !f.broken:
		to = append(to, f.spaces...)
	case len(f.first) > 0 && f.first[0] == '\n' && len(f.more) == 0:
		to = append(to, ' ')
	case len(f.first) > 0 && f.first[0] == '\n':
		to = append(to, f.more...)
	default:
		to = append(append(to, f.first...), f.more...)
	}
	*f = folding{}
	return to
}

func (s *scanner) plain() error {
	const context = "while scanning a plain scalar"
	start, end := s.mark, s.mark
	indent := s.indent + 1
	var text []rune
	var f folding
	for !s.marker('-') && !s.marker('.') && s.peek(0) != '#' {
		for !isBlankOrEnd(s.peek(0)) {
			if s.flow > 0 && s.peek(0) == ':' && strings.ContainsRune(",?[]{}", s.peek(1)) {
				return s.fault(context, start, "found unexpected ':'")
			}
			if s.endsPlain() {
				break
			}
			text = append(f.fold(text), s.peek(0))
			s.skip(1)
			end = s.mark
		}
		if !isBlank(s.peek(0)) && !isBreak(s.peek(0)) {
			break
		}
		for isBlank(s.peek(0)) || isBreak(s.peek(0)) {
			if f.broken && s.column() < indent && s.peek(0) == '\t' {
				return s.fault(context, start, "found a tab character that violates indentation")
			}
			f.add(&s.input)
		}
		if s.flow == 0 && s.column() < indent {
			break
		}
	}
	s.put(token{kind: scalarToken, start: start, end: end, text: string(text), plain: true})
	if f.broken {
		s.keyAllowed = true
	}
	return nil
}

// endsPlain reports whether an indicator ends a plain scalar here.
func (s *scanner) endsPlain() bool {
	r := s.peek(0)
	return r == ':' && isBlankOrEnd(s.peek(1)) || s.flow > 0 && strings.ContainsRune(",[]{}", r)
}

func (s *scanner) quoted(quote rune) error {
	const context = "while scanning a quoted scalar"
	start := s.mark
	s.skip(1)
	var text []rune
	for {
		if s.marker('-') || s.marker('.') {
			return s.fault(context, start, "found unexpected document indicator")
		}
		if s.peek(0) == 0 {
			return s.fault(context, start, "found unexpected end of stream")
		}
		var f folding
		var err error
		if text, err = s.quotedWord(quote, start, text, &f); err != nil {
			return err
		}
		if s.peek(0) == quote {
			break
		}
		for isBlank(s.peek(0)) || isBreak(s.peek(0)) {
			f.add(&s.input)
		}
		text = f.fold(text)
	}
	s.skip(1)
	s.put(token{kind: scalarToken, start: start, end: s.mark, text: string(text)})
	return nil
}

// quotedWord reads up to a blank or the closing quote. A backslash before a break joins the lines.
func (in *input) quotedWord(quote rune, start Mark, text []rune, f *folding) ([]rune, error) {
	for !isBlankOrEnd(in.peek(0)) {
		r := in.peek(0)
		switch {
		case r == quote && quote == '\'' && in.peek(1) == '\'':
			text = append(text, '\'')
			in.skip(2)
		case r == quote:
			return text, nil
		case r == '\\' && quote == '"' && isBreak(in.peek(1)):
			in.skip(1)
			in.skipLine()
			f.broken = true
			return text, nil
		case r == '\\' && quote == '"':
			c, err := in.escape(start)
			if err != nil {
				return nil, err
			}
			text = append(text, c)
		default:
			text = append(text, r)
			in.skip(1)
		}
	}
	return text, nil
}

// escapes are the characters that a backslash and a letter stand for.
const (
	escapeLetters = "0abt\tnvfre \"/\\N_LP"
	escapeMeaning = "\x00\a\b\t\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029"
)

func (in *input) escape(start Mark) (rune, error) {
	const context = "while parsing a quoted scalar"
	letter := in.peek(1)
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[letter]
	if digits == 0 {
		i := strings.IndexRune(escapeLetters, letter)
		if letter == 0 || i < 0 {
			return 0, in.fault(context, start, "found unknown escape character")
		}
		in.skip(2)
		return []rune(escapeMeaning)[i], nil
	}
	in.skip(2)
	var code uint32
	for i := range digits {
		d := hexDigit(in.peek(i))
		if d < 0 {
			return 0, in.fault(context, start, "did not find expected hexdecimal number") // so spelled
		}
		code = code<<4 | uint32(d)
	}
	if code >= 0xd800 && code <= 0xdfff || code > 0x10ffff {
		return 0, in.fault(context, start, "found invalid Unicode character escape code")
	}
	in.skip(digits)
	return rune(code), nil
}

func hexDigit(r rune) int { return strings.IndexRune("0123456789abcdef", r|0x20) }

// blockScalar reads a scalar of lines, behind | or >.
func (s *scanner) blockScalar(literal bool) error {
	const context = "while scanning a block scalar"
	start := s.mark
	s.skip(1)
	keep, indent, err := s.blockHeader(start)
	if err != nil {
		return err
	}
	s.blanks()
	s.comment()
	if !isBreakOrEnd(s.peek(0)) {
		return s.fault(context, start, "did not find expected comment or line break")
	}
	if isBreak(s.peek(0)) {
		s.skipLine()
	}
	end := s.mark
	if indent > 0 && s.indent >= 0 {
		indent += s.indent
	}
	breaks, err := s.blockBreaks(&indent, start, &end)
	var text, last []rune
	blank := false
	for err == nil && s.column() == indent && s.peek(0) != 0 {
		inner := isBlank(s.peek(0))
		if !literal && len(last) > 0 && last[0] == '\n' && !blank && !inner {
			if len(breaks) == 0 {
				text = append(text, ' ')
			}
		} else {
			text = append(text, last...)
		}
		text = append(text, breaks...)
		blank = inner
		for !isBreakOrEnd(s.peek(0)) {
			text = append(text, s.peek(0))
			s.skip(1)
		}
		last = s.line(nil)
		breaks, err = s.blockBreaks(&indent, start, &end)
	}
	if err != nil {
		return err
	}
	if keep >= 0 {
		text = append(text, last...)
	}
	if keep > 0 {
		text = append(text, breaks...)
	}
	s.put(token{kind: scalarToken, start: start, end: end, text: string(text)})
	return nil
}

// blockHeader reads what may stand behind | or >: which breaks at the end are kept (1: all, 0: one, -1: none), and
// the indentation.
func (in *input) blockHeader(start Mark) (keep, indent int, err error) {
	for range 2 {
		r := in.peek(0)
		switch {
		case keep == 0 && r == '+':
			keep = 1
		case keep == 0 && r == '-':
			keep = -1
		case indent == 0 && r == '0':
			return 0, 0, in.fault("while scanning a block scalar", start, "found an indentation indicator equal to 0")
		case indent == 0 && r > '0' && r <= '9':
			indent = int(r - '0')
		default:
			return keep, indent, nil
		}
		in.skip(1)
	}
	return keep, indent, nil
}

// blockBreaks reads the indentation of a line and the empty lines before it. An indent of 0 is not known yet, and
// found.
func (s *scanner) blockBreaks(indent *int, start Mark, end *Mark) (breaks []rune, err error) {
	widest := 0
	*end = s.mark
	for {
		for (*indent == 0 || s.column() < *indent) && s.peek(0) == ' ' {
			s.skip(1)
		}
		widest = max(widest, s.column())
		if (*indent == 0 || s.column() < *indent) && s.peek(0) == '\t' {
			return nil, s.fault("while scanning a block scalar", start,
				"found a tab character where an indentation space is expected")
		}
		if !isBreak(s.peek(0)) {
			break
		}
		breaks = s.line(breaks)
		*end = s.mark
	}
	if *indent == 0 {
		*indent = max(widest, s.indent+1, 1)
	}
	return breaks, nil
}
