package templar

import (
	"context"
	"testing"

	"hark/modules/py/value"
)

type noVars struct{}

func (noVars) Raw(context.Context, string) (value.Value, bool, error) { return nil, false, nil }

func (noVars) Names(context.Context) []string { return nil }

// TestUndefinedArgumentsOfLookups: a lookup may run elsewhere, where nothing undefined can be sent.
func TestUndefinedArgumentsOfLookups(t *testing.T) {
	asked := func(_ context.Context, _ string, terms []value.Value, kw *value.Dict) (value.Value, error) {
		out := value.NewList()
		for _, term := range terms {
			if s, _ := value.Text(term); s == "HOME" {
				out.Items = append(out.Items, value.Str("/root"))
			} else {
				def, _ := kw.Get("default")
				out.Items = append(out.Items, def)
			}
		}
		return out, nil
	}
	tpl := New(noVars{}, Options{Engine: NewEngine(), Lookup: asked})
	for text, want := range map[string]string{
		"{{ lookup('env', 'HOME', default=undef()) }}":        "/root",
		"{{ lookup('env', 'NOPE', default='x') }}":            "x",
		"{{ lookup('env', 'NOPE', default=undef()) }}":        `The "env" lookup, found an undefined variable: NOPE`,
		"{{ q('ansible.builtin.env', 'A B', default=nope) }}": `The "env" lookup, found an undefined variable: A`,
		"{{ lookup('file', 'x', rstrip=nope) }}":              "'nope' is undefined",
		"{{ lookup('template', 'x', vars=[{'a': nope}]) }}":   "'nope' is undefined",
	} {
		got, err := tpl.Template(context.Background(), value.SourceText(text))
		s, _ := value.Text(got)
		if err != nil {
			s = err.Error()
			if !IsUndefined(err) {
				t.Errorf("%s: %T", text, err)
			}
		}
		if s != want && s != want+". "+want {
			t.Errorf("%s\n got  %s\n want %s", text, s, want)
		}
	}
}
