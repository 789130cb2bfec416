package general

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // where copies of what was there go
	modtest.Collection(t, All(), map[string]modtest.Options{
		"archive": {Any: []string{"size"}},
	})
}

// lay writes files under a directory.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

// resultOf is a result, or the failure that an error stands for.
func resultOf(res modules.Result, err error) modules.Result {
	if err != nil {
		return modules.Failure(err)
	}
	return res
}
