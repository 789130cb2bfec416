package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptForOldPlaybooks is what lies there as _name and is found as name, with a word that it will go; a link is
// just another name.
func TestKeptForOldPlaybooks(t *testing.T) {
	root, c := disk(t, "testdata/kept.txtar")
	if err := os.Symlink("_old.py", filepath.Join(root, "library/_alias.py")); err != nil {
		t.Fatal(err)
	}
	f := NewFinder(nil, nil, c)
	f.Add(root)
	for _, tc := range []struct{ name, full, path, told string }{
		{"old", "_old", "library/_old.py", "old is kept for backwards compatibility"},
		{"ansible.legacy.old", "_old", "library/_old.py", "old is kept"},
		{"alias", "_alias", "library/_alias.py", ""},
		{"_old", "", "", ""},
		{"ansible.builtin.old", "", "", ""},
		{"new", "", "", ""},
	} {
		m, ok := f.KeptModule(tc.name)
		told := ""
		for _, n := range m.Deprecated {
			told += n.Text
		}
		if path := strings.TrimPrefix(m.Path, root+"/"); ok != (tc.full != "") || m.Name != tc.full || path != tc.path ||
			!strings.HasPrefix(told, tc.told) || (told == "") != (tc.told == "") {
			t.Errorf("%s: %q in %q, %v, %q", tc.name, m.Name, path, ok, told)
		}
	}
	if m, ok := f.InLibrary("_old"); !ok || len(m.Deprecated) != 0 {
		t.Errorf("_old by its own name: %v, %v", ok, m.Deprecated)
	}
	if a, ok := f.KeptAction("bend"); !ok || a.Name != "_bend" || len(a.Deprecated) != 1 {
		t.Errorf("action bend: %v, %v", ok, a)
	}
	if _, ok := f.KeptAction("old"); ok {
		t.Error("a module is found as an action plug-in")
	}
}
