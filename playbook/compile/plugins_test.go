package compile

import (
	"os"
	"path/filepath"
	"testing"

	"hark/playbook/syntax"
)

// TestWhatStandsBeforeAModule is an action plug-in: of the project's own before any module, of a collection before
// those of collections.
func TestWhatStandsBeforeAModule(t *testing.T) {
	dir := t.TempDir()
	collection := "collections/ansible_collections/acme/tools/plugins"
	for _, name := range []string{"action_plugins/debug.py", "action_plugins/alone.py", collection + "/action/bend.py",
		collection + "/modules/bend.py",
		collection + "/action/only.py", collection + "/modules/saw.py"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := New(&syntax.Loader{}, Config{Modules: testModules()})
	if p.HasModule("alone") {
		t.Error("a plug-in is known before its directory is")
	}
	p.Read(dir)
	for _, tc := range []struct {
		name, full, plugin string
		packed             bool
	}{
		{"debug", "debug", "debug", false},
		{"ansible.builtin.debug", "ansible.builtin.debug", "", false},
		{"alone", "alone", "alone", false},
		{"acme.tools.bend", "acme.tools.bend", "acme.tools.bend", true},
		{"bend", "acme.tools.bend", "acme.tools.bend", true},
		{"acme.tools.only", "acme.tools.only", "acme.tools.only", false},
		{"acme.tools.saw", "acme.tools.saw", "", true},
		{"none", "none", "", false},
	} {
		full, module, plugin := p.actions.action(tc.name, []string{"acme.tools"})
		got := ""
		if plugin != nil {
			got = plugin.Name
		}
		if full != tc.full || got != tc.plugin || (module != nil) != tc.packed {
			t.Errorf("%s: %q, plug-in %q, packed %v", tc.name, full, got, module != nil)
		}
		if known := p.HasModule(tc.name); known != (tc.name != "none" && tc.name != "bend") {
			t.Errorf("%s is known: %v", tc.name, known)
		}
	}
}
