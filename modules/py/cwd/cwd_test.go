package cwd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheShellsWayDoesNotCount(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link) // sets PWD too
	for path, want := range map[string]string{"": real, "a/../b": real + "/b", link + "/./x": link + "/x"} {
		if got, err := Abs(path); err != nil || got != want {
			t.Errorf("Abs(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
}
