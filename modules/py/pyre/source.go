package pyre

import (
	"fmt"
	"strings"
	"unicode"

	"hark/modules/py/value"
)

// source hands out the characters of an expression or template.
type source struct {
	text []rune
	at   int
}

// peek returns the next character; 0 at the end.
func (s *source) peek() rune {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *source) done() bool { return s.at >= len(s.text) }

// take takes the next character if it is c.
func (s *source) take(c rune) bool {
	if s.done() || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// digits takes up to n characters out of a set.
func (s *source) digits(set string, n int) string {
	from := s.at
	for s.at-from < n && !s.done() && strings.ContainsRune(set, s.text[s.at]) {
		s.at++
	}
	return string(s.text[from:s.at])
}

// fail is an error about the place before which offset characters have been taken.
func (s *source) fail(offset int, format string, args ...any) error {
	return s.failAt(s.at-offset, format, args...)
}

func (s *source) failAt(at int, format string, args ...any) error {
	msg := fmt.Sprintf("%s at position %d", fmt.Sprintf(format, args...), at)
	if before := string(s.text[:at]); strings.Contains(string(s.text), "\n") {
		line := strings.Count(before, "\n") + 1
		column := at - len([]rune(before[:strings.LastIndexByte(before, '\n')+1])) + 1
		msg += fmt.Sprintf(" (line %d, column %d)", line, column)
	}
	return reError("%s", msg)
}

// until takes a name that ends with a character.
func (s *source) until(end rune) (string, error) {
	from := s.at
	for !s.done() {
		c := s.text[s.at]
		s.at++
		if c == end {
			if s.at-1 == from {
				return "", s.fail(1, "missing group name")
			}
			return string(s.text[from : s.at-1]), nil
		}
	}
	if from == s.at {
		return "", s.fail(0, "missing group name")
	}
	return "", s.fail(s.at-from, "missing %c, unterminated name", end)
}

// isIdentifier reports whether a group may have the name.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// badName is the error of a group name that is none.
func (s *source) badName(name string) error {
	return s.fail(len([]rune(name))+1, "bad character in group name %s", value.ReprText(name))
}

const (
	octal   = "01234567"
	decimal = "0123456789"
	hexa    = "0123456789abcdefABCDEF"
)

func isLetter(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80 }
