package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProfilesAreWrittenWhereTheEnvironmentSays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	t.Setenv(Dir, dir)
	stop, err := Start("hark")
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"cpu", "heap"} {
		found, _ := filepath.Glob(filepath.Join(dir, "hark-*."+kind))
		if len(found) != 1 {
			t.Fatalf("%s: %v", kind, found)
		}
		info, err := os.Stat(found[0])
		if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", kind, info, err)
		}
	}
}

func TestNothingIsWrittenUnasked(t *testing.T) {
	t.Setenv(Dir, "")
	stop, err := Start("hark")
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestProfileThatCannotBeWrittenIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Dir, filepath.Join(file, "below"))
	if _, err := Start("hark"); err == nil || !strings.Contains(err.Error(), Dir) {
		t.Errorf("%v", err)
	}
}
