package jinja

import (
	"maps"
	"slices"
	"sort"
)

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
	fn      *function
	index   int
	name    string
	missing missing // what the name is while nothing is there
}

func newFunction(parent *function) *function {
	return &function{parent: parent, idents: map[ident]*local{}}
}

func (f *function) local(level int, name string) *local {
	id := ident{level, name}
	l := f.idents[id]
	if l == nil {
		l = &local{fn: f, index: len(f.slots), name: name, missing: missing{name: name}}
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
	bound  []binding      // in the order in which they were met
	index  map[string]int // of bound by name, once there are many
}

// binding is a name with its place.
type binding struct {
	load
	stored bool // the scope sets it
}

// manyNames is how many names of a scope are found without an index.
const manyNames = 24

func newSymbols(parent *symbols, fn *function) *symbols {
	s := &symbols{parent: parent, fn: fn}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

// newApart returns the names of a scope whose places no other scope shares, as it is entered while others of its
// level are open.
func newApart(parent *symbols, fn *function) *symbols {
	s := newSymbols(parent, fn)
	fn.apart++
	s.level = -fn.apart
	return s
}

// own returns the binding of a name in this very scope. It holds until the next name is added.
func (s *symbols) own(name string) *binding {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return &s.bound[i]
		}
		return nil
	}
	for i := range s.bound {
		if s.bound[i].to.name == name {
			return &s.bound[i]
		}
	}
	return nil
}

func (s *symbols) find(name string) *local {
	for ; s != nil; s = s.parent {
		if b := s.own(name); b != nil {
			return b.to
		}
	}
	return nil
}

// bind adds a name, or says anew where its first value comes from.
func (s *symbols) bind(ld load) *binding {
	if b := s.own(ld.to.name); b != nil {
		b.load = ld
		return b
	}
	s.bound = append(s.bound, binding{load: ld})
	n := len(s.bound)
	switch {
	case s.index != nil:
		s.index[ld.to.name] = n - 1
	case n > manyNames:
		s.index = make(map[string]int, 2*n)
		for i, b := range s.bound {
			s.index[b.to.name] = i
		}
	}
	return &s.bound[n-1]
}

func (s *symbols) define(name string, kind loadKind, from *local) *binding {
	return s.bind(load{s.fn.local(s.level, name), kind, from})
}

func (s *symbols) store(name string) {
	if b := s.own(name); b != nil {
		b.stored = true
		return
	}
	if outer := s.parent.find(name); outer != nil {
		s.define(name, loadAlias, outer).stored = true
		return
	}
	s.define(name, loadUndefined, nil).stored = true
}

func (s *symbols) declare(name string) *local {
	b := s.define(name, loadParam, nil)
	b.stored = true
	return b.to
}

func (s *symbols) load(name string) {
	if s.find(name) == nil {
		s.define(name, loadResolve, nil)
	}
}

func (s *symbols) copy() *symbols {
	c := *s
	c.bound = slices.Clone(s.bound)
	c.index = maps.Clone(s.index)
	return &c
}

// join takes over what the branches of an if do. What not all of them set is looked up before.
func (s *symbols) join(branches ...*symbols) {
	count := map[string]int{}
	for _, b := range branches {
		if b == s {
			continue
		}
		for _, name := range b.bound {
			if own := s.own(name.to.name); name.stored && (own == nil || !own.stored) {
				count[name.to.name]++
			}
		}
	}
	for _, b := range branches {
		if b == s {
			continue
		}
		for _, name := range b.bound {
			joined := s.bind(name.load)
			joined.stored = joined.stored || name.stored
		}
	}
	for _, name := range sortedNames(count) {
		if count[name] == len(branches) {
			continue
		}
		target := s.find(name)
		if outer := s.parent.find(name); outer != nil {
			s.bind(load{target, loadAlias, outer})
			continue
		}
		s.bind(load{target, loadResolve, nil})
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

// visible returns the names set in this scope and those around it, with their places.
func (s *symbols) visible() map[string]*local {
	out := map[string]*local{}
	for at := s; at != nil; at = at.parent {
		for _, b := range at.bound {
			if name := b.to.name; b.stored && out[name] == nil {
				out[name] = s.find(name)
			}
		}
	}
	return out
}
