package jinja

import (
	"slices"
	"strings"

	"hark/modules/py/value"
)

// maxParseDepth bounds how deep expressions and statements are nested.
const maxParseDepth = 400

// parser builds the tree. Its errors have Jinja's words.
type parser struct {
	exprParser
	tags   []string
	enders [][]string
	stmts  []stmt // read so far of the bodies that are open
	loops  int    // that a break would leave
}

// parseTemplate returns the tree of a template.
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

// parseExpression returns the tree of a bare expression.
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
	p := &parser{exprParser: exprParser{cursor: cursor{o: o, lexErr: lexErr, lastRow: 1, tokens: tokens[:0]}}}
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

// taken returns the elements of a stack from the first on, which leave it; nil if there are none.
func taken[T any](stack *[]T, first int) []T {
	if len(*stack) == first {
		return nil
	}
	out := slices.Clone((*stack)[first:])
	*stack = (*stack)[:first]
	return out
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
