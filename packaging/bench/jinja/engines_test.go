// Package jinja measures hark's template engine beside minijinja-go on the same templates; classic.py measures
// Jinja2. It is a module of its own, so that hark does not depend on what it is compared with.
package jinja

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	minijinja "github.com/mitsuhiko/minijinja/minijinja-go/v2"
	"github.com/mitsuhiko/minijinja/minijinja-go/v2/syntax"
	minivalue "github.com/mitsuhiko/minijinja/minijinja-go/v2/value"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/templar"
)

// work is one template with its variables.
type work struct {
	name, text string
	vars       map[string]any
}

// values are the variables as hark has them.
func (w work) values(tb testing.TB) *value.Dict {
	raw, err := json.Marshal(w.vars)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := value.Decode(raw, value.KindSource)
	if err != nil {
		tb.Fatal(err)
	}
	return v.(*value.Dict)
}

// works are those that classic.py has too.
func works(tb testing.TB) []work {
	many := map[string]any{"v": "text", "port": 8080, "env": "prod"}
	for i := range 500 {
		many[fmt.Sprintf("var_%d", i)] = "value"
	}
	text, err := os.ReadFile("nginx.conf.j2")
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := os.ReadFile("nginx.json")
	if err != nil {
		tb.Fatal(err)
	}
	var nginx map[string]any
	if err := json.Unmarshal(raw, &nginx); err != nil {
		tb.Fatal(err)
	}
	return []work{
		{"trivial", "{{ v }}", many},
		{"when", "{% if env == 'prod' and port > 80 and nope is not defined %}True{% else %}False{% endif %}", many},
		{"nginx", string(text), nginx},
	}
}

// scope is the variables as the engine itself sees them, without Ansible's layer.
type scope struct{ vars *value.Dict }

func (s scope) Var(_ context.Context, name string) (value.Value, bool, error) {
	v, ok := s.vars.Get(name)
	return v, ok, nil
}

func (scope) Call(context.Context, string, string, []value.Value, *value.Dict) (value.Value, error) {
	return nil, fmt.Errorf("there are no plug-ins here")
}

// Raw and Names make a scope the variables of a templar.
func (s scope) Raw(_ context.Context, name string) (value.Value, bool, error) {
	return s.Var(context.Background(), name)
}

func (s scope) Names(context.Context) []string { return nil }

func options() jinja.Options {
	o := jinja.Options{Syntax: jinja.NewSyntax(), Env: &jinja.Env{Filters: filters.Filters(), Tests: filters.Tests(), Globals: filters.Globals()}}
	o.Syntax.TrimBlocks = true
	return o
}

func ours(tb testing.TB, w work) func() string {
	t, err := jinja.Parse(w.text, options())
	if err != nil {
		tb.Fatal(err)
	}
	s := scope{w.values(tb)}
	return func() string {
		v, err := t.Eval(context.Background(), s)
		if err != nil {
			tb.Fatal(err)
		}
		text, _ := value.Text(v)
		return text
	}
}

func theirs(tb testing.TB, w work) func() string {
	env := minijinja.NewEnvironment()
	env.SetWhitespace(syntax.WhitespaceConfig{TrimBlocks: true})
	if err := env.AddTemplate("t", w.text); err != nil {
		tb.Fatal(err)
	}
	t, err := env.GetTemplate("t")
	if err != nil {
		tb.Fatal(err)
	}
	vars := minivalue.FromAny(w.vars) // once: hark's variables are made once too
	return func() string {
		text, err := t.Render(vars)
		if err != nil {
			tb.Fatal(err)
		}
		return text
	}
}

// TestEnginesAgree shows that the engines do the same work.
func TestEnginesAgree(t *testing.T) {
	for _, w := range works(t) {
		if a, b := ours(t, w)(), theirs(t, w)(); a != b {
			t.Errorf("%s: hark gives %q, minijinja-go %q", w.name, a, b)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	for _, w := range works(b) {
		for name, engine := range map[string]func(testing.TB, work) func() string{"hark": ours, "minijinja": theirs} {
			b.Run(name+"/"+w.name, func(b *testing.B) {
				render := engine(b, w)
				b.ReportAllocs()
				for b.Loop() {
					render()
				}
			})
		}
		b.Run("ansible/"+w.name, func(b *testing.B) {
			t := templar.New(scope{w.values(b)}, templar.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Template(context.Background(), value.SourceText(w.text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, w := range works(b) {
		b.Run("hark/"+w.name, func(b *testing.B) {
			o := options()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jinja.Parse(w.text, o); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("minijinja/"+w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				env := minijinja.NewEnvironment()
				if err := env.AddTemplate("t", w.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
