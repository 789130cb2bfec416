package jinja

import (
	"errors"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// maxParseDepth bounds how deep expressions and statements are nested.
const maxParseDepth = 400

// parser builds the tree. Its errors have Jinja's words.
type parser struct {
	o       *Options
	tokens  []token // without what the parser does not see
	at      int
	lexErr  error // met behind the last token
	depth   int
	tags    []string
	enders  [][]string
	items   []expr // read so far of the outputs and rows that are open, the innermost last
	stmts   []stmt // read so far of the bodies that are open
	lastRow int32
	loops   int   // that a break would leave
	refused int32 // the first line that Jinja takes and Python refuses, 0 if there is none
}

// refuse notes what only the Python that Jinja makes of a template does not allow: errors of the template go first.
func (p *parser) refuse(line int32) {
	if p.refused == 0 {
		p.refused = line
	}
}

// parseTemplate gives the tree of a template.
func parseTemplate(src string, o *Options) (body []stmt, err error) {
	tokens, lexErr := lex(src, &o.Syntax, false)
	return parseTokens(tokens, lexErr, o)
}

func parseTokens(tokens []token, lexErr error, o *Options) (body []stmt, err error) {
	p := newParser(tokens, lexErr, o)
	defer p.recover(&err)
	body = p.statementsUntil(nil)
	if p.refused > 0 {
		return nil, &SyntaxError{Msg: "invalid syntax", Name: o.Name, Line: int(p.refused), Verbatim: true}
	}
	return body, nil
}

// parseExpression gives the tree of a bare expression.
func parseExpression(src string, o *Options) (x expr, err error) {
	l := &lexer{syntax: &o.Syntax, src: normalizeNewlines(src), line: 1}
	var lexErr error
	for l.pos < len(l.src) && lexErr == nil {
		lexErr = l.inner()
	}
	p := newParser(l.tokens, lexErr, o)
	defer p.recover(&err)
	x = p.expression()
	if p.cur().kind != tokEOF {
		p.fail("chunk after expression")
	}
	return x, nil
}

// newParser takes the tokens over.
func newParser(tokens []token, lexErr error, o *Options) *parser {
	p := &parser{o: o, lexErr: lexErr, lastRow: 1, tokens: tokens[:0]}
	for _, t := range tokens {
		switch t.kind {
		case tokCommentBegin, tokComment, tokCommentEnd, tokWhitespace, tokRawBegin, tokRawEnd,
			tokLineCommentBegin, tokLineComment:
			continue
		case tokLineStatementBegin:
			t.kind = tokBlockBegin
		case tokLineStatementEnd:
			t.kind = tokBlockEnd
		}
		p.tokens = append(p.tokens, t)
	}
	return p
}

// bailout carries a syntax error up through the parser.
type bailout struct{ err error }

func (p *parser) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		var se *SyntaxError
		if errors.As(r.err, &se) {
			se.Name = p.o.Name
		}
		*err = r.err
	default:
		panic(r)
	}
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.cur().line, format, args...) }

func (p *parser) failAt(line int32, format string, args ...any) {
	panic(bailout{syntaxErrorf(int(line), format, args...)})
}

// cur is the current token. The end of the source shows an error of the lexer, if there was one.
func (p *parser) cur() token { return p.peek(0) }

func (p *parser) peek(n int) token {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n]
	}
	if p.lexErr != nil {
		panic(bailout{p.lexErr})
	}
	if len(p.tokens) > 0 {
		p.lastRow = p.tokens[len(p.tokens)-1].line
	}
	return token{kind: tokEOF, line: p.lastRow}
}

func (p *parser) next() token {
	t := p.cur()
	if t.kind != tokEOF {
		p.at++
	}
	return t
}

// isName tells whether the current token is one of the words.
func (p *parser) isName(words ...string) bool {
	t := p.cur()
	return t.kind == tokName && slices.Contains(words, t.text)
}

func (p *parser) isOp(op string) bool {
	t := p.cur()
	return t.kind == tokOperator && t.text == op
}

func (p *parser) skipName(word string) bool {
	if p.isName(word) {
		p.at++
		return true
	}
	return false
}

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expectOp(op string) token { return p.expect(p.isOp(op), op) }

func (p *parser) expectWord(word string) token { return p.expect(p.isName(word), word) }

func (p *parser) expectName() token {
	t := p.expect(p.cur().kind == tokName, "name")
	if !isIdentifier(t.text) {
		p.failAt(t.line, "Invalid character in identifier")
	}
	return t
}

func (p *parser) expectKind(kind tokenKind) token {
	return p.expect(p.cur().kind == kind, describeKind(kind))
}

func (p *parser) expect(ok bool, what string) token {
	if !ok {
		if p.cur().kind == tokEOF {
			p.fail("unexpected end of template, expected %s.", value.ReprText(what))
		}
		p.fail("expected token %s, got %s", value.ReprText(what), value.ReprText(describe(p.cur())))
	}
	return p.next()
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
func (p *parser) enter() {
	p.depth++
	if p.depth > maxParseDepth {
		p.fail("too many nested expressions or statements")
	}
}

func (p *parser) leave() { p.depth-- }

// maxChain bounds operators, filters or subscripts in a row, which nest in the tree.
const maxChain = 2000

func (p *parser) link(n *int) {
	*n++
	if *n > maxChain {
		p.fail("too many operators in one expression")
	}
}

// statementsUntil reads text and tags up to a tag that is one of the words, which stays current.
func (p *parser) statementsUntil(end []string) []stmt {
	p.enter()
	defer p.leave()
	if end != nil {
		p.enders = append(p.enders, end)
		defer func() { p.enders = p.enders[:len(p.enders)-1] }()
	}
	firstStmt, firstItem := len(p.stmts), len(p.items)
	line := int32(0) // of the output that is being read
	for {
		t := p.cur()
		if t.kind == tokData || t.kind == tokVariableBegin {
			if len(p.items) == firstItem {
				line = t.line
			}
			p.items = append(p.items, p.printed(t))
			continue
		}
		if items := taken(&p.items, firstItem); items != nil {
			p.stmts = append(p.stmts, &outputStmt{pos{line}, items})
		}
		switch t.kind {
		case tokEOF:
			return taken(&p.stmts, firstStmt)
		case tokBlockBegin:
			p.at++
			if end != nil && p.isName(end...) {
				return taken(&p.stmts, firstStmt)
			}
			p.stmts = append(p.stmts, p.statement())
			p.expectKind(tokBlockEnd)
		default:
			p.fail("unexpected %s", value.ReprText(describe(t)))
		}
	}
}

// printed reads text or what stands between the signs of an output.
func (p *parser) printed(t token) expr {
	p.at++
	if t.kind == tokData {
		return &textExpr{pos{t.line}, p.newlines(t.text)}
	}
	x := p.tuple(tupleRules{condexpr: true})
	p.expectKind(tokVariableEnd)
	return x
}

// taken are the elements of a stack from the first on, which leave it; nil if there are none.
func taken[T any](stack *[]T, first int) []T {
	if len(*stack) == first {
		return nil
	}
	out := slices.Clone((*stack)[first:])
	*stack = (*stack)[:first]
	return out
}

func (p *parser) newlines(text string) string {
	if s := p.o.Syntax.NewlineSequence; s != "" && s != "\n" {
		return strings.ReplaceAll(text, "\n", s)
	}
	return text
}

// body reads the statements of a tag up to one of the ending words, which is read too unless keep is given.
func (p *parser) body(end ...string) []stmt {
	b := p.openBody(end...)
	p.next()
	return b
}

func (p *parser) openBody(end ...string) []stmt {
	p.skipOp(":")
	p.expectKind(tokBlockEnd)
	b := p.statementsUntil(end)
	if p.cur().kind == tokEOF {
		p.enders = append(p.enders, end)
		p.failTag("", p.cur().line)
	}
	return b
}

// failTag says which tags were awaited, at an unknown tag or, with no name, at the end.
func (p *parser) failTag(name string, line int32) {
	msg := "Unexpected end of template."
	if name != "" {
		msg = "Encountered unknown tag " + value.ReprText(name) + "."
	}
	if n := len(p.enders); n > 0 {
		var looking []string
		nested := false
		for i, words := range p.enders {
			for _, w := range words {
				nested = nested || w == name
				if i == n-1 {
					looking = append(looking, value.ReprText(w))
				}
			}
		}
		want := strings.Join(looking, " or ")
		if name != "" && nested {
			msg += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " + want + "."
		} else {
			msg += " Jinja was looking for the following tags: " + want + "."
		}
	}
	if n := len(p.tags); n > 0 {
		msg += " The innermost block that needs to be closed is " + value.ReprText(p.tags[n-1]) + "."
	}
	p.failAt(line, "%s", msg)
}
