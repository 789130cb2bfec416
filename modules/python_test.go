package modules

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hark/modules/dialect"
)

// TestNamedPythonIsTheOneThatRuns, whether it is there or not, with its arguments.
func TestNamedPythonIsTheOneThatRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mypython"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mypython")
	for named, want := range map[string][]string{
		mine:                       {mine},
		mine + " -s":               {mine, "-s"},
		"~/mypython":               {mine},
		"mypython":                 {mine},
		"/nonexistent/python":      {"/nonexistent/python"},
		"/nonexistent/env python3": {"/nonexistent/env", "python3"},
	} {
		e := &Env{Interpreter: named, Environ: []string{"HOME=" + dir, "PATH=" + dir}}
		if got := e.PythonCommand(); !slices.Equal(got, want) {
			t.Errorf("%q: %q", named, got)
		}
	}
	e := &Env{Interpreter: "/nonexistent/python"}
	if got := e.Python(); got != "" {
		t.Errorf("there is no %s", got)
	}
}

// TestPythonIsLookedForAsAnsibleDoes: ansible-core 2.19.11 on a host with all of them takes the newest that it knows.
func TestPythonIsLookedForAsAnsibleDoes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"python3", "python3.8", "python3.12", "python3.99"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := &Env{Interpreter: "auto_silent", Environ: []string{"PATH=" + dir}, Release: dialect.Level219}
	if got, want := e.Python(), filepath.Join(dir, "python3.12"); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	e.Release, e.Interpreter = dialect.Level221, "auto_legacy"
	if got := e.PythonCommand(); len(got) != 1 || got[0] != "auto_legacy" {
		t.Errorf("auto_legacy is %q", got)
	}
	e.Release = ""
	if got := e.Python(); got != "/usr/bin/python3" && got != "/usr/libexec/platform-python" && got != filepath.Join(dir,
		"python3") {
		t.Errorf("found %s", got)
	}
}
