package jinja

// What statements and expressions do to the names of the scopes they stand in: see symbols.go.

// statements notes what a body does to its scope.
func (s *symbols) statements(body []stmt) {
	for _, st := range body {
		s.statement(st)
	}
}

// statement notes what a statement does to the scope it stands in. Statements with a scope of their own are
// entered only when that scope is made.
func (s *symbols) statement(st stmt) {
	switch st := st.(type) {
	case *outputStmt:
		s.exprs(st.items)
	case *ifStmt:
		s.ifBranches(st)
	case *forStmt:
		s.expr(st.iter)
	case *macroStmt:
		s.store(st.name)
	case *importStmt:
		s.expr(st.template)
		s.store(st.target)
	case *fromStmt:
		s.expr(st.template)
		for _, name := range st.aliases {
			s.store(name)
		}
	case *setStmt:
		s.expr(st.x)
		s.target(st.target, false)
	case *setBlockStmt:
		s.target(st.target, false)
	case *callStmt:
		s.expr(st.call)
	case *filterStmt:
		s.expr(st.filter)
	case *withStmt:
		s.exprs(st.values)
	case *includeStmt:
		s.expr(st.template)
	case *extendsStmt:
		s.expr(st.template)
	case *doStmt:
		s.expr(st.x)
	}
}

func (s *symbols) ifBranches(st *ifStmt) {
	s.expr(st.test)
	body, elifs, orElse := s.branch(st.body), s, s.branch(st.orElse)
	for _, e := range st.elifs {
		if setsNames(e) {
			elifs = s.copy()
			break
		}
	}
	body.statements(st.body)
	for _, e := range st.elifs {
		elifs.statement(e)
	}
	orElse.statements(st.orElse)
	s.join(body, elifs, orElse)
}

// branch returns a copy for a branch that sets names, and s itself for one that only reads them.
func (s *symbols) branch(body []stmt) *symbols {
	for _, st := range body {
		if setsNames(st) {
			return s.copy()
		}
	}
	return s
}

// setsNames reports whether a statement sets names in the scope it stands in.
func setsNames(st stmt) bool {
	switch st := st.(type) {
	case *outputStmt, *forStmt, *callStmt, *filterStmt, *withStmt, *includeStmt, *doStmt:
		return false
	case *ifStmt:
		for _, list := range [][]stmt{st.body, st.orElse} {
			for _, inner := range list {
				if setsNames(inner) {
					return true
				}
			}
		}
		for _, e := range st.elifs {
			if setsNames(e) {
				return true
			}
		}
		return false
	}
	return true
}

// target notes what an assignment sets.
func (s *symbols) target(x expr, param bool) {
	switch x := x.(type) {
	case *nameExpr:
		if param {
			s.declare(x.name)
			return
		}
		s.store(x.name)
	case *nsRef:
		s.load(x.name)
	case *tupleExpr:
		for _, item := range x.items {
			s.target(item, param)
		}
	}
}

func (s *symbols) exprs(list []expr) {
	for _, x := range list {
		s.expr(x)
	}
}

func (s *symbols) expr(x expr) {
	if name, ok := x.(*nameExpr); ok {
		s.load(name.name)
		return
	}
	eachChild(x, s.expr)
}

// eachChild calls f for the parts of an expression in the order of their evaluation.
func eachChild(x expr, f func(expr)) {
	each := func(list ...expr) {
		for _, x := range list {
			if x != nil {
				f(x)
			}
		}
	}
	args := func(a callArgs) {
		each(a.pos...)
		each(a.kw...)
		each(a.star, a.starred)
	}
	switch x := x.(type) {
	case *tupleExpr:
		each(x.items...)
	case *listExpr:
		each(x.items...)
	case *dictExpr:
		for i := range x.keys {
			each(x.keys[i], x.vals[i])
		}
	case *binaryExpr:
		each(x.left, x.right)
	case *unaryExpr:
		each(x.x)
	case *concatExpr:
		each(x.items...)
	case *compareExpr:
		each(x.first)
		for _, op := range x.ops {
			each(op.x)
		}
	case *condExpr:
		each(x.test, x.then, x.otherwise)
	case *attrExpr:
		each(x.x)
	case *itemExpr:
		each(x.x, x.key)
	case *sliceExpr:
		each(x.start, x.stop, x.step)
	case *callExpr:
		each(x.fn)
		args(x.args)
	case *filterExpr:
		each(x.x)
		args(x.args)
	case *testExpr:
		each(x.x)
		args(x.args)
	}
}
