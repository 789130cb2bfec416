package jinja

import (
	"strings"

	"hark/modules/py/value"
)

// statement reads a tag, whose word is the current token.
func (p *parser) statement() stmt {
	t := p.cur()
	if t.kind != tokName {
		p.fail("tag name expected")
	}
	p.tags = append(p.tags, t.text)
	st := p.tag(t.text, pos{t.line})
	p.tags = p.tags[:len(p.tags)-1]
	if st == nil {
		p.failTag(t.text, t.line)
	}
	return st
}

// tag reads the tag of a word; nil, and nothing is read, if there is no such tag.
func (p *parser) tag(word string, at pos) stmt {
	switch word {
	case "for":
		return p.parseFor(at)
	case "if":
		return p.parseIf(at)
	case "block":
		return p.parseBlock(at)
	case "extends":
		return p.parseExtends(at)
	case "print":
		return p.parsePrint(at)
	case "macro":
		return p.parseMacro(at)
	case "include":
		return p.parseInclude(at)
	case "from":
		return p.parseFrom(at)
	case "import":
		return p.parseImport(at)
	case "set":
		return p.parseSet(at)
	case "with":
		return p.parseWith(at)
	case "autoescape":
		return p.parseAutoescape(at)
	case "call":
		return p.parseCallBlock(at)
	case "filter":
		return p.parseFilterBlock(at)
	case "do":
		if p.o.Do {
			return p.parseDo(at)
		}
	case "break", "continue":
		if p.o.LoopControls {
			return p.parseLoopControl(at)
		}
	}
	return nil
}

func (p *parser) parseSet(at pos) stmt {
	p.at++
	target := p.namespaceTarget()
	if p.skipOp("=") {
		return &setStmt{at, target, p.tuple(tupleRules{condexpr: true})}
	}
	filter := p.filterChain(nil)
	return &setBlockStmt{at, target, filter, p.body("endset")}
}

func (p *parser) parseFor(at pos) stmt {
	p.at++
	s := &forStmt{pos: at}
	s.target = p.assignTarget()
	p.expectWord("in")
	s.iter = p.tuple(tupleRules{})
	if p.skipName("if") {
		s.test = p.expression()
	}
	s.recursive = p.skipName("recursive")
	p.loops++
	s.body = p.openBody("endfor", "else")
	p.loops--
	if p.next().text == "else" {
		s.orElse = p.body("endfor")
	}
	return s
}

func (p *parser) parseIf(at pos) stmt {
	p.at++
	result := &ifStmt{pos: at}
	node := result
	for {
		node.test = p.tuple(tupleRules{})
		node.body = p.openBody("elif", "else", "endif")
		switch p.next().text {
		case "elif":
			node = &ifStmt{pos: pos{p.cur().line}}
			result.elifs = append(result.elifs, node)
			continue
		case "else":
			result.orElse = p.body("endif")
		}
		return result
	}
}

func (p *parser) parseWith(at pos) stmt {
	p.at++
	s := &withStmt{pos: at}
	for p.cur().kind != tokBlockEnd {
		if len(s.targets) > 0 {
			p.expectOp(",")
		}
		s.targets = append(s.targets, p.assignTarget())
		p.expectOp("=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.body("endwith")
	return s
}

func (p *parser) parseAutoescape(at pos) stmt {
	p.at++
	p.expression()
	return &scopeStmt{at, p.body("endautoescape")}
}

func (p *parser) parseBlock(at pos) stmt {
	p.at++
	s := &blockStmt{pos: at, name: p.expectName().text}
	s.scoped = p.skipName("scoped")
	s.required = p.skipName("required")
	if p.isOp("-") {
		p.fail(
			"Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	s.body = p.ownBody("endblock")
	if s.required && !blank(s.body) {
		p.fail("Required blocks can only contain comments or whitespace")
	}
	p.skipName(s.name)
	return s
}

func blank(body []stmt) bool {
	for _, s := range body {
		out, ok := s.(*outputStmt)
		if !ok {
			return false
		}
		for _, x := range out.items {
			if t, ok := x.(*textExpr); !ok || trimSpaceLeft(t.text) != "" {
				return false
			}
		}
	}
	return true
}

func (p *parser) parseExtends(at pos) stmt {
	p.at++
	return &extendsStmt{at, p.expression()}
}

// importContext reads "with context" or "without context".
func (p *parser) importContext() (with, given bool) {
	if p.isName("with", "without") && p.peek(1).kind == tokName && p.peek(1).text == "context" {
		with = p.next().text == "with"
		p.at++
		return with, true
	}
	return false, false
}

func (p *parser) parseInclude(at pos) stmt {
	p.at++
	s := &includeStmt{pos: at, template: p.expression(), withContext: true}
	if p.isName("ignore") && p.peek(1).text == "missing" {
		s.ignoreMissing = true
		p.at += 2
	}
	if with, given := p.importContext(); given {
		s.withContext = with
	}
	return s
}

func (p *parser) parseImport(at pos) stmt {
	p.at++
	s := &importStmt{pos: at, template: p.expression()}
	p.expectWord("as")
	s.target = p.targetName().name
	s.withContext, _ = p.importContext()
	return s
}

func (p *parser) parseFrom(at pos) stmt {
	p.at++
	s := &fromStmt{pos: at, template: p.expression()}
	p.expectWord("import")
	for {
		if len(s.names) > 0 {
			p.expectOp(",")
		}
		if p.cur().kind != tokName {
			p.expectName()
		}
		if with, given := p.importContext(); given {
			s.withContext = with
			break
		}
		name := p.targetName()
		if strings.HasPrefix(name.name, "_") {
			p.failAt(name.line, "names starting with an underline can not be imported")
		}
		alias := name
		if p.skipName("as") {
			alias = p.targetName()
		}
		s.names = append(s.names, name.name)
		s.aliases = append(s.aliases, alias.name)
		if with, given := p.importContext(); given {
			s.withContext = with
			break
		}
		if !p.isOp(",") {
			break
		}
	}
	return s
}

// signature reads the parameters of a macro or call block.
func (p *parser) signature(m *macroStmt) {
	p.expectOp("(")
	for !p.isOp(")") {
		if len(m.params) > 0 {
			p.expectOp(",")
		}
		param := p.targetName()
		for _, other := range m.params {
			if other.name == param.name {
				p.refuse(m.line)
			}
		}
		if p.skipOp("=") {
			m.defaults = append(m.defaults, p.expression())
		} else if len(m.defaults) > 0 {
			p.fail("non-default argument follows default argument")
		}
		m.params = append(m.params, param)
	}
	p.expectOp(")")
}

// ownBody reads a body that is a function of its own for Python.
func (p *parser) ownBody(end string) []stmt {
	loops := p.loops
	p.loops = 0
	b := p.body(end)
	p.loops = loops
	return b
}

func (p *parser) parseCallBlock(at pos) stmt {
	p.at++
	m := &macroStmt{pos: at}
	if p.isOp("(") {
		p.signature(m)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.failAt(at.line, "expected call")
	}
	m.body = p.ownBody("endcall")
	return &callStmt{at, call, m}
}

func (p *parser) parseFilterBlock(at pos) stmt {
	p.at++
	filter := p.filterChain(p.filter(nil))
	return &filterStmt{at, filter, p.body("endfilter")}
}

func (p *parser) parseMacro(at pos) stmt {
	p.at++
	m := &macroStmt{pos: at, name: p.targetName().name}
	p.signature(m)
	m.body = p.ownBody("endmacro")
	return m
}

func (p *parser) parsePrint(at pos) stmt {
	p.at++
	s := &outputStmt{pos: at}
	for p.cur().kind != tokBlockEnd {
		if len(s.items) > 0 {
			p.expectOp(",")
		}
		s.items = append(s.items, p.expression())
	}
	return s
}

func (p *parser) parseDo(at pos) stmt {
	p.at++
	return &doStmt{at, p.tuple(tupleRules{condexpr: true})}
}

// parseLoopControl reads break or continue. Jinja takes them anywhere, Python only in a loop of the same function.
func (p *parser) parseLoopControl(at pos) stmt {
	if p.loops == 0 {
		p.refuse(at.line)
	}
	return &loopControl{at, p.next().text == "break"}
}

func (p *parser) targetName() *nameExpr {
	t := p.expectName()
	x := &nameExpr{pos{t.line}, t.text}
	p.checkTarget(x)
	return x
}

// namespaceTarget reads what an assignment is to, which may be ns.attr too.
func (p *parser) namespaceTarget() expr {
	if p.cur().kind == tokName && p.peek(1).kind == tokOperator && p.peek(1).text == "." {
		name := p.expectName()
		p.at++
		return &nsRef{pos{name.line}, name.text, p.expectName().text}
	}
	return p.assignTarget()
}

func (p *parser) assignTarget() expr {
	x := p.tuple(tupleRules{simple: true})
	p.checkTarget(x)
	return x
}

func (p *parser) checkTarget(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		switch x.name {
		case "true", "false", "none", "True", "False", "None":
			p.failAt(x.line, "can't assign to %s", value.ReprText("name"))
		}
		return
	case *tupleExpr:
		for _, item := range x.items {
			if !assignable(item) {
				p.failAt(x.line, "can't assign to 'tuple'")
			}
		}
		return
	case *constExpr:
		p.failAt(x.line, "can't assign to 'const'")
	case *listExpr:
		p.failAt(x.line, "can't assign to 'list'")
	case *dictExpr:
		p.failAt(x.line, "can't assign to 'dict'")
	}
	p.failAt(int32(x.exprLine()), "can't assign to this expression")
}

func assignable(x expr) bool {
	switch x := x.(type) {
	case *nameExpr:
		return true
	case *tupleExpr:
		for _, item := range x.items {
			if !assignable(item) {
				return false
			}
		}
		return true
	}
	return false
}
