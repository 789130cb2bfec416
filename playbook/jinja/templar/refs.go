package templar

import (
	"maps"
	"slices"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// IsTemplate tells whether v is or contains text that would be rendered.
func IsTemplate(v value.Value) bool {
	syntax := newSyntax()
	return isTemplate(v, syntax, 0)
}

func isTemplate(v value.Value, syntax jinja.Syntax, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v := v.(type) {
	case value.UnsafeStr, value.NativeUnsafeStr:
		return false
	case *value.List:
		for _, item := range v.Items {
			if isTemplate(item, syntax, depth+1) {
				return true
			}
		}
		return false
	case *value.Tuple:
		return isTemplate(value.NewList(v.Items...), syntax, depth)
	case *value.Dict:
		for i := range v.Len() {
			k, item := v.At(i)
			if isTemplate(k, syntax, depth+1) || isTemplate(item, syntax, depth+1) {
				return true
			}
		}
		return false
	}
	s, ok := value.Text(v)
	return ok && possiblyTemplate(s) && jinja.IsTemplate(s, syntax)
}

// Refs are the names of variables that rendering v can read, as far as its text shows. complete is false when
// something in it is found by name at run time (vars[...], lookup('vars', ...), an include), so that any variable may be read.
// hostvars counts as a name. What the named variables read in turn is not followed.
func Refs(v value.Value) (names []string, complete bool) {
	return collect(func(r *refs) { r.value(v, 0) })
}

// ConditionRefs are the Refs of a list of conditions, which are expressions without delimiters.
func ConditionRefs(conds ...value.Value) (names []string, complete bool) {
	return collect(func(r *refs) {
		for _, c := range conds {
			r.condition(c)
		}
	})
}

func collect(walk func(r *refs)) ([]string, bool) {
	r := refs{names: map[string]bool{}, complete: true, syntax: newSyntax()}
	walk(&r)
	return slices.Sorted(maps.Keys(r.names)), r.complete
}

type refs struct {
	names    map[string]bool
	complete bool
	syntax   jinja.Syntax
}

func (r *refs) add(names []string, complete bool, err error) {
	for _, n := range names {
		r.names[n] = true
	}
	// what cannot be read fails in the same way wherever it is rendered
	r.complete = r.complete && (complete || err != nil)
}

func (r *refs) value(v value.Value, depth int) {
	if depth > maxNesting {
		r.complete = false
		return
	}
	switch v := v.(type) {
	case value.UnsafeStr, value.NativeUnsafeStr:
	case *value.List:
		for _, item := range v.Items {
			r.value(item, depth+1)
		}
	case *value.Tuple:
		for _, item := range v.Items {
			r.value(item, depth+1)
		}
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.At(i)
			r.value(item, depth+1)
		}
	default:
		if s, ok := value.Text(v); ok && possiblyTemplate(s) {
			r.add(jinja.TextRefs(s, r.syntax))
		}
	}
}

func (r *refs) condition(c value.Value) {
	s, ok := value.Text(c)
	if !ok {
		r.value(c, 0)
		return
	}
	if possiblyTemplate(s) { // what it renders to is evaluated again
		r.value(c, 0)
		r.complete = false
		return
	}
	r.add(jinja.TextRefs("{% if "+s+" %}{% endif %}", r.syntax))
}
