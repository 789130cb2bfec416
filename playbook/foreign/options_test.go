package foreign

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The names come from documentation as plug-ins write it: in blocks, in one line, in fragments, with quotes. What is no
// list of variables, such as a play in the examples, has none.
func TestVariablesOfOptionsAreThoseOfTheDocumentation(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a block": {"DOCUMENTATION = '''\n  options:\n    exe:\n      vars:\n        - name: my_weird_var\n" +
			"          version_added: '1'\n        - name: other\n      env:\n        - name: NO\n'''\n", "my_weird_var other"},
		"a list at the key's depth":  {"    vars:\n    - name: one\n    - name: two\n    env:\n    - name: N\n", "one two"},
		"comments and lines between": {"vars:  # of them\n\n  # first\n  - name: one\n\n  - {name: two}\n", "one two"},
		"quotes":                     {"      'vars':\n        - \"name\": 'one'\n", "one"},
		"in one line":                {"  exe: {vars: [{name: one}, {\"name\": \"two\"}], env: [{name: N}]}\n", "one two"},
		"the name is not the first":  {"vars:\n  - version_added: 1\n    name: one\n", "one"},
		"an option in a list":        {"- vars:\n    - name: one\n  type: str\n", "one"},
		"a play": {"EXAMPLES = '''\n- hosts: all\n  vars:\n    name: no\n    users:\n" +
			"      - name: no\n'''\n", ""},
		"other keys":          {"  my_vars:\n    - name: no\n  vars_files:\n    - name: no\n", ""},
		"the end of the file": {"vars:\n  - name: one", "one"},
	} {
		found := map[string]bool{}
		documented(tt.text, found)
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Plug-ins of every kind and place count: the project's directories, roles that nobody has read, collections, and what
// comes later.
func TestVariablesOfOptionsAreThoseOfAllPlugins(t *testing.T) {
	root := t.TempDir()
	put := func(file, name string) {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "DOCUMENTATION = r'''\noptions:\n  x:\n    vars: [{name: " + name + "}]\n'''\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for kind, dir := range pluginDirs {
		if name := "own_" + kind; kind != "filter" && kind != "test" {
			want = append(want, name)
			put("project/"+dir+"/a.py", name)
		}
	}
	for file, name := range map[string]string{
		"project/roles/web/callback_plugins/a.py": "of_role", "roles/db/shell_plugins/a.py": "of_far_role",
		"c/ansible_collections/acme/tools/plugins/become/deep/a.py":   "of_collection",
		"c/ansible_collections/acme/tools/plugins/doc_fragments/b.py": "of_fragment",
		"used/plugins/connection/a.yml":                               "of_used",
	} {
		want = append(want, name)
		put(file, name)
	}
	put("c/ansible_collections/acme/tools/plugins/modules/m.py", "no_of_module")
	put("project/filter_plugins/f.py", "no_of_filter")
	f := NewFinder(nil, nil, nil)
	f.Add(root + "/project")
	get := func() string {
		names := f.OptionVariables([]string{root + "/roles"}, []string{root + "/c/ansible_collections"},
			[]string{root + "/used"})
		return strings.Join(slices.Sorted(maps.Keys(names)), " ")
	}
	slices.Sort(want)
	if got := get(); got != strings.Join(want, " ") {
		t.Errorf("%s\nwant %s", got, strings.Join(want, " "))
	}
	put("late/lookup_plugins/a.py", "late")
	f.Add(root + "/late")
	if got := get(); !strings.Contains(got, "late") || !strings.Contains(got, "of_role") {
		t.Errorf("after one more was read: %s", got)
	}
}
