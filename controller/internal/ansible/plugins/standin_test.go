package plugins

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// withoutAnsible is a runner whose Python finds no Ansible, and plug-ins in these files.
func withoutAnsible(t *testing.T, files map[string]string) (*Runner, string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("this machine has no Python")
	}
	dir := t.TempDir()
	files["none/ansible/__init__.py"] = "raise ImportError('there is none')\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PYTHONPATH", filepath.Join(dir, "none"))
	r := &Runner{
		Find:      func(kind, name string) (string, []string) { return name, []string{filepath.Join(dir, kind)} },
		Templates: templar.Options{Engine: templar.NewEngine()},
	}
	t.Cleanup(r.Close)
	return r, dir
}

// outcome is what a call gives, or the class and text of its error.
func outcome(r *Runner, c Call) string {
	raw, err := r.Run(context.Background(), c)
	if err != nil {
		if raised, ok := err.(*value.Error); ok {
			return raised.Type + ": " + raised.Msg
		}
		return err.Error()
	}
	return string(raw)
}

// TestFiltersInPythonCallHarks where there is no Ansible whose filters they could import.
func TestFiltersInPythonCallHarks(t *testing.T) {
	r, _ := withoutAnsible(t, map[string]string{"filter/own.py": `from ansible.errors import AnsibleFilterError
from ansible.module_utils.six import string_types
from ansible.plugins.filter.core import FilterModule as Core, combine, get_hash, to_bool
from ansible.plugins.filter.mathstuff import unique


def caught(v):
    try:
        return combine(v, 1)
    except Exception as e:
        return type(e).__name__


class FilterModule(object):
    def filters(self):
        core = Core().filters()
        return {"merged": lambda a, b: combine(a, b, recursive=True), "summed": lambda v: get_hash(v, "md5"), "caught": caught,
                "texts": lambda v: [core["to_json"](v), core["regex_replace"](v["s"], "b+", "-")], "truth": to_bool, "once": unique,
                "raises": lambda v: combine(v, 1)}
`})
	mapping := func(pairs ...any) value.Value { return value.DictOf(pairs...) }
	for _, c := range []struct {
		name string
		args []value.Value
		want string
	}{
		{"merged", []value.Value{mapping("a", value.DictOf("x", 1)), mapping("a", value.DictOf("y", 2))}, `{"a": {"x": 1, "y": 2}}`},
		{"summed", []value.Value{value.Str("text")}, `"1cb251ec0d568de6a929b520c4aed8d1"`},
		{"texts", []value.Value{mapping("s", "abbb {{ c }}")}, `["{\"s\": \"abbb {{ c }}\"}", "a- {{ c }}"]`},
		{"truth", []value.Value{value.Str("yes")}, `true`},
		{"once", []value.Value{value.NewList(value.Int(1), value.Int(1), value.Int(2))}, `[1, 2]`},
		{"caught", []value.Value{mapping("a", 1)}, `"AnsibleError"`},
	} {
		if got := outcome(r, Call{Kind: "filter", Name: c.name, Args: c.args}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if got := outcome(r, Call{Kind: "filter", Name: "raises", Args: []value.Value{mapping("a", 1)}}); !strings.Contains(got, "failed to combine variables") {
		t.Errorf("raises: %s", got)
	}
}

// TestLookupsInPythonRenderAndFindFiles where there is no Ansible.
func TestLookupsInPythonRenderAndFindFiles(t *testing.T) {
	r, dir := withoutAnsible(t, map[string]string{"files/motd": "hello\n", "lookup/own.py": `from ansible.plugins.lookup import LookupBase
from ansible.template import Templar


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kw):
        out = [self._templar.template(t) for t in terms]
        with self._templar.set_temporary_context(available_variables={"color": "blue"}):
            out.append(self._templar.template({"k": ["{{ color }}"]}))
        out += [self._templar.template("{{ color }}"), Templar(loader=self._loader, variables={"color": "green"}).template("{{ color }}")]
        out += [self._templar.is_template("{{ x }}"), self._templar.is_template(["x"]), variables["color"]]
        path = self.find_file_in_search_path(variables, "files", "motd")
        out.append(self._loader._get_file_contents(path)[0].decode())
        return out + [self.find_file_in_search_path(variables, "files", "nothing", ignore_missing=True)]
`})
	call := Call{
		Kind: "lookup", Name: "own", Dir: dir, Args: []value.Value{value.SourceText("{{ own }}"), value.SourceText("{{ [1, 2] | max }}")},
		Vars:     value.DictOf("color", value.SourceText("{{ 'r' }}ed"), "own", value.SourceText("{{ color }} of the task")),
		Rendered: func() *value.Dict { return value.DictOf("color", "red") },
	}
	want := `["red of the task", "2", {"k": ["blue"]}, "red", "green", true, false, "red", "hello\n", null]`
	if diff := cmp.Diff(want, outcome(r, call)); diff != "" {
		t.Error(diff)
	}
	call.Args = []value.Value{value.SourceText("{{ nothing }}")}
	if got := outcome(r, call); !strings.Contains(got, "'nothing' is undefined") {
		t.Errorf("what is undefined: %s", got)
	}
}
