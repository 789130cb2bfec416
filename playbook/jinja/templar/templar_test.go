package templar_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// vars are raw variables in a map.
type vars map[string]value.Value

func (v vars) Raw(_ context.Context, name string) (value.Value, bool, error) {
	x, ok := v[name]
	return x, ok, nil
}

func (v vars) Names(context.Context) []string {
	var names []string
	for n := range v {
		names = append(names, n)
	}
	return names
}

func render(t *testing.T, tpl *templar.Templar, text string) string {
	t.Helper()
	v, err := tpl.Template(context.Background(), value.SourceText(text))
	if err != nil {
		return "ERR " + err.Error()
	}
	r, err := value.Repr(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVariableThatRefersToItselfIsALoop(t *testing.T) {
	tpl := templar.New(vars{"a": value.SourceText("{{ b }}"), "b": value.SourceText("x{{ a }}"), "l": value.NewList(value.SourceText("{{ l }}"))}, templar.Options{})
	for _, text := range []string{"{{ a }}", "{{ l[0] }}"} {
		got := render(t, tpl, text)
		if !strings.HasPrefix(got, "ERR An unhandled exception occurred while templating") ||
			!strings.Contains(got, "recursive loop detected in template string: ") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestTemplarsWithinTemplarsAreALoop: what a lookup or hostvars renders with a Templar of its own counts towards the
// depth.
func TestTemplarsWithinTemplarsAreALoop(t *testing.T) {
	for name, engine := range map[string]*templar.Engine{"classic": templar.NewEngine(), "tagged": templar.NewEngine().Tagged()} {
		v, o := vars{}, templar.Options{Engine: engine}
		o.Lookup = func(ctx context.Context, _ string, args []value.Value, _ *value.Dict) (value.Value, error) {
			again, err := templar.New(v, o).Template(ctx, args[0])
			return value.NewList(again), err
		}
		v["text"] = value.SourceText("{{ lookup('again', text_of) }}")
		v["text_of"] = value.SourceText("{{ lookup('again', text) }}")
		if got := render(t, templar.New(v, o), "{{ text }}"); !strings.HasPrefix(got, "ERR ") || !strings.Contains(got, "ecursi") {
			t.Errorf("%s: %.200s", name, got)
		}
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	v := vars{}
	for i := range 60 {
		v[fmt.Sprint("v", i)] = value.SourceText(fmt.Sprintf("{{ v%d }}{{ v%d }}", i+1, i+1))
	}
	v["v60"] = value.SourceText("xx")
	deep := value.Value(value.SourceText("{{ 1 }}"))
	for range 5000 {
		deep = value.NewList(deep)
	}
	v["deep"] = deep
	tpl := templar.New(v, templar.Options{})
	for name, text := range map[string]string{
		"list of a huge range": "{{ range(10**12) | list }}",
		"printed huge range":   "{{ range(10**12) }}",
		"text":                 "{{ 'a' * 10**10 }}",
		"list":                 "{{ [0] * 10**10 }}",
		"power":                "{{ 10 ** 10 ** 10 ** 10 ** 10 ** 10 ** 10 ** 10 ** 10 }}",
		"width":                "{{ '%9999999999d' % 1 }}",
		"format width":         "{{ '{:9999999999}'.format(1) }}",
		"macro":                "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"doubling":             "{{ v0 }}",
		"nesting":              "{{ deep }}",
		"endless loop":         "{% set l = [1] %}{% for i in l %}{% set _ = l.append(i) %}{% endfor %}",
		"brackets":             strings.Repeat("{{ [", 1) + strings.Repeat("[", 100000),
		"output":               "{% for i in range(10**7) %}" + strings.Repeat("x", 100) + "{% endfor %}",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			_, err := tpl.Template(ctx, value.SourceText(text))
			if err == nil {
				t.Fatal("no error")
			}
			if ctx.Err() != nil {
				t.Fatal("only the clock stopped it")
			}
		})
	}
}

func TestCancelledContextStopsALoop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	tpl := templar.New(vars{}, templar.Options{Lookup: func(context.Context, string, []value.Value, *value.Dict) (value.Value, error) {
		cancel()
		return value.NewList(), nil
	}})
	_, err := tpl.Template(ctx, value.SourceText("{% set _ = lookup('x') %}{% for i in range(10**12) %}{% endfor %}"))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestUnsafeTextIsNeverRendered(t *testing.T) {
	unsafe := value.UnsafeStr("{{ 1 + 1 }}")
	tpl := templar.New(vars{"u": unsafe, "d": dict("k", unsafe), "lazy": value.SourceText("<{{ u }}>")}, templar.Options{})
	ctx := context.Background()
	for text, want := range map[string]value.Value{
		"{{ u }}":         unsafe,
		"{{ d.k }}":       unsafe,
		"{{ lazy }}":      value.UnsafeStr("<{{ 1 + 1 }}>"),
		"a {{ lazy }}":    value.UnsafeStr("a <{{ 1 + 1 }}>"),
		"{{ d['k'][3] }}": value.UnsafeStr("1"),
	} {
		if got, err := tpl.Template(ctx, value.SourceText(text)); err != nil || got != want {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
	if got, err := tpl.Template(ctx, unsafe); err != nil || got != value.Value(unsafe) {
		t.Errorf("%#v, %v", got, err)
	}
	if _, _, err := tpl.Condition(ctx, unsafe); err == nil || !strings.Contains(err.Error(), "cannot be evaluated") {
		t.Error(err)
	}
}

func dict(kv ...any) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(kv); i += 2 {
		d.Set(kv[i].(string), kv[i+1].(value.Value))
	}
	return d
}

func TestLocalsShadowVariables(t *testing.T) {
	tpl := templar.New(vars{"item": value.Int(1), "b": value.SourceText("<{{ item }}>")}, templar.Options{})
	local := tpl.With(dict("item", value.Int(2))).With(dict("i", value.Int(3)))
	if got := render(t, local, "{{ item }}{{ i }}{{ b }}"); got != "'23<2>'" {
		t.Error(got)
	}
	if got := render(t, tpl, "{{ b }}{{ i is defined }}"); got != "'<1>False'" {
		t.Error(got)
	}
}

func TestTemplatesCannotChangeVariables(t *testing.T) {
	v := vars{"l": value.NewList(value.Int(1)), "d": dict("a", value.NewList())}
	tpl := templar.New(v, templar.Options{Load: func(context.Context, string) (value.Source, bool, error) {
		return value.SourceText("{% set _ = l.append(2) %}"), true, nil
	}})
	for text, want := range map[string]string{
		"{% set _ = l.append(2) %}{{ l }}":           "[1, 2]",
		"{% set _ = d['update']({'b': 1}) %}{{ d }}": "{'a': [], 'b': 1}",
		"{% set _ = d.a.append(1) %}{{ d }}":         "{'a': [1]}",
		"{% include 'x' %}{{ l }}":                   "[1]",
		"{{ l }}{{ d }}":                             "\"[1]{'a': []}\"",
	} {
		if got := render(t, tpl, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestRefs(t *testing.T) {
	for _, c := range []struct {
		text     string
		names    string
		complete bool
	}{
		{"plain", "", true},
		{"{{ a.b[c] | default(d) }}", "a c d", true},
		{"{% if a %}{{ b }}{% elif c is e(d) %}{% else %}{{ f }}{% endif %}", "a b c d f", true},
		{"{% for i in l if i.x == y %}{{ loop.index }}{% endfor %}", "i l loop y", true},
		{"{{ vars['a'] }}{{ vars.b }}", "a b vars", true},
		{"{{ vars[a] }}", "a vars", false},
		{"{{ vars }}", "vars", false},
		{"{{ hostvars[h].x }}", "h hostvars", true},
		{"{{ lookup('vars', 'a', 'b') }}{{ q('ansible.builtin.vars', 'c') }}", "a b c lookup q", true},
		{"{{ lookup('vars', a) }}", "a lookup", false},
		{"{{ lookup('varnames', '^a') }}", "lookup", false},
		{"{{ lookup(a) }}", "a lookup", false},
		{"{{ lookup('env', 'HOME') }}", "lookup", true},
		{"{% include 'x' %}", "", false},
		{"{{ a | nosuchfilter(b) }}", "a b", true},
		{"{{ a + }}", "", true},
		{"{% macro m(a, b=c) %}{{ a }}{% endmacro %}{% call(x) m(y) %}{{ z }}{% endcall %}", "a c m y z", true},
	} {
		read := templar.Read(value.NewList(dict("k", value.SourceText(c.text))))
		names, complete := read.Names, read.Complete
		if got := strings.Join(names, " "); got != c.names || complete != c.complete {
			t.Errorf("%s: %q, %v", c.text, got, complete)
		}
	}
	if read := templar.Read(value.UnsafeStr("{{ a }}")); len(read.Names) > 0 || !read.Complete {
		t.Error(read)
	}
	read := templar.ReadConditions(value.SourceText("a is defined and b.c > 1"), value.Bool(true))
	names, complete := read.Names, read.Complete
	if strings.Join(names, " ") != "a b" || !complete {
		t.Error(names, complete)
	}
	if read := templar.ReadConditions(value.SourceText("{{ a }} == 1")); read.Complete {
		t.Error("a condition that is rendered first may read anything")
	}
}

func TestOmit(t *testing.T) {
	tpl := templar.New(vars{}, templar.Options{})
	v, err := tpl.Template(context.Background(), dict("a", value.SourceText("{{ x | default(omit) }}"),
		"b", value.NewList(value.Int(1), dict("x", value.SourceText("{{ omit }}"))), "c", value.Str("kept")))
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := v.(*value.Dict).Get("a"); !templar.IsOmit(a) {
		t.Error(a)
	}
	r, _ := value.Repr(templar.StripOmit(v.(*value.Dict)))
	if r != "{'b': [1, {}], 'c': 'kept'}" {
		t.Error(r)
	}
}

func TestLookupResults(t *testing.T) {
	lookups := map[string]func() (value.Value, error){
		"one":     func() (value.Value, error) { return value.NewList(value.Str("a")), nil },
		"two":     func() (value.Value, error) { return value.NewList(value.Str("a"), value.Str("b")), nil },
		"int":     func() (value.Value, error) { return value.NewList(value.Int(1)), nil },
		"ints":    func() (value.Value, error) { return value.NewList(value.Int(1), value.Int(2)), nil },
		"none":    func() (value.Value, error) { return value.NewList(), nil },
		"missing": func() (value.Value, error) { return nil, templar.ErrUnknownLookup },
		"fails":   func() (value.Value, error) { return nil, value.Errorf("AnsibleLookupError", "no luck") },
		"breaks":  func() (value.Value, error) { return nil, value.ValueErrorf("bad") },
	}
	var terms []string
	var warned []string
	tpl := templar.New(vars{"x": value.SourceText("{{ 1 + 1 }}")}, templar.Options{
		Warn: func(msg string) { warned = append(warned, msg) },
		Lookup: func(_ context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
			r, _ := value.Repr(value.NewList(args...))
			k, _ := value.Repr(kw)
			terms = append(terms, r+k)
			return lookups[name]()
		},
	})
	for text, want := range map[string]string{
		"{{ lookup('one') }}":                       "'a'",
		"{{ lookup('two') }}":                       "'a,b'",
		"{{ lookup('two', wantlist=true) }}":        "['a', 'b']",
		"{{ query('two') | length }}":               "'2'",
		"{{ q('one') }}":                            "['a']",
		"{{ lookup('int') }}":                       "'1'",
		"{{ lookup('ints') }}":                      "[1, 2]",
		"{{ lookup('none') }}":                      "[]",
		"{{ lookup('missing') }}":                   "ERR lookup plugin (missing) not found",
		"{{ lookup('fails') }}":                     "ERR no luck",
		"{{ lookup('fails', errors='ignore') }}|":   "'|'",
		"{{ query('fails', errors='ignore') }}":     "[]",
		"{{ lookup('breaks') }}":                    "ERR An unhandled exception occurred while running the lookup plugin 'breaks'. Error was a <class 'ValueError'>, original message: bad. bad",
		"{{ lookup('fails', errors='warn') }}":      "''",
		"{{ lookup() }}":                            "ERR Unexpected templating type error occurred on ({{ lookup() }}): Templar._lookup() missing 1 required positional argument: 'name'. Templar._lookup() missing 1 required positional argument: 'name'",
		"{{ lookup('one', x, '{{ x }}', k=1) }}":    "'a'",
		"{{ lookup('two', allow_unsafe=true)[0] }}": "'a'",
	} {
		if got := render(t, tpl, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if !strings.Contains(strings.Join(terms, "\n"), "['2', '2']{'k': 1}") {
		t.Errorf("the terms are not rendered: %q", terms)
	}
	if len(warned) != 1 || warned[0] != "Lookup failed but the error is being ignored: no luck" {
		t.Errorf("warnings: %q", warned)
	}
}

func TestConditionTellsWhichFailed(t *testing.T) {
	tpl := templar.New(vars{"x": value.Int(1)}, templar.Options{})
	ok, failed, err := tpl.Condition(context.Background(), value.SourceText("x == 1"), value.SourceText("x == 2"), value.SourceText("nope"))
	if ok || err != nil || failed != value.Value(value.SourceText("x == 2")) {
		t.Error(ok, failed, err)
	}
	if ok, _, err := tpl.Condition(context.Background()); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestConditionWithDelimitersWarns(t *testing.T) {
	var warned []string
	tpl := templar.New(vars{"x": value.Int(1)}, templar.Options{Warn: func(m string) { warned = append(warned, m) }})
	if ok, _, err := tpl.Condition(context.Background(), value.SourceText("{{ x }} == 1")); !ok || err != nil {
		t.Error(ok, err)
	}
	want := "conditional statements should not include jinja2 templating delimiters such as {{ }} or {% %}. Found: {{ x }} == 1"
	if len(warned) != 1 || warned[0] != want {
		t.Errorf("%q", warned)
	}
}

func TestEngineIsSharedByManyTemplars(t *testing.T) {
	engine := templar.NewEngine()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			tpl := templar.New(vars{"x": value.Int(i)}, templar.Options{Engine: engine})
			for n := range 200 {
				want := fmt.Sprint(i + n)
				got, err := tpl.Template(context.Background(), value.SourceText(fmt.Sprintf("{%% for a in [x] %%}{{ a + %d }}{%% endfor %%}", n)))
				if s, _ := value.Text(got); err != nil || s != want {
					t.Errorf("%v, %v, want %s", got, err, want)
				}
			}
		})
	}
	all.Wait()
}

func TestExprKeepsTypes(t *testing.T) {
	tpl := templar.New(vars{"d": dict("a", value.Int(1)), "u": value.UnsafeStr("x")}, templar.Options{})
	for expr, want := range map[string]string{"d.a": "1", "d.keys()": "['a']", "none": "None", "[u]": "['x']", "d | default([])": "{'a': 1}"} {
		v, err := tpl.Expr(context.Background(), value.SourceText(expr))
		if err != nil {
			t.Error(expr, err)
			continue
		}
		if r, _ := value.Repr(v); r != want {
			t.Errorf("%s: %s", expr, r)
		}
	}
	if _, err := tpl.Expr(context.Background(), value.SourceText("nope.a")); !templar.IsUndefined(err) {
		t.Error(err)
	}
	if _, err := tpl.Expr(context.Background(), value.SourceText("d. }}")); err == nil {
		t.Error("no error")
	}
}

func TestSyntaxOfAFileHoldsForItsVariables(t *testing.T) {
	tpl := templar.New(vars{"a": value.SourceText("{{ 1 + 1 }}[[ 2 + 2 ]]")}, templar.Options{})
	ctx := context.Background()
	out, err := tpl.File(ctx, value.SourceText("[[ a ]]{{ a }}"), templar.FileOptions{VariableStart: "[[", VariableEnd: "]]"})
	if err != nil || out != "{{ 1 + 1 }}4{{ a }}" {
		t.Errorf("options: %q, %v", out, err)
	}
	header := "#jinja2: variable_start_string: '[[', variable_end_string: ']]'\n"
	out, err = tpl.File(ctx, value.SourceText(header+"[[ a ]]{{ a }}"), templar.FileOptions{})
	if err != nil || out != "2[[ 2 + 2 ]]{{ a }}" {
		t.Errorf("header: %q, %v", out, err)
	}
}

func TestExtensionsAreOptions(t *testing.T) {
	text := "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% elif i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}{% do [] %}"
	tpl := templar.New(vars{}, templar.Options{Do: true, LoopControls: true})
	if got := render(t, tpl, text); got != "'02'" {
		t.Error(got)
	}
	tpl = templar.New(vars{}, templar.Options{})
	if got := render(t, tpl, text); !strings.Contains(got, "Encountered unknown tag 'continue'.") {
		t.Error(got)
	}
}

func TestErrorsOfRawVariablesPass(t *testing.T) {
	gone := errors.New("controller is gone")
	tpl := templar.New(failing{gone}, templar.Options{})
	if _, err := tpl.Template(context.Background(), value.SourceText("a {{ x }}")); !errors.Is(err, gone) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Raw(context.Context, string) (value.Value, bool, error) { return nil, false, f.err }
func (f failing) Names(context.Context) []string                         { return nil }
