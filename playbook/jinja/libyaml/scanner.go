package libyaml

// scanner makes tokens of a text. It reads on only as far as the next token needs, so that errors come in the order
// of libyaml's.
type scanner struct {
	text []rune // with some zeros behind it
	at   int
	mark Mark

	tokens  []token
	parsed  int // how many tokens were taken
	started bool

	indent     int // column of the current block, from 0; -1 outside
	indents    []int
	flow       int // how many brackets are open
	keyAllowed bool
	keys       []simpleKey // one for each open bracket, and one
}

func newScanner(text string) *scanner {
	runes := append([]rune(text), 0, 0, 0, 0)
	s := &scanner{text: runes, mark: Mark{1, 1}}
	if runes[0] == '\ufeff' {
		s.at++
	}
	return s
}

// fault is an error at the current place.
func (s *scanner) fault(context string, from Mark, problem string) error {
	return &Error{Class: "ScannerError", Context: context, ContextMark: from, Problem: problem, Mark: s.mark}
}

func (s *scanner) peek(n int) rune { return s.text[min(s.at+n, len(s.text)-1)] }

func (s *scanner) column() int { return s.mark.Column - 1 }

func (s *scanner) skip(n int) {
	s.at += n
	s.mark.Column += n
}

// skipLine goes past a line break.
func (s *scanner) skipLine() {
	if s.peek(0) == '\r' && s.peek(1) == '\n' {
		s.at++
	}
	s.at++
	s.mark = Mark{s.mark.Line + 1, 1}
}

// line reads a line break, if there is one: those of ASCII and NEL are all a newline.
func (s *scanner) line(to []rune) []rune {
	r := s.peek(0)
	if !isBreak(r) {
		return to
	}
	s.skipLine()
	if r == '\u2028' || r == '\u2029' {
		return append(to, r)
	}
	return append(to, '\n')
}

// comment goes to the end of a line that has a comment here.
func (s *scanner) comment() {
	if s.peek(0) == '#' {
		for !isBreakOrEnd(s.peek(0)) {
			s.skip(1)
		}
	}
}

func (s *scanner) blanks() {
	for isBlank(s.peek(0)) {
		s.skip(1)
	}
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isBreakOrEnd(r rune) bool { return r == 0 || isBreak(r) }

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func isBlankOrEnd(r rune) bool { return isBlank(r) || isBreakOrEnd(r) }

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-'
}

// next returns the token that comes next, which stays; take takes it.
func (s *scanner) next() (*token, error) {
	for {
		need := len(s.tokens) == 0
		if !need {
			if err := s.staleKeys(); err != nil {
				return nil, err
			}
			for _, k := range s.keys {
				need = need || k.possible && k.number == s.parsed
			}
		}
		if !need {
			return &s.tokens[0], nil
		}
		if err := s.fetch(); err != nil {
			return nil, err
		}
	}
}

func (s *scanner) take() {
	s.tokens = s.tokens[1:]
	s.parsed++
}

func (s *scanner) put(t token) { s.tokens = append(s.tokens, t) }

// staleKeys drops the keys that can be none any more: those of other lines, and those too long.
func (s *scanner) staleKeys() error {
	const longest = 1024
	for i := range s.keys {
		k := &s.keys[i]
		if k.possible && (k.mark.Line < s.mark.Line || k.at+longest < s.at) {
			if k.required {
				return s.fault("while scanning a simple key", k.mark, "could not find expected ':'")
			}
			k.possible = false
		}
	}
	return nil
}

func (s *scanner) saveKey() error {
	if !s.keyAllowed {
		return nil
	}
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keys[len(s.keys)-1] = simpleKey{possible: true, required: s.flow == 0 && s.indent == s.column(),
		number: s.parsed + len(s.tokens),
		at:     s.at, mark: s.mark}
	return nil
}

func (s *scanner) removeKey() error {
	k := &s.keys[len(s.keys)-1]
	if k.possible && k.required {
		return s.fault("while scanning a simple key", k.mark, "could not find expected ':'")
	}
	k.possible = false
	return nil
}

// roll opens a block at a column if that is further in than the current one. Its token stands before that of the
// number, or behind all for -1.
func (s *scanner) roll(column, number int, kind tokenKind, mark Mark) {
	if s.flow > 0 || s.indent >= column {
		return
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	s.insert(number, token{kind: kind, start: mark, end: mark})
}

func (s *scanner) insert(number int, t token) {
	s.tokens = append(s.tokens, t)
	if number < 0 {
		return
	}
	i := number - s.parsed
	copy(s.tokens[i+1:], s.tokens[i:])
	s.tokens[i] = t
}

// unroll closes the blocks that are further in than a column.
func (s *scanner) unroll(column int) {
	for s.flow == 0 && s.indent > column {
		s.put(token{kind: blockEnd, start: s.mark, end: s.mark})
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}

// gap goes to the next token.
func (s *scanner) gap() {
	for {
		if s.column() == 0 && s.peek(0) == '\ufeff' {
			s.skip(1)
		}
		for s.peek(0) == ' ' || (s.flow > 0 || !s.keyAllowed) && s.peek(0) == '\t' {
			s.skip(1)
		}
		s.comment()
		if !isBreak(s.peek(0)) {
			return
		}
		s.skipLine()
		if s.flow == 0 {
			s.keyAllowed = true
		}
	}
}

// marker reports whether --- or ... stands here by itself.
func (s *scanner) marker(c rune) bool {
	return s.column() == 0 && s.peek(0) == c && s.peek(1) == c && s.peek(2) == c && isBlankOrEnd(s.peek(3))
}
