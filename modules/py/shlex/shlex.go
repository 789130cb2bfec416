// Package shlex parts lines into words and quotes words as Python's shlex does.
package shlex

import "strings"

// Error is what is wrong with a line, in Python's words.
type Error string

func (e Error) Error() string { return string(e) }

// Split parts a command line into words.
func Split(line string) ([]string, error) {
	s := splitter{line: line}
	return s.split()
}

// SplitComments is Split for a line whose end may be a comment: # begins one anywhere outside of quotes.
func SplitComments(line string) ([]string, error) {
	s := splitter{line: line, comments: true}
	return s.split()
}

type splitter struct {
	line     string
	comments bool

	at    int
	words []string
	word  strings.Builder
	open  bool // a word has begun; it may be empty, as ''
}

func (s *splitter) split() ([]string, error) {
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			s.end()
		case c == '#' && s.comments:
			s.end()
			return s.words, nil
		case c == '\'' || c == '"':
			if err := s.quoted(c); err != nil {
				return nil, err
			}
		case c == '\\':
			if s.at++; s.at == len(s.line) {
				return nil, Error("No escaped character")
			}
			s.add(s.line[s.at])
		default:
			s.add(c)
		}
	}
	s.end()
	return s.words, nil
}

func (s *splitter) add(c byte) {
	s.word.WriteByte(c)
	s.open = true
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.open = false
	}
}

// quoted reads up to the closing quote. Within double quotes a backslash stands for itself before most characters.
func (s *splitter) quoted(quote byte) error {
	s.open = true
	for s.at++; s.at < len(s.line); s.at++ {
		c := s.line[s.at]
		switch {
		case c == quote:
			return nil
		case c == '\\' && quote == '"':
			if s.at++; s.at == len(s.line) {
				return Error("No escaped character")
			}
			if c = s.line[s.at]; c != '"' && c != '\\' {
				s.add('\\')
			}
		}
		s.add(c)
	}
	return Error("No closing quotation")
}

// Quote quotes a word for a shell.
func Quote(word string) string {
	if word == "" {
		return "''"
	}
	if strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}

// plain are the characters that need no quotes.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
