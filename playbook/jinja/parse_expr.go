package jinja

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// exprParser reads expressions. It knows no tags and no statements.
type exprParser struct {
	cursor
	items []expr // read so far of the outputs and rows that are open, the innermost last
}

func (p *exprParser) expression() expr {
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

func (p *exprParser) or() expr {
	line := p.cur().line
	x := p.and()
	for n := 0; p.skipName("or"); p.link(&n) {
		x = &binaryExpr{pos{line}, "or", x, p.and()}
		line = p.cur().line
	}
	return x
}

func (p *exprParser) and() expr {
	line := p.cur().line
	x := p.not()
	for n := 0; p.skipName("and"); p.link(&n) {
		x = &binaryExpr{pos{line}, "and", x, p.not()}
		line = p.cur().line
	}
	return x
}

func (p *exprParser) not() expr {
	if line := p.cur().line; p.skipName("not") {
		p.enter()
		defer p.leave()
		return &unaryExpr{pos{line}, "not", p.not()}
	}
	return p.compare()
}

func (p *exprParser) compare() expr {
	line := p.cur().line
	x := p.operators(levelSum)
	var ops []operand
	for {
		t := p.cur()
		switch {
		case t.kind == tokOperator && isComparison(t.text):
			p.at++
			ops = append(ops, operand{t.text, p.operators(levelSum)})
		case t.kind == tokName && t.text == "in":
			p.at++
			ops = append(ops, operand{"in", p.operators(levelSum)})
		case t.kind == tokName && t.text == "not" && p.peek(1).kind == tokName && p.peek(1).text == "in":
			p.at += 2
			ops = append(ops, operand{"notin", p.operators(levelSum)})
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

// The levels of operators between two operands, from the loosest.
const (
	levelSum = 1 + iota
	levelConcat
	levelProduct
	levelPower
)

// level returns that of an operator; 0 for a token that is none.
func (t *token) level() int {
	if t.kind != tokOperator {
		return 0
	}
	switch t.text {
	case "+", "-":
		return levelSum
	case "~":
		return levelConcat
	case "*", "/", "//", "%":
		return levelProduct
	case "**":
		return levelPower
	}
	return 0
}

// operators reads a chain of operators, all of them left-associative, that bind at least as tightly as level.
func (p *exprParser) operators(level int) expr {
	first := p.cur().line
	x := p.unary(true)
	var joined *concatExpr // the ~ that x is
	last := 0
	for n := 0; ; p.link(&n) {
		op := p.cur()
		found := op.level()
		if found == 0 || found < level {
			return x
		}
		line := first
		if found == last {
			line = op.line
		}
		last = found
		p.at++
		right := p.operators(found + 1)
		switch {
		case found != levelConcat:
			x = &binaryExpr{pos{line}, op.text, x, right}
		case joined != nil && x == joined:
			joined.items = append(joined.items, right)
		default:
			joined = &concatExpr{pos{line}, []expr{x, right}}
			x = joined
		}
	}
}

func (p *exprParser) unary(withFilter bool) expr {
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

func (p *exprParser) primary() expr {
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

// stringLiteral reads a string, or several in a row, which are one.
func (p *exprParser) stringLiteral(at pos) expr {
	text := p.stringToken()
	if p.cur().kind != tokString {
		return &constExpr{at, value.Str(text)}
	}
	var b strings.Builder
	b.WriteString(text)
	for p.cur().kind == tokString {
		b.WriteString(p.stringToken())
	}
	return &constExpr{at, value.Str(b.String())}
}

func (p *exprParser) stringToken() string {
	t := p.next()
	s, err := unescape(p.newlines(t.text[1 : len(t.text)-1]))
	if err != nil {
		p.failAt(t.line, "%s", err)
	}
	return s
}

// tupleRules say what parseTuple reads.
type tupleRules struct {
	simple   bool // only names and literals
	condexpr bool // inline if too
	parens   bool // () may be empty
}

// tuple reads one expression, or several with commas, which are a tuple.
func (p *exprParser) tuple(r tupleRules) expr {
	p.enter()
	defer p.leave()
	line := p.cur().line
	first := len(p.items)
	isTuple := false
	for {
		if len(p.items) > first {
			p.expectOp(",")
		}
		if p.tupleEnds() {
			break
		}
		x := p.tupleItem(r)
		if !p.isOp(",") && !isTuple {
			return x
		}
		p.items = append(p.items, x)
		if !p.isOp(",") {
			break
		}
		isTuple = true
		line = p.cur().line
	}
	if !isTuple && !r.parens {
		p.fail("Expected an expression, got %s", value.ReprText(describe(p.cur())))
	}
	return &tupleExpr{pos{line}, taken(&p.items, first)}
}

func (p *exprParser) tupleItem(r tupleRules) expr {
	switch {
	case r.simple:
		return p.primary()
	case r.condexpr:
		return p.expression()
	}
	return p.or()
}

func (p *exprParser) tupleEnds() bool {
	t := p.cur()
	return t.kind == tokVariableEnd || t.kind == tokBlockEnd || p.isOp(")")
}

func (p *exprParser) list(at pos) expr {
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

func (p *exprParser) dict(at pos) expr {
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
