package strictyaml

import "testing"

type file struct {
	Name string            `yaml:"name"`
	Keys []string          `yaml:"keys"`
	More map[string]string `yaml:"more"`
}

func TestYAML(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"# nothing\n":             "",
		"name: a\nkeys: [b]\n":    "",
		"nam: a\n":                `line 1: there is no setting "nam"`,
		"name: a\nkeys: b\n":      "line 2: a text cannot stand here",
		"name: [a]\nmore: [b]\n":  "line 1: a list cannot stand here; line 2: a list cannot stand here",
		"- a\n":                   "line 1: a list cannot stand here",
		"name: 'a\n":              "yaml: line 2: found unexpected end of stream",
		"name: a\nname: b\n":      `line 2: mapping key "name" already defined at line 1`,
		"name: {a: b}\nnam: \"\"": `line 1: a mapping cannot stand here; line 2: there is no setting "nam"`,
	} {
		got := ""
		if err := YAML([]byte(text), &file{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
