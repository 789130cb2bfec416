package jinja

import "sort"

// Names are bound when a template is compiled, as Jinja does it: each scope knows which names it reads from outside,
// which it sets, and where each lives. What is read from the variables of the run is looked up once, when the
// scope that first mentions it is entered, whether or not the mention is reached.

// function is what has slots of its own at run time: the root of a template, a block, a macro, a recursive loop.
type function struct {
	parent *function
	slots  []string // names, for their number
	idents map[ident]*local
	apart  int // how many scopes of their own stand beside the nested ones
}

type ident struct {
	level int
	name  string
}

// local is the place of a name.
type local struct {
	fn    *function
	index int
	name  string
}

func newFunction(parent *function) *function {
	return &function{parent: parent, idents: map[ident]*local{}}
}

func (f *function) local(level int, name string) *local {
	id := ident{level, name}
	l := f.idents[id]
	if l == nil {
		l = &local{fn: f, index: len(f.slots), name: name}
		f.idents[id] = l
		f.slots = append(f.slots, name)
	}
	return l
}

// loadKind says how a place gets its first value when the scope is entered.
type loadKind uint8

const (
	loadParam     loadKind = iota // set by who enters
	loadResolve                   // looked up in the variables
	loadAlias                     // taken from an outer scope
	loadUndefined                 // nothing yet
)

type load struct {
	to   *local
	kind loadKind
	from *local
}

// symbols are the names of one scope.
type symbols struct {
	parent *symbols
	fn     *function
	level  int
	refs   map[string]*local
	loads  []load
	stores map[string]bool
}

func newSymbols(parent *symbols, fn *function) *symbols {
	s := &symbols{parent: parent, fn: fn, refs: map[string]*local{}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

// newApart are the names of a scope whose places no other scope shares, as it is entered while others of its level are open.
func newApart(parent *symbols, fn *function) *symbols {
	s := newSymbols(parent, fn)
	fn.apart++
	s.level = -fn.apart
	return s
}

func (s *symbols) find(name string) *local {
	for ; s != nil; s = s.parent {
		if l := s.refs[name]; l != nil {
			return l
		}
	}
	return nil
}

func (s *symbols) define(name string, kind loadKind, from *local) *local {
	l := s.fn.local(s.level, name)
	s.refs[name] = l
	s.setLoad(load{l, kind, from})
	return l
}

func (s *symbols) setLoad(ld load) {
	for i := range s.loads {
		if s.loads[i].to == ld.to {
			s.loads[i] = ld
			return
		}
	}
	s.loads = append(s.loads, ld)
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if s.refs[name] != nil {
		return
	}
	if outer := s.parent.find(name); outer != nil {
		s.define(name, loadAlias, outer)
		return
	}
	s.define(name, loadUndefined, nil)
}

func (s *symbols) declare(name string) *local {
	s.stores[name] = true
	return s.define(name, loadParam, nil)
}

func (s *symbols) load(name string) {
	if s.find(name) == nil {
		s.define(name, loadResolve, nil)
	}
}

func (s *symbols) copy() *symbols {
	c := *s
	c.refs = map[string]*local{}
	for k, v := range s.refs {
		c.refs[k] = v
	}
	c.loads = append([]load(nil), s.loads...)
	c.stores = map[string]bool{}
	for k := range s.stores {
		c.stores[k] = true
	}
	return &c
}

// join takes over what the branches of an if do. What not all of them set is looked up before.
func (s *symbols) join(branches ...*symbols) {
	count := map[string]int{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				count[name]++
			}
		}
	}
	for _, b := range branches {
		for k, v := range b.refs {
			s.refs[k] = v
		}
		for _, ld := range b.loads {
			s.setLoad(ld)
		}
		for k := range b.stores {
			s.stores[k] = true
		}
	}
	for _, name := range sortedNames(count) {
		if count[name] == len(branches) {
			continue
		}
		target := s.find(name)
		if outer := s.parent.find(name); outer != nil {
			s.setLoad(load{target, loadAlias, outer})
			continue
		}
		s.setLoad(load{target, loadResolve, nil})
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// visible are the names set in this scope and those around it, with their places.
func (s *symbols) visible() map[string]*local {
	out := map[string]*local{}
	for at := s; at != nil; at = at.parent {
		for name := range at.stores {
			if out[name] == nil {
				out[name] = s.find(name)
			}
		}
	}
	return out
}

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

// branch is a copy for a branch that sets names, and s itself for one that only reads them.
func (s *symbols) branch(body []stmt) *symbols {
	for _, st := range body {
		if setsNames(st) {
			return s.copy()
		}
	}
	return s
}

// setsNames tells whether a statement sets names in the scope it stands in.
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
