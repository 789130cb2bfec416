package jinja

// reads reports whether a body reads a name before it sets it, looking into everything but blocks.
func reads(body []stmt, name string) bool {
	u := usage{name: name}
	u.statements(body)
	return u.read
}

type usage struct {
	name      string
	read, set bool
}

func (u *usage) expr(x expr) {
	if u.read || u.set || x == nil {
		return
	}
	if name, ok := x.(*nameExpr); ok {
		u.read = name.name == u.name
		return
	}
	eachChild(x, u.expr)
}

func (u *usage) sets(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		u.set = u.set || x.name == u.name
	case *tupleExpr:
		for _, item := range x.items {
			u.sets(item)
		}
	}
}

func (u *usage) statements(body []stmt) {
	for _, st := range body {
		if u.read || u.set {
			return
		}
		eachPart(st, u.sets, u.expr, u.statements)
	}
}

// eachPart visits the targets, expressions and bodies of a statement; blocks are left out.
func eachPart(st stmt, target, x func(expr), body func([]stmt)) {
	all := func(list []expr, f func(expr)) {
		for _, e := range list {
			f(e)
		}
	}
	opt := func(e expr) {
		if e != nil {
			x(e)
		}
	}
	switch st := st.(type) {
	case *outputStmt:
		all(st.items, x)
	case *forStmt:
		target(st.target)
		x(st.iter)
		body(st.body)
		body(st.orElse)
		opt(st.test)
	case *ifStmt:
		x(st.test)
		body(st.body)
		for _, e := range st.elifs {
			eachPart(e, target, x, body)
		}
		body(st.orElse)
	case *withStmt:
		all(st.targets, target)
		all(st.values, x)
		body(st.body)
	case *setStmt:
		target(st.target)
		x(st.x)
	case *setBlockStmt:
		target(st.target)
		if st.filter != nil {
			x(st.filter)
		}
		body(st.body)
	case *filterStmt:
		body(st.body)
		x(st.filter)
	case *scopeStmt:
		body(st.body)
	case *macroStmt:
		for _, p := range st.params {
			target(p)
		}
		all(st.defaults, x)
		body(st.body)
	case *callStmt:
		x(st.call)
		eachPart(st.macro, target, x, body)
	case *extendsStmt:
		x(st.template)
	case *includeStmt:
		x(st.template)
	case *importStmt:
		x(st.template)
	case *fromStmt:
		x(st.template)
	case *doStmt:
		x(st.x)
	}
}
