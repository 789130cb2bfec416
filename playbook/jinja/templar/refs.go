package templar

import (
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// IsTemplate reports whether v is or contains text that would be rendered.
func IsTemplate(v value.Value) bool {
	syntax := newSyntax()
	return isTemplate(v, syntax, 0)
}

// IsTemplateText reports whether a text would be rendered if it were of a playbook.
func IsTemplateText(s string) bool { return possiblyTemplate(s) && jinja.IsTemplate(s, newSyntax()) }

func isTemplate(v value.Value, syntax jinja.Syntax, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v := v.(type) {
	case value.UnsafeStr, value.NativeUnsafeStr, value.Str, value.NativeStr, value.Markup:
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
			k, item := v.Kept(i)
			if isTemplate(k, syntax, depth+1) || isTemplate(item, syntax, depth+1) {
				return true
			}
		}
		return false
	case *value.Lines: // those of a text are none where that is none
		if text := v.Text(); text != nil {
			return isTemplate(text, syntax, depth)
		}
		return isTemplate(v.List(), syntax, depth)
	}
	s, ok := value.Text(v)
	return ok && possiblyTemplate(s) && jinja.IsTemplate(s, syntax)
}

// Reading is what rendering a value may use, see jinja.Reading. hostvars counts as a name. What the named variables
// use in turn is not followed. Volatile says that it may come out differently when it is rendered twice.
type Reading struct {
	jinja.Reading
	Volatile bool
}

// Read returns what rendering v may use, as far as its text shows.
func Read(v value.Value) Reading {
	return collect(func(r *refs) { r.value(v, 0) })
}

// ReadConditions is Read for a list of conditions, which are expressions without delimiters.
func ReadConditions(conds ...value.Value) Reading {
	return collect(func(r *refs) {
		for _, c := range conds {
			r.condition(c)
		}
	})
}

// ReadText is Read for a text that is a template in any case: a file.
func ReadText(text string) Reading {
	return collect(func(r *refs) { r.text(text) })
}

func collect(walk func(r *refs)) Reading {
	r := refs{all: Reading{Reading: jinja.Reading{Complete: true}}, syntax: newSyntax()}
	walk(&r)
	for _, list := range []*[]string{&r.all.Names, &r.all.Plugins, &r.all.Texts, &r.all.Lookups} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	r.all.Volatile = slices.ContainsFunc(r.all.Plugins, volatile) || slices.ContainsFunc(r.all.Texts, volatile) ||
		slices.Contains(r.all.Names, "now") || len(r.all.Lookups) > 0
	return r.all
}

// volatile reports whether a filter gives something else each time.
func volatile(name string) bool {
	row, ok := dialect.FilterNamed(name)
	return ok && row.Traits.Has(dialect.Volatile)
}

type refs struct {
	all    Reading
	syntax jinja.Syntax
}

func (r *refs) text(src string) {
	in, err := jinja.Read(src, r.syntax)
	if err != nil {
		return // what cannot be read fails in the same way wherever it is rendered
	}
	r.all.Names = append(r.all.Names, in.Names...)
	r.all.Plugins = append(r.all.Plugins, in.Plugins...)
	r.all.Texts = append(r.all.Texts, in.Texts...)
	r.all.Lookups = append(r.all.Lookups, in.Lookups...)
	r.all.Complete = r.all.Complete && in.Complete
}

func (r *refs) value(v value.Value, depth int) {
	if depth > maxNesting {
		r.all.Complete = false
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
			k, item := v.At(i)
			r.value(k, depth+1)
			r.value(item, depth+1)
		}
	default:
		if s, ok := value.Text(v); ok && possiblyTemplate(s) {
			r.text(s)
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
		r.all.Complete = false
		return
	}
	r.text("{% if " + s + " %}{% endif %}")
}
