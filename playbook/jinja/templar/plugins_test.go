package templar_test

import (
	"context"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
)

// TestPlugins: filters and tests that live elsewhere are called by their names, also through map and select, and may
// hide hark's own.
func TestPlugins(t *testing.T) {
	engine := templar.NewEngine()
	o := templar.Options{Engine: engine, Plugins: engine.WithPlugins([]string{"upper"}, nil, true)}
	o.Plugin = func(_ context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
		in, err := value.ToStr(args[0])
		if err != nil {
			return nil, err
		}
		switch kind + " " + name {
		case "filter upper":
			return value.Str("mine:" + in), nil
		case "test short":
			return value.Bool(len(in) < 3), nil
		}
		return nil, jinja.ErrNoPlugin
	}
	tpl := templar.New(nil, o)
	for src, want := range map[string]string{
		"{{ 'a' | upper }}":                            "mine:a",
		"{{ ['a', 'b'] | map('upper') | join('-') }}":  "mine:a-mine:b",
		"{{ ['ab', 'abc'] | select('short') | join }}": "ab",
		"{{ 'abc' is short }}":                         "False",
		"{{ 'a' | lower }}":                            "a",
		"{{ 'a' | nosuch }}":                           `template error while templating string: Could not load "nosuch": 'nosuch'. String: {{ 'a' | nosuch }}. Could not load "nosuch": 'nosuch'`,
		"{{ ['a'] | map('nosuch') | list }}":           "Could not load \"nosuch\": 'nosuch'\n  line 0",
		"{{ ['a'] | select('nosuch') | list }}":        "Could not load \"nosuch\": 'nosuch'\n  line 0",
		"{{ nothing | upper }}":                        "'nothing' is undefined. 'nothing' is undefined",
		"{{ 'a' | upper(nothing) }}":                   "'nothing' is undefined. 'nothing' is undefined",
		"{{ 'a' | upper(k=nothing) }}":                 "'nothing' is undefined. 'nothing' is undefined",
		"{% if 'x' is nosuch %}{% endif %}":            `template error while templating string: Could not load "nosuch": 'nosuch'. String: {% if 'x' is nosuch %}{% endif %}. Could not load "nosuch": 'nosuch'`,
	} {
		got, err := tpl.Template(context.Background(), value.SourceText(src))
		text := ""
		if err != nil {
			text = err.Error()
		} else if text, err = value.ToStr(got); err != nil {
			t.Fatal(err)
		}
		if text != want {
			t.Errorf("%s\n got  %s\n want %s", src, text, want)
		}
	}
	plain := templar.New(nil, templar.Options{Engine: engine})
	if got, err := plain.Template(context.Background(), value.SourceText("{{ 'a' | upper }}")); err != nil || value.Printed(got) != "A" {
		t.Errorf("without plug-ins: %v, %v", got, err)
	}
}

// TestFailedPluginsHaveTheirFullNames: hark's own of a collection are of that collection, others of ansible.builtin.
func TestFailedPluginsHaveTheirFullNames(t *testing.T) {
	tpl := templar.New(nil, templar.Options{Engine: templar.NewEngine().Tagged()})
	for src, want := range map[string]string{
		"{{ '{' | from_json }}":                         "The filter plugin 'ansible.builtin.from_json' failed",
		"{{ '{' | ansible.builtin.from_json }}":         "The filter plugin 'ansible.builtin.from_json' failed",
		"{{ 'x' | community.general.to_milliseconds }}": "The filter plugin 'community.general.to_milliseconds' failed",
	} {
		if _, err := tpl.Template(context.Background(), value.SourceText(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", src, err, want)
		}
	}
}
