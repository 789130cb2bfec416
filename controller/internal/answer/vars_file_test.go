package answer

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// A host gets the variables files that its plan leads to: others may hold the secrets of the whole project.
func TestVariablesFilesAreThoseOfThePlan(t *testing.T) {
	vars := func(string) (*value.Dict, error) { return dict("k", "v"), nil }
	data := func(string) (value.Value, error) { return dict("k", "v"), nil }
	a, dir := begun(t, Config{Vars: vars, Data: data}, nil, task("1", "include_vars", dict("file", "named.yml")),
		task("2", "include_vars", dict("_raw_params", "os/{{ os }}.yml\n")), task("3", "include_vars", dict("dir", "all/")),
		task("4", "include_vars", dict("_raw_params", "{{ item }}")), task("5", "debug", dict("msg", "x")))
	a.batches["0.0"].Plan.Play.VarsFiles = []plan.VarsFile{
		{Names: []string{"fixed.yml"}}, {Names: []string{"{{ os }}.yml", "default.yml"}, Late: true},
	}
	for _, name := range []string{"named.yml", "os/linux.yml", "os/linux.txt", "all/a/b.yml", "linux.yml", "default.yml", "fixed.yml", "secret.yml"} {
		write(t, filepath.Join(dir, "vars", name), "served by Vars and Data")
	}
	for _, tt := range []struct {
		step  plan.ID
		names string
		ok    bool
	}{
		{"1", "named.yml", true},
		{"1", "secret.yml", false},
		{"2", "os/linux.yml", true},
		{"2", "os/linux.txt", false},
		{"2", "secret.yml", false},
		{"3", filepath.Join(dir, "vars/all/a/b.yml"), false}, // it has not asked what is there
		{"4", "secret.yml", true},
		{"5", "named.yml", false},
		{"", "linux.yml default.yml", true},
		{"", "secret.yml default.yml", true},
		{"", "linux.yml secret.yml", false},
		{"", "secret.yml", false},
		{"", "fixed.yml", false}, // it is in the plan already
	} {
		k := ask(wire.AskVarsFile, "a", tt.step)
		k.Names = strings.Fields(tt.names)
		if got := a.Answer(context.Background(), k); strings.HasPrefix(got.Err, "refused: ") == tt.ok || tt.ok && got.Err != "" {
			t.Errorf("step %q, %s: %+v", tt.step, tt.names, got)
		}
	}
	list := ask(wire.AskFile, "a", "3")
	list.Dir, list.Name = "vars", "all"
	if got := a.Answer(context.Background(), list); got.Err != "" {
		t.Fatal(got.Err)
	}
	for name, ok := range map[string]bool{"all/a/b.yml": true, "secret.yml": false, "all/../secret.yml": false} {
		k := ask(wire.AskVarsFile, "a", "3")
		k.Names = []string{dir + "/vars/" + name}
		if got := a.Answer(context.Background(), k); (got.Err == "") != ok {
			t.Errorf("%s of the directory: %+v", name, got)
		}
	}
}

func TestWhatAnArgumentMayBecome(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		ok         bool
	}{
		{"a.yml", "a.yml", true},
		{"a/", "a", true},
		{"a.yml\n", "a.yml", true},
		{"a.yml", "b.yml", false},
		{"{{ x }}", "/etc/anything", true},
		{"{{ x }}.yml", "a.yml", true},
		{"{{ x }}.yml", "a.txt", false},
		{"a/{{ x }}/c", "a/b/c", true},
		{"a/{{ x }}/", "a/b", true},
		{"a/{{ x }}", "b/a", false},
		{"a{% if x %}b{% else %}c{% endif %}", "ac", true},
		{"aba{{ x }}aba", "aba", false}, // what is before and what is after does not overlap
	} {
		if got := mayBecome(value.YAMLStr(tt.text), tt.name); got != tt.ok {
			t.Errorf("%q, %q: %t", tt.text, tt.name, got)
		}
	}
}
