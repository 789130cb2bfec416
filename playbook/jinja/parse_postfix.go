package jinja

import "slices"

func (p *exprParser) postfix(x expr) expr {
	for n := 0; ; p.link(&n) {
		switch {
		case p.isOp("."), p.isOp("["):
			x = p.subscript(x)
		case p.isOp("("):
			x = p.call(x)
		default:
			return x
		}
	}
}

func (p *exprParser) filterExpr(x expr) expr {
	for n := 0; ; p.link(&n) {
		switch {
		case p.isOp("|"):
			x = p.filterChain(x)
		case p.isName("is"):
			x = p.test(x)
		case p.isOp("("):
			x = p.call(x)
		default:
			return x
		}
	}
}

func (p *exprParser) subscript(x expr) expr {
	t := p.next()
	at := pos{t.line}
	if t.text == "." {
		name := p.next()
		switch name.kind {
		case tokName:
			return &attrExpr{at, x, name.text}
		case tokInteger:
			return &itemExpr{at, x, &constExpr{pos{name.line}, parseInteger(name.text)}}
		}
		p.failAt(name.line, "expected name or number")
	}
	first := len(p.items)
	for !p.isOp("]") {
		if len(p.items) > first {
			p.expectOp(",")
		}
		p.items = append(p.items, p.subscribed())
	}
	p.expectOp("]")
	args := taken(&p.items, first)
	if len(args) == 1 {
		return &itemExpr{at, x, args[0]}
	}
	return &itemExpr{at, x, &tupleExpr{at, args}}
}

// subscribed reads an index or a slice.
func (p *exprParser) subscribed() expr {
	at := pos{p.cur().line}
	var start expr
	if !p.isOp(":") {
		start = p.expression()
		if !p.isOp(":") {
			return start
		}
	}
	p.at++
	s := &sliceExpr{pos: at, start: start}
	if !p.isOp(":") && !p.isOp("]") && !p.isOp(",") {
		s.stop = p.expression()
	}
	if p.skipOp(":") && !p.isOp("]") && !p.isOp(",") {
		s.step = p.expression()
	}
	return s
}

func (p *exprParser) callArgs() callArgs {
	line := p.expectOp("(").line
	var a callArgs
	comma := false
	for !p.isOp(")") {
		if comma {
			p.expectOp(",")
			if p.isOp(")") {
				break
			}
		}
		comma = true
		switch {
		case p.isOp("*"):
			p.ensure(a.star == nil && a.starred == nil, line)
			p.at++
			a.star = p.expression()
		case p.isOp("**"):
			p.ensure(a.starred == nil, line)
			p.at++
			a.starred = p.expression()
		case p.cur().kind == tokName && p.peek(1).kind == tokOperator && p.peek(1).text == "=":
			p.ensure(a.starred == nil, line)
			name := p.expectName().text
			p.at++
			if slices.Contains(a.names, name) {
				p.refuse(p.cur().line)
			}
			a.names = append(a.names, name)
			a.kw = append(a.kw, p.expression())
		default:
			p.ensure(a.star == nil && a.starred == nil && a.kw == nil, line)
			a.pos = append(a.pos, p.expression())
		}
	}
	p.expectOp(")")
	return a
}

// ensure refuses an argument that may not follow those before it.
func (p *exprParser) ensure(ok bool, line int32) {
	if !ok {
		p.failAt(line, "invalid syntax for function call expression")
	}
}

func (p *exprParser) call(x expr) expr {
	line := p.cur().line
	return &callExpr{pos{line}, x, p.callArgs()}
}

// filterChain reads filters behind pipes; nil if there is none and x is nil.
func (p *exprParser) filterChain(x expr) *filterExpr {
	f, _ := x.(*filterExpr)
	for n := 0; p.skipOp("|"); p.link(&n) {
		f = p.filter(x)
		x = f
	}
	return f
}

func (p *exprParser) dottedName() token {
	t := p.expectName()
	for p.skipOp(".") {
		t.text += "." + p.expectName().text
	}
	return t
}

func (p *exprParser) filter(x expr) *filterExpr {
	t := p.dottedName()
	f := &filterExpr{pos: pos{t.line}, x: x, name: t.text}
	if p.isOp("(") {
		f.args = p.callArgs()
	}
	return f
}

func (p *exprParser) test(x expr) expr {
	line := p.next().line
	negated := p.skipName("not")
	t := &testExpr{pos: pos{line}, x: x, name: p.dottedName().text}
	switch {
	case p.isOp("("):
		t.args = p.callArgs()
	case p.argumentFollows():
		if p.isName("is") {
			p.fail("You cannot chain multiple tests with is")
		}
		t.args.pos = []expr{p.postfix(p.primary())}
	}
	if negated {
		return &unaryExpr{pos{line}, "not", t}
	}
	return t
}

func (p *exprParser) argumentFollows() bool {
	switch p.cur().kind {
	case tokName:
		return !p.isName("else", "or", "and")
	case tokString, tokInteger, tokFloat:
		return true
	}
	return p.isOp("[") || p.isOp("{")
}
