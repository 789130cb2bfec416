package jinja

import (
	"strings"
	"unicode/utf8"
)

// expression reads the inside of a tag and its end.
func (l *lexer) expression(tag tokenKind) error {
	for l.pos < len(l.src) {
		if len(l.braces) == 0 {
			if kind, n := l.tagEnd(tag); n > 0 {
				l.emit(kind, l.src[l.pos:l.pos+n], n)
				return nil
			}
		}
		if err := l.inner(); err != nil {
			return err
		}
	}
	if tag == tokLineStatementBegin && len(l.braces) == 0 {
		l.emit(tokLineStatementEnd, "", 0)
	}
	return nil
}

// tagEnd returns the length of the end of the tag, if it stands here.
func (l *lexer) tagEnd(tag tokenKind) (tokenKind, int) {
	s := l.src[l.pos:]
	switch tag {
	case tokVariableBegin:
		return tokVariableEnd, endLength(s, l.syntax.VariableEnd, false, false)
	case tokBlockBegin:
		return tokBlockEnd, endLength(s, l.syntax.BlockEnd, true, l.syntax.TrimBlocks)
	}
	space := s[:len(s)-len(trimSpaceLeft(s))]
	if len(space) < len(s) { // empty lines after the statement are a part of its end
		space = space[:strings.LastIndexByte(space, '\n')+1]
	}
	return tokLineStatementEnd, len(space)
}

func endLength(s, end string, plus, trim bool) int {
	if rest, ok := strings.CutPrefix(s, "+"); ok && plus && strings.HasPrefix(rest, end) {
		return 1 + len(end)
	}
	if rest, ok := strings.CutPrefix(s, "-"); ok && strings.HasPrefix(rest, end) {
		return len(s) - len(trimSpaceLeft(rest[len(end):]))
	}
	if !strings.HasPrefix(s, end) {
		return 0
	}
	if trim && strings.HasPrefix(s[len(end):], "\n") {
		return len(end) + 1
	}
	return len(end)
}

// inner reads one token of an expression.
func (l *lexer) inner() error {
	s := l.src[l.pos:]
	if n := len(s) - len(trimSpaceLeft(s)); n > 0 {
		l.emit(tokWhitespace, s[:n], n)
		return nil
	}
	if isDigit(s[0]) {
		l.number(s)
		return nil
	}
	if n := nameLength(s); n > 0 {
		l.emit(tokName, s[:n], n)
		return nil
	}
	if n := stringLength(s); n > 0 {
		l.emit(tokString, s[:n], n)
		return nil
	}
	return l.operator(s)
}

// number reads a number, whose first digit is there.
func (l *lexer) number(s string) {
	if n := floatLength(s); n > 0 && (l.pos == 0 || l.src[l.pos-1] != '.') {
		l.emit(tokFloat, s[:n], n)
		return
	}
	n := integerLength(s)
	l.emit(tokInteger, s[:n], n)
}

func (l *lexer) operator(s string) error {
	n := operatorLength(s)
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(s)
		return l.fail("unexpected char %s at %d", quoteChar(r), utf8.RuneCountInString(l.src[:l.pos]))
	}
	if n == 1 {
		if err := l.balance(s[0]); err != nil {
			return err
		}
	}
	l.emit(tokOperator, s[:n], n)
	return nil
}

func operatorLength(s string) int {
	if len(s) > 1 {
		switch s[:2] {
		case "//", "**", "==", "!=", ">=", "<=":
			return 2
		}
	}
	if strings.IndexByte("+-/*%~[](){}<>=.:|,;", s[0]) >= 0 {
		return 1
	}
	return 0
}

func (l *lexer) balance(c byte) error {
	switch c {
	case '{':
		l.braces = append(l.braces, '}')
	case '(':
		l.braces = append(l.braces, ')')
	case '[':
		l.braces = append(l.braces, ']')
	case '}', ')', ']':
		if len(l.braces) == 0 {
			return l.fail("unexpected '%c'", c)
		}
		want := l.braces[len(l.braces)-1]
		l.braces = l.braces[:len(l.braces)-1]
		if want != c {
			return l.fail("unexpected '%c', expected '%c'", c, want)
		}
	}
	return nil
}
