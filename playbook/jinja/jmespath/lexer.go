package jmespath

import (
	"math"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// token is a word of an expression; the kinds have Python's names, which errors show.
type token struct {
	kind  string
	text  string
	value value.Value // of literals
	start int
}

type lexer struct {
	text   []rune
	at     int
	tokens []token
}

func simpleTokens() map[rune]string {
	return map[rune]string{'.': "dot", '*': "star", ']': "rbracket", ',': "comma", ':': "colon", '@': "current",
		'(': "lparen",
		')': "rparen", '{': "lbrace", '}': "rbrace"}
}

func tokenize(expression string) ([]token, error) {
	if expression == "" {
		return nil, failf("Invalid JMESPath expression: cannot be empty.")
	}
	l := &lexer{text: []rune(expression)}
	for l.at < len(l.text) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return append(l.tokens, token{kind: "eof", start: len(l.text)}), nil
}

func (l *lexer) fail(at int, msg string) error {
	return failf("Bad jmespath expression: %s:\n%s\n%s^", msg, string(l.text), strings.Repeat(" ", at))
}

func (l *lexer) add(kind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, text: text, start: l.at})
	l.at += len([]rune(text))
}

func (l *lexer) peek(c rune) bool { return l.at+1 < len(l.text) && l.text[l.at+1] == c }

// either adds the longer of two tokens if the second character follows.
func (l *lexer) either(second rune, double, single string) {
	c := string(l.text[l.at])
	if l.peek(second) {
		l.add(double, c+string(second))
	} else {
		l.add(single, c)
	}
}

func (l *lexer) next() error {
	c := l.text[l.at]
	if kind, ok := simpleTokens()[c]; ok {
		l.add(kind, string(c))
		return nil
	}
	switch {
	case strings.ContainsRune(" \t\n\r", c):
		l.at++
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80:
		l.add("unquoted_identifier", l.run("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
	case c >= '0' && c <= '9' || c == '-':
		return l.number()
	case c == '[':
		l.bracket()
	case c == '\'':
		text, err := l.until('\'')
		l.literal(value.Str(strings.ReplaceAll(text, `\'`, "'")), text)
		return err
	case c == '`':
		return l.jsonLiteral()
	case c == '"':
		return l.quoted()
	case c == '|':
		l.either('|', "or", "pipe")
	case c == '&':
		l.either('&', "and", "expref")
	case c == '<':
		l.either('=', "lte", "lt")
	case c == '>':
		l.either('=', "gte", "gt")
	case c == '!':
		l.either('=', "ne", "not")
	case c == '=' && l.peek('='):
		l.add("eq", "==")
	case c == '=':
		return l.fail(l.at, "Unknown token '='")
	default:
		return l.fail(l.at, "Unknown token "+string(c))
	}
	return nil
}

// run returns the longest run of characters out of a set.
func (l *lexer) run(set string) string {
	end := l.at
	for end < len(l.text) && strings.ContainsRune(set, l.text[end]) {
		end++
	}
	return string(l.text[l.at:end])
}

func (l *lexer) number() error {
	start := l.at
	l.at++
	text := string(l.text[start]) + l.run("0123456789")
	l.at = start
	if text == "-" {
		return l.fail(start, "Unknown token '-'")
	}
	l.add("number", text)
	return nil
}

func (l *lexer) bracket() {
	switch {
	case l.peek(']'):
		l.add("flatten", "[]")
	case l.peek('?'):
		l.add("filter", "[?")
	default:
		l.add("lbracket", "[")
	}
}

// until takes what stands between two of a delimiter, which a backslash protects.
func (l *lexer) until(delimiter rune) (string, error) {
	for end := l.at + 1; end < len(l.text); end++ {
		switch l.text[end] {
		case '\\':
			end++
		case delimiter:
			return string(l.text[l.at+1 : end]), nil
		}
	}
	err := l.fail(l.at, "Unclosed "+string(delimiter)+" delimiter")
	l.at = len(l.text)
	return "", err
}

// literal adds a value that stood between two delimiters.
func (l *lexer) literal(v value.Value, source string) {
	l.tokens = append(l.tokens, token{kind: "literal", text: value.Printed(v), value: v, start: l.at})
	l.at += len([]rune(source)) + 2
}

func (l *lexer) jsonLiteral() error {
	source, err := l.until('`')
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(source, "\\`", "`")
	v, err := pyyaml.JSON(strings.TrimSpace(text), value.KindStr)
	if err != nil { // what is no JSON is text
		v, err = pyyaml.JSON(`"`+strings.TrimLeft(text, " \t\n\r")+`"`, value.KindStr)
	}
	if err != nil {
		return l.fail(l.at, "Bad token "+text)
	}
	l.literal(v, source)
	return nil
}

func (l *lexer) quoted() error {
	source, err := l.until('"')
	if err != nil {
		return err
	}
	v, err := pyyaml.JSON(`"`+source+`"`, value.KindStr)
	if err != nil {
		msg, _, _ := strings.Cut(err.Error(), ":")
		return l.fail(l.at, msg)
	}
	name, _ := value.Text(v)
	l.tokens = append(l.tokens, token{kind: "quoted_identifier", text: name, start: l.at})
	l.at += len([]rune(source)) + 2
	return nil
}

// int returns the number of a token; one that is too large is beyond every list.
func (t token) int() int {
	n, err := strconv.Atoi(t.text)
	if err != nil {
		return map[bool]int{true: math.MinInt32, false: math.MaxInt32}[strings.HasPrefix(t.text, "-")]
	}
	return n
}
