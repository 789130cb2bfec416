package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// The expectations are those of ansible-core 2.14's module: lines are Python's.
func TestFindReadsLinesAsPythonDoes(t *testing.T) {
	long := strings.Repeat("x", 8191)
	for name, c := range map[string]struct {
		content, contains string
		whole, want       bool
	}{
		"CR ends a line":                     {"one\rtwo\r", "two", false, true},
		"CR LF is one end":                   {"one\r\ntwo\r\n", "one\ntwo", true, true},
		"CR is an end in a whole file":       {"one\rtwo", "one.*two", true, false},
		"CR LF in two pieces":                {long + "\r\ntwo\n", "\n", false, false},
		"a character in two pieces":          {long + "\xc3\xa9\ntwo\n", "two", false, true},
		"a line of several pieces":           {long + long + long + "y\n", "x+y$", false, true},
		"no text hides lines before it":      {"one\n\xff\n", "one", false, false},
		"no text in another piece":           {"one\n" + long + "\xff\n", "one", false, true},
		"half a character at the very end":   {"one\n\xc3", "one", false, false},
		"the last line lacks its end":        {"one\ntwo", "two", false, true},
		"an expression matches at the start": {"a two\n", "two", false, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		args := map[string]any{"paths": dir, "contains": c.contains, "read_whole_file": c.whole}
		res := Find.Run(t.Context(), &modules.Env{}, modtest.Args(args))
		if got := modtest.Entry(res, "matched") == int64(1); got != c.want {
			t.Errorf("%s: %v: %+v", name, got, res)
		}
	}
}
