package jinja

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokData
	tokVariableBegin
	tokVariableEnd
	tokBlockBegin
	tokBlockEnd
	tokCommentBegin
	tokComment
	tokCommentEnd
	tokRawBegin
	tokRawEnd
	tokLineStatementBegin
	tokLineStatementEnd
	tokLineCommentBegin
	tokLineComment
	tokWhitespace
	tokFloat
	tokInteger
	tokName
	tokString
	tokOperator
)

// token is a piece of the source: the texts of all tokens in order are the source again, but for
// whitespace that tags strip.
type token struct {
	text string
	line int32
	kind tokenKind
}

// lexer cuts a template into tokens.
type lexer struct {
	syntax  *Syntax
	src     string
	pos     int
	line    int
	starts  []rule // of tags, in the order they are tried
	first   string // the bytes that one of starts may begin with; "" for any
	tokens  []token
	braces  []byte // the closing brackets that are awaited
	newLine bool   // the last match ended a line
	all     bool   // whitespace and comments are tokens too
}

// rule is the beginning of a tag.
type rule struct {
	kind   tokenKind
	prefix string
	name   string // orders rules of one length
}

// lex returns the tokens of a template, with all those that mean nothing to the parser if all is set. With an error
// it gives those before it.
func lex(src string, syntax *Syntax, all bool) ([]token, error) {
	l := &lexer{syntax: syntax, src: normalizeNewlines(src), line: 1, newLine: true, starts: syntax.rules(),
		tokens: make([]token, 0, 8+len(src)/4), all: all}
	l.first = firstBytes(l.starts)
	if !syntax.KeepTrailingNewline {
		l.src = strings.TrimSuffix(l.src, "\n")
	}
	for l.pos < len(l.src) {
		if err := l.root(); err != nil {
			return l.tokens, err
		}
	}
	return l.tokens, nil
}

func normalizeNewlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (l *lexer) fail(format string, args ...any) error {
	return syntaxErrorf(l.line, format, args...)
}

// emit adds a token and counts its lines; n of the source are read.
func (l *lexer) emit(kind tokenKind, text string, n int) {
	if l.all || kind != tokWhitespace && kind != tokComment {
		l.tokens = append(l.tokens, token{text, int32(l.line), kind})
	}
	switch kind {
	case tokName, tokInteger, tokFloat, tokOperator:
	default:
		l.line += strings.Count(text, "\n")
	}
	l.pos += n
	if n > 0 {
		l.newLine = l.src[l.pos-1] == '\n'
	}
}

// root reads text up to the next tag, and the tag.
func (l *lexer) root() error {
	at, r, n := l.findTag()
	if at < 0 {
		l.emit(tokData, l.src[l.pos:], len(l.src)-l.pos)
		return nil
	}
	sign := byte(0)
	tag := l.src[at : at+n]
	if r.kind == tokRawBegin {
		sign = signAt(tag, len(l.syntax.BlockStart))
	} else if last := tag[n-1]; len(tag) > 0 && (last == '-' || last == '+') && n > tagWidth(l.src[at:], r) {
		sign = last
	}
	l.data(l.src[l.pos:at], sign, r.kind)
	l.emit(r.kind, tag, n)
	switch r.kind {
	case tokCommentBegin:
		return l.comment()
	case tokRawBegin:
		return l.raw()
	case tokLineCommentBegin:
		return l.lineComment()
	}
	return l.expression(r.kind)
}

func signAt(s string, i int) byte {
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		return s[i]
	}
	return 0
}

// tagWidth returns the width of the beginning of a tag without its sign.
func tagWidth(s string, r rule) int {
	return strings.Index(s, r.prefix) + len(r.prefix)
}

// firstBytes returns the bytes that tags begin with; "" if a tag may begin with whitespace, as those of lines do.
func firstBytes(starts []rule) string {
	var first []byte
	for _, r := range starts {
		c := r.prefix[0]
		if r.kind == tokLineStatementBegin || r.kind == tokLineCommentBegin || c >= utf8.RuneSelf {
			return ""
		}
		if bytes.IndexByte(first, c) < 0 {
			first = append(first, c)
		}
	}
	return string(first)
}

// findTag looks for the first tag. n is the length of its beginning, with the sign.
func (l *lexer) findTag() (at int, r rule, n int) {
	for i := l.pos; i < len(l.src); i++ {
		if l.first != "" {
			skip := strings.IndexAny(l.src[i:], l.first)
			if skip < 0 {
				break
			}
			i += skip
		}
		if n := l.rawBegin(i); n > 0 {
			return i, rule{kind: tokRawBegin}, n
		}
		for _, r := range l.starts {
			if n := l.startsTag(i, r); n > 0 {
				if s := signAt(l.src, i+n); s != 0 {
					n++
				}
				return i, r, n
			}
		}
	}
	return -1, rule{}, 0
}

func (l *lexer) startsTag(i int, r rule) int {
	s := l.src[i:]
	switch r.kind {
	case tokLineStatementBegin:
		if i > 0 && l.src[i-1] != '\n' {
			return 0
		}
		rest := strings.TrimLeft(s, " \t\v")
		if strings.HasPrefix(rest, r.prefix) {
			return len(s) - len(rest) + len(r.prefix)
		}
		return 0
	case tokLineCommentBegin:
		if i > 0 && l.src[i-1] != '\n' && isSpaceByte(l.src[i-1]) {
			return 0
		}
		rest := strings.TrimLeft(s, " \t\v\f")
		if strings.HasPrefix(rest, r.prefix) {
			return len(s) - len(rest) + len(r.prefix)
		}
		return 0
	}
	if strings.HasPrefix(s, r.prefix) {
		return len(r.prefix)
	}
	return 0
}

// rawBegin returns the length of a {% raw %} at i, 0 if there is none.
func (l *lexer) rawBegin(i int) int {
	return l.rawTag(i, "raw", false)
}

// rawTag returns the length of a raw or endraw tag at i.
func (l *lexer) rawTag(i int, word string, end bool) int {
	s := l.src[i:]
	if !strings.HasPrefix(s, l.syntax.BlockStart) {
		return 0
	}
	rest := s[len(l.syntax.BlockStart):]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	rest = trimSpaceLeft(rest)
	if !strings.HasPrefix(rest, word) {
		return 0
	}
	rest = trimSpaceLeft(rest[len(word):])
	switch {
	case strings.HasPrefix(rest, "-"+l.syntax.BlockEnd):
		rest = trimSpaceLeft(rest[1+len(l.syntax.BlockEnd):])
	case end && strings.HasPrefix(rest, "+"+l.syntax.BlockEnd):
		rest = rest[1+len(l.syntax.BlockEnd):]
	case strings.HasPrefix(rest, l.syntax.BlockEnd):
		rest = rest[len(l.syntax.BlockEnd):]
		if end && l.syntax.TrimBlocks {
			rest = strings.TrimPrefix(rest, "\n")
		}
	default:
		return 0
	}
	return len(s) - len(rest)
}

func trimSpaceLeft(s string) string {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return s
	}
	return strings.TrimLeftFunc(s, isSpace)
}

func trimSpaceRight(s string) string { return strings.TrimRightFunc(s, isSpace) }

// isSpace is Python's str.isspace for one character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func isSpaceByte(c byte) bool { return c < utf8.RuneSelf && isSpace(rune(c)) }

// data emits the text before a tag, stripped as the tag's sign and lstrip_blocks ask.
func (l *lexer) data(text string, sign byte, tag tokenKind) {
	kept := text
	switch {
	case sign == '-':
		kept = trimSpaceRight(text)
	case sign != '+' && l.syntax.LstripBlocks && tag != tokVariableBegin:
		start := strings.LastIndexByte(text, '\n') + 1
		if (start > 0 || l.newLine) && start < len(text) && trimSpaceLeft(text[start:]) == "" {
			kept = text[:start]
		}
	}
	if kept != "" {
		l.tokens = append(l.tokens, token{kept, int32(l.line), tokData})
	}
	l.line += strings.Count(kept, "\n")
	if sign == '-' {
		l.line += strings.Count(text[len(kept):], "\n")
	}
	l.pos += len(text)
}

func (l *lexer) comment() error {
	end := strings.Index(l.src[l.pos:], l.syntax.CommentEnd)
	if end < 0 {
		if l.pos == len(l.src) {
			return nil
		}
		return l.fail("Missing end of comment tag")
	}
	text := l.src[l.pos : l.pos+end]
	n := len(l.syntax.CommentEnd)
	switch sign := lastByte(text); sign {
	case '-', '+':
		text = text[:len(text)-1]
		rest := l.src[l.pos+end+n:]
		n++
		if sign == '-' {
			n += len(rest) - len(trimSpaceLeft(rest))
		}
	default:
		if l.syntax.TrimBlocks && strings.HasPrefix(l.src[l.pos+end+n:], "\n") {
			n++
		}
	}
	if text != "" {
		l.emit(tokComment, text, len(text))
	}
	l.emit(tokCommentEnd, l.src[l.pos:l.pos+n], n)
	return nil
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

func (l *lexer) raw() error {
	for i := l.pos; i < len(l.src); i++ {
		n := l.rawTag(i, "endraw", true)
		if n == 0 {
			continue
		}
		l.data(l.src[l.pos:i], signAt(l.src[i:], len(l.syntax.BlockStart)), tokRawEnd)
		l.emit(tokRawEnd, l.src[i:i+n], n)
		return nil
	}
	if l.pos == len(l.src) {
		return nil
	}
	return l.fail("Missing end of raw directive")
}

func (l *lexer) lineComment() error {
	end := strings.IndexByte(l.src[l.pos:], '\n')
	if end < 0 {
		end = len(l.src) - l.pos
	}
	l.emit(tokLineComment, l.src[l.pos:l.pos+end], end)
	return nil
}
