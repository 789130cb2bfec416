package securefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatOthersMayWriteIsNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "policy.yml")
	if _, err := Read(path, Ours); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file, dir fs.FileMode
		kind      Kind
		want      string
	}{
		{0o600, 0o700, Ours, ""}, {0o644, 0o755, Ours, ""}, {0o600, 0o755, Secret, ""},
		{0o666, 0o700, Ours, "others can write " + path + " (mode 0666): run chmod go-w"}, {0o620, 0o700, Ours, "chmod go-w"},
		{0o644, 0o700, Secret, "others can read " + path}, {0o640, 0o700, Secret, "chmod go="},
		{0o600, 0o777, Ours, "others can write " + dir}, {0o600, 0o770, Secret, "others can write " + dir},
	} {
		if err := errors.Join(os.Chmod(path, tt.file), os.Chmod(dir, tt.dir)); err != nil {
			t.Fatal(err)
		}
		text, err := Read(path, tt.kind)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) ||
			err == nil && string(text) != "x" {
			t.Errorf("file %04o in %04o: %q, %v, want %q", tt.file, tt.dir, text, err, tt.want)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give a file to somebody else
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Chmod(dir, 0o700), os.Chown(path, 4711, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, Ours); err == nil || !strings.Contains(err.Error(), "uid 4711") {
		t.Errorf("somebody else's: %v", err)
	}
}
