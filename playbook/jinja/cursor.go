package jinja

import (
	"errors"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// cursor goes through the tokens of a template. Errors of syntax leave by a panic with bailout, which recover takes.
type cursor struct {
	o       *Options
	tokens  []token // without what the parser does not see
	at      int
	lexErr  error // met behind the last token
	lastRow int32
	depth   int
	refused int32 // the first line that Jinja takes and Python refuses, 0 if there is none
}

// bailout carries a syntax error up through the parser.
type bailout struct{ err error }

func (c *cursor) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		var se *SyntaxError
		if errors.As(r.err, &se) {
			se.Name = c.o.Name
		}
		*err = r.err
	default:
		panic(r)
	}
}

func (c *cursor) fail(format string, args ...any) { c.failAt(c.cur().line, format, args...) }

func (c *cursor) failAt(line int32, format string, args ...any) {
	panic(bailout{syntaxErrorf(int(line), format, args...)})
}

// refuse notes what only the Python that Jinja makes of a template does not allow: errors of the template go first.
func (c *cursor) refuse(line int32) {
	if c.refused == 0 {
		c.refused = line
	}
}

// cur returns the current token. The end of the source shows an error of the lexer, if there was one.
func (c *cursor) cur() token { return c.peek(0) }

func (c *cursor) peek(n int) token {
	if c.at+n < len(c.tokens) {
		return c.tokens[c.at+n]
	}
	if c.lexErr != nil {
		panic(bailout{c.lexErr})
	}
	if len(c.tokens) > 0 {
		c.lastRow = c.tokens[len(c.tokens)-1].line
	}
	return token{kind: tokEOF, line: c.lastRow}
}

func (c *cursor) next() token {
	t := c.cur()
	if t.kind != tokEOF {
		c.at++
	}
	return t
}

// isName reports whether the current token is one of the words.
func (c *cursor) isName(words ...string) bool {
	t := c.cur()
	return t.kind == tokName && slices.Contains(words, t.text)
}

func (c *cursor) isOp(op string) bool {
	t := c.cur()
	return t.kind == tokOperator && t.text == op
}

func (c *cursor) skipName(word string) bool {
	if c.isName(word) {
		c.at++
		return true
	}
	return false
}

func (c *cursor) skipOp(op string) bool {
	if c.isOp(op) {
		c.at++
		return true
	}
	return false
}

func (c *cursor) expectOp(op string) token { return c.expect(c.isOp(op), op) }

func (c *cursor) expectWord(word string) token { return c.expect(c.isName(word), word) }

func (c *cursor) expectName() token {
	t := c.expect(c.cur().kind == tokName, "name")
	if !isIdentifier(t.text) {
		c.failAt(t.line, "Invalid character in identifier")
	}
	return t
}

func (c *cursor) expectKind(kind tokenKind) token {
	return c.expect(c.cur().kind == kind, describeKind(kind))
}

func (c *cursor) expect(ok bool, what string) token {
	if !ok {
		if c.cur().kind == tokEOF {
			c.fail("unexpected end of template, expected %s.", value.ReprText(what))
		}
		c.fail("expected token %s, got %s", value.ReprText(what), value.ReprText(describe(c.cur())))
	}
	return c.next()
}

func describe(t token) string {
	switch t.kind {
	case tokName, tokOperator:
		return t.text
	}
	return describeKind(t.kind)
}

func describeKind(kind tokenKind) string {
	switch kind {
	case tokVariableBegin:
		return "begin of print statement"
	case tokVariableEnd:
		return "end of print statement"
	case tokBlockBegin:
		return "begin of statement block"
	case tokBlockEnd:
		return "end of statement block"
	case tokData:
		return "template data / text"
	case tokEOF:
		return "end of template"
	case tokFloat:
		return "float"
	case tokInteger:
		return "integer"
	case tokString:
		return "string"
	}
	return "name"
}

// enter and leave count the nesting.
func (c *cursor) enter() {
	c.depth++
	if c.depth > maxParseDepth {
		c.fail("too many nested expressions or statements")
	}
}

func (c *cursor) leave() { c.depth-- }

// maxChain bounds operators, filters or subscripts in a row, which nest in the tree.
const maxChain = 2000

func (c *cursor) link(n *int) {
	*n++
	if *n > maxChain {
		c.fail("too many operators in one expression")
	}
}

func (c *cursor) newlines(text string) string {
	if s := c.o.Syntax.NewlineSequence; s != "" && s != "\n" {
		return strings.ReplaceAll(text, "\n", s)
	}
	return text
}
