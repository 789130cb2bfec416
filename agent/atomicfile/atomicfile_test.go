package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWriteReplacesForItsOwnerAlone(t *testing.T) {
	for name, write := range map[string]func(string, []byte) error{"Write": Write, "WriteLoose": WriteLoose} {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := write(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		info, serr := os.Stat(path)
		if err != nil || serr != nil || string(text) != "new" || info.Mode() != 0o600 {
			t.Errorf("%s: %q, %v (%v, %v)", name, text, info.Mode(), err, serr)
		}
		alone(t, path)
	}
}

func TestWriteNewSparesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := WriteNew(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there gave %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "first" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	alone(t, path)
}

func TestWhatCannotBeWrittenLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("connection lost")
	if _, err := Stage(path, iotest.ErrReader(broken), 0o755); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	alone(t, path)
}

func TestStagedFilesLieBesideTheirPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	staged, err := Stage(path, strings.NewReader("text"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(staged)
	if err != nil || info.Mode() != 0o755 || filepath.Dir(staged) != filepath.Dir(path) {
		t.Errorf("%s: %v, %v", staged, info, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there before it was renamed: %v", err)
	}
}

// alone checks that nothing but the file is in its directory.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v (%v)", entries, err)
	}
}
