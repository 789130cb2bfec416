package jinja

import (
	"maps"
	"slices"

	"hark/playbook/jinja/value"
)

// TextRefs are the names a template can read from the variables, in alphabetical order. Names that it sets itself are among them
// when they could also be meant from outside. complete is false if it may read names that its text does not show. The text
// is not compiled: filters need not be known.
func TextRefs(src string, s Syntax) (names []string, complete bool, err error) {
	body, err := parseTemplate(src, &Options{Syntax: s})
	if err != nil {
		return nil, false, err
	}
	r := refs{names: map[string]bool{}, complete: true}
	r.statements(body)
	return slices.Sorted(maps.Keys(r.names)), r.complete, nil
}

// refs collects names.
type refs struct {
	names    map[string]bool
	complete bool
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
		if name, ok := x.x.(*nameExpr); ok && name.name == "vars" && x.name != "get" && x.name != "items" && x.name != "keys" && x.name != "values" {
			r.names["vars"], r.names[x.name] = true, true
			return
		}
	case *callExpr:
		r.call(x)
	}
	eachChild(x, r.expr)
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
		r.complete = false
		return
	}
	plugin, ok := constText(x.args.pos[0])
	if !ok {
		r.complete = false
		return
	}
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

// closedLookup tells whether a lookup reads no variables but its arguments.
func closedLookup(name string) bool {
	switch name {
	case "config", "csvfile", "dict", "env", "file", "fileglob", "first_found", "indexed_items", "ini", "items", "lines",
		"list", "nested", "password", "pipe", "random_choice", "sequence", "subelements", "together", "unvault", "url",
		"flattened", "cartesian", "filetree", "random_string":
		return true
	}
	return false
}
