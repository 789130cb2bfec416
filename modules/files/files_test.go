package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range []*modules.Module{
		Assemble, BlockInFile, Copy, Fetch, File, Find, LineInFile, Replace, Slurp, Stat, TempFile, Template,
	} {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Sorted: []string{"files"}}) })
	}
}

func TestFindStopsAtItsLimit(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "f"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	args := map[string]any{"paths": []any{dir, dir}, "recurse": true, "limit": int64(2)}
	if res := Find.Run(t.Context(), &modules.Env{}, args); res.Data["matched"] != int64(2) {
		t.Errorf("%+v", res)
	}
}

func TestTextsAreEncodedAsPythonDoes(t *testing.T) {
	for _, c := range []struct{ name, text, raw string }{
		{"utf_8", "é€", "é€"}, {"latin-1", "é", "\xe9"}, {"cp1252", "€", "\x80"}, {"ascii", "e", "e"},
	} {
		raw, err := encode(c.text, c.name)
		if err != nil || raw != c.raw {
			t.Errorf("%s: %q, %v", c.name, raw, err)
		}
		if text, err := decode(raw, c.name); err != nil || text != c.text {
			t.Errorf("%s: back %q, %v", c.name, text, err)
		}
	}
	for name, text := range map[string]string{"latin-1": "€", "ascii": "é", "klingon": "x"} {
		if raw, err := encode(text, name); err == nil {
			t.Errorf("%s takes %s as %q", name, text, raw)
		}
	}
}

func TestEndlessFilesAreReadUpToALimit(t *testing.T) {
	if raw, err := readUpTo("/dev/zero", 10); len(raw) != 11 || err != nil {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
