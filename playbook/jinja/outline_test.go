package jinja_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// written is a part as a Lisp would write it.
func written(p *jinja.Part) string {
	kinds := []string{"text", "const", "name", "attr", "item", "slice", "call", "filter", "test", "compare", "logic", "not", "arith", "concat", "if", "list", "dict", "statement"}
	out := []string{kinds[p.Kind]}
	if p.Name != "" {
		out = append(out, p.Name)
	}
	if p.Const != nil {
		out = append(out, value.Printed(p.Const))
	}
	for _, inner := range p.Parts {
		out = append(out, written(inner))
	}
	var named []string
	for name, inner := range p.Keywords {
		named = append(named, name+"="+written(inner))
	}
	slices.Sort(named)
	return "(" + strings.Join(append(out, named...), " ") + ")"
}

func TestOutlineOfExpressions(t *testing.T) {
	for src, want := range map[string]string{
		"a.b['c'] == 1 and not d":    "(logic and (compare (item (attr b (name a)) (const c)) (const 1)) (not (name d)))",
		"x | default('y', true)":     "(filter default (name x) (const y) (const True))",
		"x | f(1, boolean=z)":        "(filter f (name x) (const 1) boolean=(name z))",
		"x is not defined":           "(not (test defined (name x)))",
		"a if b":                     "(if (name b) (name a))",
		"lookup('file', [1, omit])":  "(call (name lookup) (const file) (list (const 1) (name omit)))",
		"{'a': b} ~ c[1:] ~ (1 + 2)": "(concat (dict (const a) (name b)) (item (name c) (slice (const 1))) (arith + (const 1) (const 2)))",
	} {
		p, err := jinja.OutlineExpr(src, jinja.NewSyntax())
		if err != nil || written(p) != want {
			t.Errorf("%s: %v, %v, want %s", src, fmt.Sprint(written(p)), err, want)
		}
	}
}

func TestOutlineOfTemplates(t *testing.T) {
	for src, want := range map[string]string{
		"a{{ b }}": "(text a) (name b)",
		"{% if x %}1{% else %}{{ y }}{% endif %}":                "(statement (name x) (text 1) (name y))",
		"{% for i in l %}{{ i }}{% endfor %}":                    "(statement (name l) (name i))",
		"{% filter upper %}x{% endfilter %}":                     "(statement (text x) (filter upper))",
		"{% block b %}{{ x }}{% endblock %}{# nothing #}":        "(statement (name x))",
		"{% set a = 1 %}{% macro m(b=2) %}{{ b }}{% endmacro %}": "(statement (const 1)) (statement (const 2) (name b))",
	} {
		parts, err := jinja.Outline(src, jinja.NewSyntax())
		var got []string
		for _, p := range parts {
			got = append(got, written(p))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", src, got, err, want)
		}
	}
	if _, err := jinja.Outline("{{ a b }}", jinja.NewSyntax()); err == nil {
		t.Error("no error for what is no template")
	}
}
