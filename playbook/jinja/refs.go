package jinja

import (
	"maps"
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Reading is what a template may use beside its own text.
type Reading struct {
	// Names are the variables that it can read, in alphabetical order. Those that it sets itself are among them when
	// they could also be meant from outside.
	Names []string
	// Complete is false if it may read variables that its text does not show: vars[...], an include.
	Complete bool
	// Plugins are the filters and tests, by the names that it gives them; Texts are the constants that filters are
	// given, which may name others: map('basename').
	Plugins, Texts []string
	// Lookups are the names of lookups; "" is one whose name is computed.
	Lookups []string
}

// Read returns what a template may use. The text is not compiled: filters need not be known.
func Read(src string, s Syntax) (Reading, error) {
	body, err := parseTemplate(src, &Options{Syntax: s})
	if err != nil {
		return Reading{}, err
	}
	r := refs{names: map[string]bool{}, plugins: map[string]bool{}, texts: map[string]bool{}, lookups: map[string]bool{},
		complete: true}
	r.statements(body)
	return Reading{
		Names: sorted(r.names), Complete: r.complete, Plugins: sorted(r.plugins), Texts: sorted(r.texts),
		Lookups: sorted(r.lookups),
	}, nil
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// refs collects what Reading holds.
type refs struct {
	names, plugins, texts, lookups map[string]bool
	complete                       bool
}

func (r *refs) statements(body []stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case *includeStmt, *importStmt, *fromStmt, *extendsStmt:
			r.complete = false
		case *blockStmt:
			r.statements(st.body)
		}
		eachPart(st, func(expr) {}, r.expr, r.statements)
	}
}

func (r *refs) expr(x expr) {
	switch x := x.(type) {
	case nil:
		return
	case *nameExpr:
		r.names[x.name] = true
		if x.name == "vars" {
			r.complete = false
		}
		return
	case *itemExpr:
		if name, ok := x.x.(*nameExpr); ok && name.name == "vars" {
			if key, ok := constText(x.key); ok {
				r.names["vars"], r.names[key] = true, true
				return
			}
		}
	case *attrExpr:
		if name, ok := x.x.(*nameExpr); ok && name.name == "vars" && x.name != "get" && x.name != "items" &&
			x.name != "keys" && x.name != "values" {
			r.names["vars"], r.names[x.name] = true, true
			return
		}
	case *callExpr:
		r.call(x)
	case *filterExpr:
		r.plugins[x.name] = true
		r.constants(x.args)
	case *testExpr:
		r.plugins[x.name] = true
	}
	eachChild(x, r.expr)
}

// constants notes the texts among the arguments of a filter.
func (r *refs) constants(a callArgs) {
	for _, list := range [][]expr{a.pos, a.kw} {
		for _, x := range list {
			if text, ok := constText(x); ok {
				r.texts[text] = true
			}
		}
	}
}

func constText(x expr) (string, bool) {
	c, ok := x.(*constExpr)
	if !ok {
		return "", false
	}
	return value.Text(c.v)
}

// call looks at lookups: vars reads the names it is given, others may read anything unless they are known not to.
func (r *refs) call(x *callExpr) {
	fn, ok := x.fn.(*nameExpr)
	if !ok || fn.name != "lookup" && fn.name != "query" && fn.name != "q" {
		return
	}
	if len(x.args.pos) == 0 || x.args.star != nil || x.args.starred != nil {
		r.complete, r.lookups[""] = false, true
		return
	}
	plugin, ok := constText(x.args.pos[0])
	if !ok {
		r.complete, r.lookups[""] = false, true
		return
	}
	r.lookups[plugin] = true
	if short, isBuiltin := cutPrefix(plugin, "ansible.builtin.", "ansible.legacy."); isBuiltin {
		plugin = short
	}
	if plugin != "vars" {
		r.complete = r.complete && closedLookup(plugin)
		return
	}
	for _, term := range x.args.pos[1:] {
		name, ok := constText(term)
		if !ok {
			r.complete = false
			return
		}
		r.names[name] = true
	}
}

func cutPrefix(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if len(s) > len(p) && s[:len(p)] == p {
			return s[len(p):], true
		}
	}
	return s, false
}

// closedLookup reports whether a lookup reads no variables but its arguments.
func closedLookup(name string) bool {
	l, ok := dialect.LookupNamed(name)
	return ok && l.Traits.Has(dialect.OnlyArguments)
}
