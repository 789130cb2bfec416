package plugins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatVarsPluginsMakeIsATemplateAsInAnsible: at level 2.14 all that they do not mark, from 2.19 on nothing that
// Ansible has not read from a file, whatever ansible-core is there.
func TestWhatVarsPluginsMakeIsATemplateAsInAnsible(t *testing.T) {
	for marked, want := range map[bool]string{
		false: `[{"deep": ["{{ a }}"], "made": "{{ a }}"}, {}]`,
		true:  `[{"deep": [{"!u": "{{ a }}"}], "made": {"!u": "{{ a }}"}}, {}]`,
	} {
		r, dir := withoutAnsible(t, map[string]string{"vars_plugins/v.py": `from ansible.plugins.vars import BaseVarsPlugin


class VarsModule(BaseVarsPlugin):
    def get_vars(self, loader, path, entities):
        return {"deep": ["{{ a }}"], "made": "{{ a }}"}
`})
		r.Marked = marked
		raw, err := r.ask(t.Context(), request{
			Kind: "vars", Dirs: []string{filepath.Join(dir, "vars_plugins")},
			Args: json.RawMessage(`["` + dir + `", "host_vars", ["here"], [], "demand", "task"]`),
		}, Call{})
		if err != nil || string(raw) != want {
			t.Errorf("marked %t: %s, %v, want %s", marked, raw, err, want)
		}
	}
}

// TestWhatInventoryPluginsMakeIsATemplateAsInAnsible: the same of inventory plug-ins, which may say that all of theirs
// is trusted. It needs an ansible-core.
func TestWhatInventoryPluginsMakeIsATemplateAsInAnsible(t *testing.T) {
	homes := []string{"/usr/lib/python3/dist-packages"}
	if _, err := os.Stat(filepath.Join(homes[0], "ansible")); err != nil {
		t.Skip("needs ansible-core, which .ci/run installs")
	}
	const plugin = `from ansible.plugins.inventory import BaseInventoryPlugin


class InventoryModule(BaseInventoryPlugin):
    NAME = "told"
    trusted_by_default = TRUSTED

    def verify_file(self, path):
        return True

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path)
        inventory.add_host("here")
        inventory.set_variable("here", "made", "{{ a }}")
        inventory.set_variable("here", "read", loader.load("x: '{{ a }}'")["x"])
`
	for _, c := range []struct {
		marked        bool
		trusted, want string
	}{
		{false, "False", `"{{ a }}" "{{ a }}"`},
		{true, "False", `{"!u": "{{ a }}"} "{{ a }}"`},
		{true, "True", `"{{ a }}" "{{ a }}"`},
	} {
		t.Run(c.trusted, func(t *testing.T) {
			dir, home := t.TempDir(), t.TempDir()
			t.Setenv("HOME", home)
			text := []byte(strings.Replace(plugin, "TRUSTED", c.trusted, 1))
			if err := os.WriteFile(filepath.Join(dir, "told.py"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			r := &Runner{Homes: homes, Marked: c.marked}
			t.Cleanup(r.Close)
			raw, err := r.ask(t.Context(), request{
				Kind: "inventory", Full: "told", Dirs: []string{dir},
				Args: json.RawMessage(`["` + dir + `", {"hosts": {}, "groups": {}}]`),
			}, Call{})
			var got struct {
				Hosts map[string]map[string]json.RawMessage `json:"hosts"`
			}
			if err != nil || json.Unmarshal(raw, &got) != nil {
				t.Fatalf("%s, %v", raw, err)
			}
			if s := string(got.Hosts["here"]["made"]) + " " + string(got.Hosts["here"]["read"]); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
			r.Close()
			if left, _ := filepath.Glob(filepath.Join(home, ".ansible/tmp/*")); len(left) > 0 {
				t.Errorf("Python left %v", left)
			}
		})
	}
}
