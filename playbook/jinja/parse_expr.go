package jinja

import (
	"strconv"
	"strings"

	"hark/playbook/jinja/value"
)

func (p *parser) expression() expr {
	p.enter()
	defer p.leave()
	line := p.cur().line
	x := p.or()
	for n := 0; p.skipName("if"); p.link(&n) {
		test := p.or()
		var otherwise expr
		if p.skipName("else") {
			otherwise = p.expression()
		}
		x = &condExpr{pos{line}, test, x, otherwise}
		line = p.cur().line
	}
	return x
}

func (p *parser) or() expr {
	line := p.cur().line
	x := p.and()
	for n := 0; p.skipName("or"); p.link(&n) {
		x = &binaryExpr{pos{line}, "or", x, p.and()}
		line = p.cur().line
	}
	return x
}

func (p *parser) and() expr {
	line := p.cur().line
	x := p.not()
	for n := 0; p.skipName("and"); p.link(&n) {
		x = &binaryExpr{pos{line}, "and", x, p.not()}
		line = p.cur().line
	}
	return x
}

func (p *parser) not() expr {
	if line := p.cur().line; p.skipName("not") {
		p.enter()
		defer p.leave()
		return &unaryExpr{pos{line}, "not", p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	line := p.cur().line
	x := p.sum()
	var ops []operand
	for {
		t := p.cur()
		switch {
		case t.kind == tokOperator && isComparison(t.text):
			p.at++
			ops = append(ops, operand{t.text, p.sum()})
		case p.skipName("in"):
			ops = append(ops, operand{"in", p.sum()})
		case p.isName("not") && p.peek(1).kind == tokName && p.peek(1).text == "in":
			p.at += 2
			ops = append(ops, operand{"notin", p.sum()})
		default:
			if ops == nil {
				return x
			}
			return &compareExpr{pos{line}, x, ops}
		}
		line = p.cur().line
	}
}

func isComparison(op string) bool {
	switch op {
	case "==", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

func (p *parser) sum() expr {
	return p.operators(p.concat, "+", "-")
}

// operators reads a chain of left-associative operators.
func (p *parser) operators(operand func() expr, ops ...string) expr {
	line := p.cur().line
	x := operand()
	for n := 0; ; p.link(&n) {
		t := p.cur()
		found := false
		for _, op := range ops {
			found = found || t.kind == tokOperator && t.text == op
		}
		if !found {
			return x
		}
		p.at++
		x = &binaryExpr{pos{line}, t.text, x, operand()}
		line = p.cur().line
	}
}

func (p *parser) concat() expr {
	line := p.cur().line
	items := []expr{p.product()}
	for p.skipOp("~") {
		items = append(items, p.product())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &concatExpr{pos{line}, items}
}

func (p *parser) product() expr {
	return p.operators(p.power, "*", "/", "//", "%")
}

func (p *parser) power() expr {
	return p.operators(func() expr { return p.unary(true) }, "**")
}

func (p *parser) unary(withFilter bool) expr {
	p.enter()
	defer p.leave()
	t := p.cur()
	var x expr
	switch {
	case p.skipOp("-"):
		x = &unaryExpr{pos{t.line}, "-", p.unary(false)}
	case p.skipOp("+"):
		x = &unaryExpr{pos{t.line}, "+", p.unary(false)}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	if withFilter {
		x = p.filterExpr(x)
	}
	return x
}

func (p *parser) primary() expr {
	t := p.cur()
	at := pos{t.line}
	switch t.kind {
	case tokName:
		p.expectName()
		switch t.text {
		case "true", "True":
			return &constExpr{at, value.Bool(true)}
		case "false", "False":
			return &constExpr{at, value.Bool(false)}
		case "none", "None":
			return &constExpr{at, value.None{}}
		}
		return &nameExpr{at, t.text}
	case tokString:
		return p.stringLiteral(at)
	case tokInteger:
		p.at++
		return &constExpr{at, parseInteger(t.text)}
	case tokFloat:
		p.at++
		f, _ := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		return &constExpr{at, value.Float(f)}
	case tokOperator:
		switch t.text {
		case "(":
			p.at++
			x := p.tuple(tupleRules{condexpr: true, parens: true})
			p.expectOp(")")
			return x
		case "[":
			return p.list(at)
		case "{":
			return p.dict(at)
		}
	}
	p.fail("unexpected %s", value.ReprText(describe(t)))
	return nil
}

func (p *parser) stringLiteral(at pos) expr {
	var b strings.Builder
	for p.cur().kind == tokString {
		t := p.next()
		s, err := unescape(p.newlines(t.text[1 : len(t.text)-1]))
		if err != nil {
			p.failAt(t.line, "%s", err)
		}
		b.WriteString(s)
	}
	return &constExpr{at, value.Str(b.String())}
}

// tupleRules say what parseTuple reads.
type tupleRules struct {
	simple   bool // only names and literals
	condexpr bool // inline if too
	parens   bool // () may be empty
	end      string
}

// tuple reads one expression, or several with commas, which are a tuple.
func (p *parser) tuple(r tupleRules) expr {
	p.enter()
	defer p.leave()
	line := p.cur().line
	var items []expr
	isTuple := false
	for {
		if len(items) > 0 {
			p.expectOp(",")
		}
		if p.tupleEnds(r.end) {
			break
		}
		switch {
		case r.simple:
			items = append(items, p.primary())
		case r.condexpr:
			items = append(items, p.expression())
		default:
			items = append(items, p.or())
		}
		if !p.isOp(",") {
			break
		}
		isTuple = true
		line = p.cur().line
	}
	if !isTuple && len(items) > 0 {
		return items[0]
	}
	if !isTuple && !r.parens {
		p.fail("Expected an expression, got %s", value.ReprText(describe(p.cur())))
	}
	return &tupleExpr{pos{line}, items}
}

func (p *parser) tupleEnds(word string) bool {
	t := p.cur()
	return t.kind == tokVariableEnd || t.kind == tokBlockEnd || p.isOp(")") || word != "" && p.isName(word)
}

func (p *parser) list(at pos) expr {
	p.at++
	x := &listExpr{pos: at}
	for !p.isOp("]") {
		if len(x.items) > 0 {
			p.expectOp(",")
		}
		if p.isOp("]") {
			break
		}
		x.items = append(x.items, p.expression())
	}
	p.expectOp("]")
	return x
}

func (p *parser) dict(at pos) expr {
	p.at++
	x := &dictExpr{pos: at}
	for !p.isOp("}") {
		if len(x.keys) > 0 {
			p.expectOp(",")
		}
		if p.isOp("}") {
			break
		}
		x.keys = append(x.keys, p.expression())
		p.expectOp(":")
		x.vals = append(x.vals, p.expression())
	}
	p.expectOp("}")
	return x
}
