package galaxy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

type silent struct{}

func (silent) Say(string)          {}
func (silent) Warn(string)         {}
func (silent) Error(string)        {}
func (silent) Verbose(int, string) {}

// What the archives hold was compared with those of ansible-galaxy 2.14.18, the directives with distlib's.
func TestArchivesHoldWhatBelongsToTheCollection(t *testing.T) {
	const head = "namespace: a\nname: b\nversion: 1.0.0\nreadme: README.md\nauthors: [me]\n"
	for _, c := range []struct{ yml, want string }{
		{"", "README.md docs docs/a.rst meta meta/runtime.yml plugins plugins/modules plugins/modules/m.py roles roles/r " +
			"roles/r/x.bin tests tests/t.py"},
		{"build_ignore: ['*.bin', docs]\n",
			"README.md meta meta/runtime.yml plugins plugins/modules plugins/modules/m.py roles roles/r tests tests/t.py"},
		{"manifest: {}\n", "README.md docs docs/a.rst meta meta/runtime.yml plugins plugins/modules plugins/modules/m.py " +
			"tests tests/t.py"},
		{"manifest: {directives: ['recursive-include roles **.bin', 'prune tests']}\n",
			"README.md docs docs/a.rst meta meta/runtime.yml plugins plugins/modules plugins/modules/m.py roles roles/r " +
				"roles/r/x.bin"},
		{"manifest: {omit_default_directives: true, directives: ['include *.md']}\n", "README.md"},
		{"manifest: {omit_default_directives: true}\n",
			`"manifest.omit_default_directives" was set to True, but no directives were defined in "manifest.directives". ` +
				`This would produce an empty collection artifact.`},
		{"manifest: {directives: ['take x']}\n", "Invalid manifest directive: unknown action 'take'"},
		{"manifest: {}\nbuild_ignore: [x]\n", `"build_ignore" and "manifest" are mutually exclusive`},
	} {
		dir := t.TempDir()
		for _, name := range []string{"README.md", "docs/a.rst", "meta/runtime.yml", "plugins/modules/m.py",
			"plugins/modules/__pycache__/m.pyc",
			"roles/r/x.bin", "tests/t.py", "tests/output/x", ".git/config", "a-b-0.9.0.tar.gz", "site.retry"} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "galaxy.yml"), []byte(head+c.yml), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.yml, got, c.want)
		}
	}
}

// contents are the names in the archive that is made of dir, without those that every archive has.
func contents(t *testing.T, dir string) string {
	t.Helper()
	c := &Client{Screen: silent{}}
	path, err := c.Build(dir, t.TempDir(), false)
	if err != nil {
		return err.Error()
	}
	list, err := members(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list[2:] {
		names = append(names, m.name)
	}
	return strings.Join(names, " ")
}

func TestDirectivesRefuseNoLine(t *testing.T) {
	if err := direct("", []string{"x"}, map[string]bool{}); err != nil {
		t.Error(err)
	}
	if err := direct("graft", nil, nil); err == nil || !regexp.MustCompile("expects a directory").
		MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

func FuzzRequirements(f *testing.F) {
	f.Add("roles:\n- src: git+https://x/y.git,v1\ncollections:\n- name: a.b\n  version: '>=1'\n  signatures: [x]\n")
	f.Add("- role: x\n- {src: a, name: b}\n- include: nowhere.yml\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "r.yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "git") || strings.Contains(text, "http") || strings.Contains(text, "/") {
			return // nothing is fetched here
		}
		_, _ = (&Client{Screen: silent{}, Temp: t.TempDir()}).ReadRequirements(path, true, true, []string{"roles"})
	})
}
