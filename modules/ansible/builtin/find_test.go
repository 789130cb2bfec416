package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestFindStopsAtItsLimit(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "f"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	args := map[string]any{"paths": []any{dir, dir}, "recurse": true, "limit": int64(2)}
	if res := Find.Run(t.Context(), &modules.Env{}, modtest.Args(args)); modtest.Entry(res, "matched") != int64(2) {
		t.Errorf("%+v", res)
	}
}
