package foreign

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// importing is one name that a statement of a Python file imports.
type importing struct {
	// from is what the name is taken from, with the dots of a relative import; "" if the name is imported as it is.
	from, name string
	// optional reports whether the statement stands inside another one: the file may do without.
	optional bool
}

// imports returns the names that a file imports, wherever it does so. Text that is not Python gives what looks like
// it.
func imports(text string) []importing {
	var found []importing
	s := scanner{text: strings.TrimPrefix(text, "\ufeff"), begins: true}
	for t := s.next(); t != ""; {
		optional := s.nested
		switch {
		case s.first && t == "import":
			t = s.list("", optional, &found)
		case s.first && t == "from":
			var from string
			for t = s.next(); t == "." || isName(t) && t != "import"; t = s.next() {
				from += t
			}
			if t == "import" {
				t = s.list(from, optional, &found)
			}
		default:
			t = s.next()
		}
	}
	return found
}

// list reads the names of an import, up to the end of the statement, and gives what comes after it.
func (s *scanner) list(from string, optional bool, found *[]importing) string {
	var name string
	renamed := false // what follows is what the name is called here
	add := func() {
		if name != "" {
			*found = append(*found, importing{from, name, optional})
		}
		name, renamed = "", false
	}
	for {
		t := s.next()
		switch {
		case t == "" || t == "\n" || t == ";":
			add()
			return t
		case t == ",":
			add()
		case t == "as":
			renamed = true
		case t == "(" || t == ")" || renamed:
		default:
			name += t
		}
	}
}

func isName(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return r == '_' || unicode.IsLetter(r)
}

// scanner takes the text of a Python file apart: into names, the signs between them, "\n" at the end of a logical
// line, and `""` for any string and number.
type scanner struct {
	text  string
	at    int
	depth int // of brackets
	// begins reports whether the next token begins a statement, first that the one that was read does, and nested
	// that it stands inside another.
	begins, first, nested bool
}

// next returns the next token, "" at the end.
func (s *scanner) next() string {
	s.blanks()
	if s.at >= len(s.text) {
		return ""
	}
	s.first, s.begins = s.begins, false
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	start := s.at
	s.at += size
	switch {
	case r == '\n':
		s.begins, s.nested = true, s.at < len(s.text) && strings.IndexByte(" \t\f", s.text[s.at]) >= 0
		return "\n"
	case r == '"' || r == '\'':
		s.quoted(byte(r))
		return `""`
	case unicode.IsDigit(r):
		s.word()
		return `""`
	case r == '_' || unicode.IsLetter(r):
		s.word()
		word := s.text[start:s.at]
		if s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\'') && len(word) <= 2 &&
			strings.Trim(strings.ToLower(word), "rbuft") == "" {
			s.at++
			s.quoted(s.text[s.at-1])
			return `""`
		}
		return word
	}
	s.sign(r)
	return string(r)
}

// sign notes what a sign means for statements: a colon outside of brackets begins a block on the same line.
func (s *scanner) sign(r rune) {
	switch r {
	case '(', '[', '{':
		s.depth++
	case ')', ']', '}':
		s.depth = max(0, s.depth-1)
	case ';':
		s.begins = s.depth == 0
	case ':':
		if s.depth == 0 {
			s.begins, s.nested = true, true
		}
	}
}

// blanks goes over what parts tokens: blanks, comments, ends of lines that do not end a logical one, and empty lines.
func (s *scanner) blanks() {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\f' || c == '\r':
		case c == '#':
			end := strings.IndexByte(s.text[s.at:], '\n')
			if end < 0 {
				s.at = len(s.text)
				return
			}
			s.at += end - 1
		case c == '\\':
			if rest := strings.TrimPrefix(s.text[s.at+1:], "\r"); strings.HasPrefix(rest, "\n") {
				s.at = len(s.text) - len(rest)
			}
		case c == '\n' && s.depth > 0:
		default:
			return
		}
	}
}

// word goes over the rest of a name or number.
func (s *scanner) word() {
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return
		}
		s.at += size
	}
}

// quoted goes over the rest of a string, which began with a quote.
func (s *scanner) quoted(quote byte) {
	end := string(quote)
	if triple := strings.Repeat(end, 2); strings.HasPrefix(s.text[s.at:], triple) {
		s.at += 2
		end += triple
	}
	for s.at < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.at:], end):
			s.at += len(end)
			return
		case s.text[s.at] == '\\':
			s.at += 2
		case s.text[s.at] == '\n' && len(end) == 1:
			return // it has no end
		default:
			s.at++
		}
	}
	s.at = len(s.text)
}
