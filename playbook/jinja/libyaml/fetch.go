package libyaml

import "strings"

// fetch reads the next token, or several.
func (s *scanner) fetch() error {
	if !s.started {
		s.started, s.indent, s.keyAllowed = true, -1, true
		s.keys = append(s.keys, simpleKey{})
		s.put(token{kind: streamStart, start: s.mark, end: s.mark})
		return nil
	}
	s.gap()
	if err := s.staleKeys(); err != nil {
		return err
	}
	s.unroll(s.column())
	r := s.peek(0)
	switch {
	case r == 0 && s.at >= len(s.text)-4:
		return s.fetchEnd()
	case s.column() == 0 && r == '%':
		if err := s.outside(); err != nil {
			return err
		}
		return s.directive()
	case s.marker('-'):
		return s.fetchMarker(documentStart)
	case s.marker('.'):
		return s.fetchMarker(documentEnd)
	}
	if done, err := s.fetchIndicator(r); done || err != nil {
		return err
	}
	if s.startsPlain(r) {
		return s.property(s.plain)
	}
	return s.fault("while scanning for the next token", s.mark, "found character that cannot start any token")
}

// fetchIndicator reads a token that begins with an indicator character; false if there is none.
func (s *scanner) fetchIndicator(r rune) (bool, error) {
	alone := isBlankOrEnd(s.peek(1))
	switch {
	case r == '[':
		return true, s.openFlow(flowSequenceStart)
	case r == '{':
		return true, s.openFlow(flowMappingStart)
	case r == ']':
		return true, s.closeFlow(flowSequenceEnd)
	case r == '}':
		return true, s.closeFlow(flowMappingEnd)
	case r == ',':
		return true, s.fetchComma()
	case r == '-' && alone:
		return true, s.fetchEntry()
	case r == '?' && (s.flow > 0 || alone):
		return true, s.fetchKey()
	case r == ':' && (s.flow > 0 || alone):
		return true, s.fetchValue()
	case r == '*':
		return true, s.property(func() error { return s.anchor(aliasToken, "while scanning an alias") })
	case r == '&':
		return true, s.property(func() error { return s.anchor(anchorToken, "while scanning an anchor") })
	case r == '!':
		return true, s.property(s.tag)
	case (r == '|' || r == '>') && s.flow == 0:
		if err := s.removeKey(); err != nil {
			return true, err
		}
		s.keyAllowed = true
		return true, s.blockScalar(r == '|')
	case r == '\'' || r == '"':
		return true, s.property(func() error { return s.quoted(r) })
	}
	return false, nil
}

// startsPlain reports whether a scalar without quotes begins with r here.
func (s *scanner) startsPlain(r rune) bool {
	switch {
	case r == '-':
		return !isBlank(s.peek(1))
	case r == '?' || r == ':':
		return s.flow == 0 && !isBlankOrEnd(s.peek(1))
	}
	return !isBlankOrEnd(r) && !strings.ContainsRune(",[]{}#&*!|>'\"%@`", r)
}

// property reads what may be the beginning of a key and allows none behind it.
func (s *scanner) property(read func() error) error {
	if err := s.saveKey(); err != nil {
		return err
	}
	s.keyAllowed = false
	return read()
}

// outside ends all blocks.
func (s *scanner) outside() error {
	s.unroll(-1)
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keyAllowed = false
	return nil
}

func (s *scanner) fetchEnd() error {
	if s.column() != 0 {
		s.mark = Mark{s.mark.Line + 1, 1}
	}
	if err := s.outside(); err != nil {
		return err
	}
	s.put(token{kind: streamEnd, start: s.mark, end: s.mark})
	return nil
}

func (s *scanner) fetchMarker(kind tokenKind) error {
	if err := s.outside(); err != nil {
		return err
	}
	s.character(kind, 3)
	return nil
}

// character puts a token of n characters.
func (s *scanner) character(kind tokenKind, n int) {
	start := s.mark
	s.skip(n)
	s.put(token{kind: kind, start: start, end: s.mark})
}

func (s *scanner) openFlow(kind tokenKind) error {
	if err := s.saveKey(); err != nil {
		return err
	}
	if s.flow >= deepest {
		return s.fault("while increasing flow level", s.mark, "exceeded max depth")
	}
	s.flow++
	s.keys = append(s.keys, simpleKey{})
	s.keyAllowed = true
	s.character(kind, 1)
	return nil
}

func (s *scanner) closeFlow(kind tokenKind) error {
	if err := s.removeKey(); err != nil {
		return err
	}
	if s.flow > 0 {
		s.flow--
		s.keys = s.keys[:len(s.keys)-1]
	}
	s.keyAllowed = false
	s.character(kind, 1)
	return nil
}

func (s *scanner) fetchComma() error {
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keyAllowed = true
	s.character(flowEntry, 1)
	return nil
}

// begin opens a block for an indicator; the problem is that none may stand here.
func (s *scanner) begin(kind tokenKind, problem string) error {
	if s.flow > 0 {
		return nil
	}
	if !s.keyAllowed {
		return s.fault("", s.mark, problem)
	}
	s.roll(s.column(), -1, kind, s.mark)
	return nil
}

func (s *scanner) fetchEntry() error {
	if err := s.begin(blockSequenceStart, "block sequence entries are not allowed in this context"); err != nil {
		return err
	}
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keyAllowed = true
	s.character(blockEntry, 1)
	return nil
}

func (s *scanner) fetchKey() error {
	if err := s.begin(blockMappingStart, "mapping keys are not allowed in this context"); err != nil {
		return err
	}
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keyAllowed = s.flow == 0
	s.character(keyToken, 1)
	return nil
}

func (s *scanner) fetchValue() error {
	if k := &s.keys[len(s.keys)-1]; k.possible {
		s.insert(k.number, token{kind: keyToken, start: k.mark, end: k.mark})
		s.roll(k.mark.Column-1, k.number, blockMappingStart, k.mark)
		k.possible, s.keyAllowed = false, false
	} else {
		if err := s.begin(blockMappingStart, "mapping values are not allowed in this context"); err != nil {
			return err
		}
		s.keyAllowed = s.flow == 0
	}
	s.character(valueToken, 1)
	return nil
}
