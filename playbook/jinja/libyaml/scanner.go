package libyaml

// scanner makes tokens of a text. It reads on only as far as the next token needs, so that errors come in the order
// of libyaml's.
type scanner struct {
	input

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
	s := &scanner{input: input{text: runes, mark: Mark{1, 1}}}
	if runes[0] == '\ufeff' {
		s.at++
	}
	return s
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
