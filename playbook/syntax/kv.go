package syntax

import (
	"strings"
	"unicode/utf8"
)

// Pair is one key=value.
type Pair struct{ Key, Value string }

// rawKeys are the parameters that free-form modules take as key=value beside their text.
var rawKeys = map[string]bool{"creates": true, "removes": true, "chdir": true, "executable": true, "warn": true,
	"stdin": true, "stdin_add_newline": true, "strip_empty_ends": true}

// KV splits "a=1 b='x y' rest" into pairs and the other words, joined as they were (raw). It removes quotes around a
// value, leaves templates whole, and resolves escapes like \x0a and \u0041. A key that comes twice is in pairs twice:
// the last counts. With freeForm only creates, removes, chdir and the like are keys, and everything else is raw text.
func KV(text string, freeForm bool) (pairs []Pair, raw string, err error) {
	words, err := Split(text)
	if err != nil {
		return nil, "", err
	}
	var rest []string
	for _, word := range words {
		plain := unescape(word)
		at, escaped := equalSign(plain)
		switch {
		case at < 0 && escaped:
			rest = append(rest, strings.ReplaceAll(plain, `\=`, "="))
		case at < 0 || freeForm && !rawKeys[plain[:at]]:
			rest = append(rest, word)
		default:
			pairs = append(pairs, Pair{strings.TrimSpace(plain[:at]), unquote(strings.TrimSpace(plain[at+1:]))})
		}
	}
	return pairs, joinWords(rest), nil
}

// equalSign returns the place of the first = that is not escaped and not the first character, -1 if there is none;
// escaped says that there were others.
func equalSign(s string) (at int, escaped bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' {
			continue
		}
		if i > 0 && s[i-1] != '\\' {
			return i, false
		}
		escaped = true
	}
	return -1, escaped
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') && s[len(s)-2] != '\\' {
		return s[1 : len(s)-1]
	}
	return s
}

func joinWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && b.Len() > 0 && !strings.HasSuffix(words[i-1], "\n") {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// Split cuts arguments at blanks outside quotes and templates. Line ends stay at the end of the word before them; a
// lone backslash at the end of a line joins it to the next.
func Split(text string) ([]string, error) {
	s := splitter{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if s.line(line) && i < len(lines)-1 {
			s.extend("\n")
		}
	}
	if s.lost {
		return nil, &Error{Msg: "Unable to parse argument string. list index out of range"}
	}
	if s.depth() > 0 || s.quote != 0 {
		return nil, &Error{Msg: "failed at splitting arguments, either an unbalanced jinja2 block or quotes: " + text}
	}
	return s.words, nil
}

type splitter struct {
	words                  []string
	quote                  rune
	prints, blocks, remark int // open {{ {% {#
	lost                   bool
}

func (s *splitter) depth() int { return s.prints + s.blocks + s.remark }

// extend adds to the last word. Text that begins with two blanks or a line end has none yet, which Ansible rejects.
func (s *splitter) extend(text string) {
	if len(s.words) == 0 {
		s.lost = true
		return
	}
	s.words[len(s.words)-1] += text
}

// line reads one line; it returns false when the line continues.
func (s *splitter) line(line string) bool {
	tokens := strings.Split(line, " ")
	ended := true
	for i, token := range tokens {
		switch {
		case token == "" && i > 0:
			s.extend(" ")
		case token == `\` && s.quote == 0:
			ended = false
		default:
			s.token(token, i, len(tokens))
		}
	}
	return ended
}

func (s *splitter) token(token string, i, n int) {
	wasQuoted, wasDeep := s.quote != 0, s.depth() > 0
	s.quote = quoteState(token, s.quote)
	quoted := s.quote != 0
	done := true
	switch {
	case quoted && !wasQuoted && !wasDeep:
		s.words = append(s.words, token)
	case wasDeep || quoted || wasQuoted:
		switch {
		case i == 0 && wasQuoted:
			s.extend(token)
		case n > 1 && i > 0:
			s.extend(" " + token)
		case n > 1:
			s.extend(token)
		default:
			s.extend("\n" + token)
		}
	default:
		done = false
	}
	for _, b := range []struct {
		depth       *int
		open, close string
	}{{&s.prints, "{{", "}}"}, {&s.blocks, "{%", "%}"}, {&s.remark, "{#", "#}"}} {
		before := *b.depth
		*b.depth = max(0, before+strings.Count(token, b.open)-strings.Count(token, b.close))
		if *b.depth != before && !done {
			s.words = append(s.words, token)
			done = true
		}
	}
	if s.depth() == 0 && !quoted && !done && token != "" {
		s.words = append(s.words, token)
	}
}

// quoteState returns the quote that is open after the token, 0 if none.
func quoteState(token string, open rune) rune {
	prev := rune(0)
	for _, c := range token {
		if (c == '"' || c == '\'') && prev != '\\' {
			switch open {
			case 0:
				open = c
			case c:
				open = 0
			}
		}
		prev = c
	}
	return open
}

var shortEscapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n',
	'r': '\r', 't': '\t', 'v': '\v'}

// unescape resolves the escapes of Python's text. Characters by name (\N{...}) stay unchanged.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		if c, ok := shortEscapes[s[i+1]]; ok {
			b.WriteByte(c)
			i += 2
			continue
		}
		if r, n := hexEscape(s[i+1:]); n > 0 {
			b.WriteRune(r)
			i += 1 + n
			continue
		}
		b.WriteByte('\\')
		i++
	}
	return b.String()
}

// hexEscape reads x41, u0041 or U00000041; n is 0 if s is none of them.
func hexEscape(s string) (r rune, n int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 || len(s) < 1+digits {
		return 0, 0
	}
	var v uint32
	for _, c := range []byte(s[1 : 1+digits]) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return 0, 0
		}
		v = v<<4 | uint32(d)
	}
	if v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), 1 + digits
}
