package modules

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
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
