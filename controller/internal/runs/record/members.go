package record

import (
	"bytes"

	"hark/modules/result"
)

// briefed returns a result without the members that a screen that shows only states would not show. It returns nothing
// for what is no JSON object.
func briefed(raw []byte, diff bool) []byte {
	out := make([]byte, 0, len(raw))
	out = append(out, '{')
	labelled := result.Raw(raw).Labelled() // then no view shows the item itself
	s := scan{text: raw}
	if !s.take('{') {
		return []byte("{}")
	}
	for !s.take('}') {
		key := s.value()
		if len(key) < 2 || key[0] != '"' || !s.take(':') {
			return []byte("{}")
		}
		v := s.value()
		if len(v) == 0 {
			return []byte("{}")
		}
		if name := string(key[1 : len(key)-1]); stated(name) || name == "diff" && diff || name == "item" && !labelled {
			if name == "results" {
				v = []byte("[]") // only its existence counts
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, key...), ':'), v...)
		}
		if !s.take(',') && !s.at('}') {
			return []byte("{}")
		}
	}
	return append(out, '}')
}

// stated reports whether a member of a result says only how it came out, and not what was done.
func stated(name string) bool {
	switch name {
	case "changed", "failed", "skipped", "skip_reason", "unreachable", "rc", "attempts", "retries", "warnings",
		"deprecations", "exception", "results", "ansible_loop_var",
		"ansible_job_id", "started", "finished", "censored":
		return true
	}
	return result.Displayed(name)
}

// scan reads valid JSON without making values of it.
type scan struct {
	text []byte
	pos  int
}

func (s *scan) blank() {
	for s.pos < len(s.text) && bytes.IndexByte([]byte(" \t\r\n"), s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// at reports whether a character comes next; take skips it.
func (s *scan) at(c byte) bool {
	s.blank()
	return s.pos < len(s.text) && s.text[s.pos] == c
}

func (s *scan) take(c byte) bool {
	if !s.at(c) {
		return false
	}
	s.pos++
	return true
}

// value returns the text of the next value, empty if there is none.
func (s *scan) value() []byte {
	s.blank()
	start, depth := s.pos, 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			if !s.skipText() {
				return nil
			}
			if depth == 0 {
				return s.text[start:s.pos]
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return s.text[start:s.pos]
			}
			if depth--; depth == 0 {
				s.pos++
				return s.text[start:s.pos]
			}
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return s.text[start:s.pos]
		}
		s.pos++
	}
	return s.text[start:s.pos]
}

// skipText skips a text that begins here.
func (s *scan) skipText() bool {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return true
		}
	}
	return false
}
