package jinja_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/templar"
)

// seeds are texts with every kind of tag and expression.
func seeds(f *testing.F) {
	for _, s := range []string{
		"{{ x }}", "{% for i in lst recursive %}{{ loop(i) }}{% else %}{% endfor %}", "{% macro m(a, b=1) %}{{ caller() }}{% endmacro %}",
		"{% set a, (b, c) = x %}", "{% set b | upper %}{% endset %}", "{% call(a) m(*x, **y) %}{% endcall %}", "{{ x | map('int') | list }}",
		"{{ 'a\\x41' 'b' ~ 1e3 ** -2 // 3 % x[1:2:3] if not y is defined else {'a': [1,], 'b': ()} }}", "{% raw -%} {{ {%- endraw %}",
		"{# c -#} {%- if a %}{% elif b %}{% else %}{% endif +%}", "{% extends 'a' %}{% block b scoped %}{{ super() }}{% endblock %}",
		"{% from 'a' import b as c, d with context %}", "{% with a = 1 %}{% filter upper %}{% endfilter %}{% endwith %}",
		"#jinja2: trim_blocks: False\n{{ x }}", "{{ '%05.2f %(a)s' % x }}{{ '{0[a].b!r:>{w}}'.format(x) }}",
	} {
		f.Add(s)
	}
}

// FuzzParse shows that any text compiles or is refused, and that what is refused is a syntax error.
func FuzzParse(f *testing.F) {
	seeds(f)
	o := jinja.Options{Syntax: jinja.NewSyntax(), Do: true, LoopControls: true,
		Env: &jinja.Env{Filters: filters.Filters(), Tests: filters.Tests()}}
	f.Fuzz(func(t *testing.T, src string) {
		var syntax *jinja.SyntaxError
		if _, err := jinja.Parse(src, o); err != nil && !errors.As(err, &syntax) {
			t.Fatalf("%T: %v", err, err)
		}
		if _, err := jinja.ParseExpr(src, o); err != nil && !errors.As(err, &syntax) {
			t.Fatalf("%T: %v", err, err)
		}
		_, _ = jinja.Read(src, o.Syntax)
	})
}

// FuzzEscapeBackslashes shows that a text without backslashes in it is only changed where whitespace is stripped.
func FuzzEscapeBackslashes(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		once, err := jinja.EscapeBackslashes(src, jinja.NewSyntax())
		if err != nil {
			return
		}
		if _, err := jinja.Parse(once, jinja.Options{Syntax: jinja.NewSyntax()}); err != nil {
			var syntax *jinja.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%T: %v", err, err)
			}
		}
	})
}

// FuzzRender shows that any text renders or fails in time, whatever it does.
func FuzzRender(f *testing.F) {
	seeds(f)
	engine := templar.NewEngine()
	vars := templar.DictVars{Dict: value.NewDict()}
	vars.Dict.Set("x", value.Int(5))
	vars.Dict.Set("s", value.SourceText("{{ lst }}"))
	vars.Dict.Set("lst", value.NewList(value.SourceText("a"), value.Int(1), value.NewList(value.Int(2))))
	vars.Dict.Set("u", value.UnsafeStr("{{ x }}"))
	f.Fuzz(func(t *testing.T, src string) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		tpl := templar.New(vars, templar.Options{Engine: engine})
		_, _ = tpl.Template(ctx, value.SourceText(src))
		_, _, _ = tpl.Condition(ctx, value.SourceText(src))
		if ctx.Err() != nil {
			t.Fatalf("%q takes too long", src)
		}
	})
}
