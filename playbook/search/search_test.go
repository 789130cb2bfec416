package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files under a new directory, which becomes the working directory too.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, name := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRelativeLooksInTheRoleBeforeThePlaybook(t *testing.T) {
	root := tree(t, "roles/r/tasks/main.yml", "roles/r/tasks/a.yml", "a.yml", "tasks/b.yml", "c.yml", "sub/d.yml")
	dir := Dir(root)
	for name, want := range map[string]string{
		"a.yml": "roles/r/tasks/a.yml", "b.yml": "tasks/b.yml", "c.yml": "c.yml", "none.yml": "none.yml",
		root + "/c.yml": "c.yml", "sub/d.yml": "sub/d.yml",
	} {
		got := dir.Relative(filepath.Join(root, "roles/r"), "tasks", name, false)
		if got != filepath.Join(root, want) {
			t.Errorf("%s found at %s, want %s", name, got, want)
		}
	}
	if got := dir.Relative(root, "sub", "d.yml", false); got != root+"/sub/d.yml" {
		t.Errorf("a file beside its includer was found at %s", got)
	}
}

func TestStackTakesTheFirstPathThatHasIt(t *testing.T) {
	root := tree(t, "roles/r/files/x", "roles/r/tasks/main.yml", "files/x", "files/y", "roles/r/tasks/sub/z",
		"roles/r/files/z", "files/there/n")
	dir := Dir(root)
	paths := []string{root + "/roles/r", root + "/roles/r/tasks"}
	for name, want := range map[string]string{
		"x": "roles/r/files/x", "y": "files/y", "files/y": "files/y", "sub/z": "roles/r/tasks/sub/z",
		"../files/z": "roles/r/files/../files/z", "there/../x": "files/there/../x",
	} {
		got, _, ok := dir.Stack(paths, "files", name)
		if !ok || got != root+"/"+want {
			t.Errorf("%s found at %q, want %s", name, got, want)
		}
	}
	_, searched, ok := dir.Stack(paths, "files", "none")
	if ok || strings.Join(searched, " ") != strings.Join([]string{
		root + "/roles/r/files/none", root + "/roles/r/none", root + "/roles/r/tasks/files/none",
		root + "/roles/r/tasks/none",
		root + "/files/none", root + "/none",
	}, " ") {
		t.Errorf("looked for none in %q", searched)
	}
}

func TestCleanExpandsWhatIsSet(t *testing.T) {
	t.Setenv("HERE", "/here")
	t.Setenv("HOME", "/home/me")
	for in, want := range map[string]string{
		"$HERE/x": "/here/x", "${HERE}/../y": "/y", "$NOT_SET_AT_ALL/x": "/base/$NOT_SET_AT_ALL/x", "~/z": "/home/me/z",
		"~": "/home/me",
	} {
		if got := Clean(in, "/base"); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}
