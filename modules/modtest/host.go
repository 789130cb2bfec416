package modtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
)

// Host is a host whose tools answer from a table, by their command line, and remember how they were called.
type Host struct {
	Answers map[string]modules.Output
	Told    []string
	// Act, if set, takes what Answers does not hold.
	Act func(c modules.Command) modules.Output
}

func (h *Host) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	line := strings.Join(append([]string{filepath.Base(c.Argv[0])}, c.Argv[1:]...), " ")
	h.Told = append(h.Told, line)
	if out, ok := h.Answers[line]; ok {
		return out, nil
	}
	if h.Act != nil {
		return h.Act(c), nil
	}
	return modules.Output{}, nil
}

// Env is an environment with the named tools alone.
func (h *Host) Env(t *testing.T, tools ...string) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &modules.Env{Environ: []string{"PATH=" + dir}, Exec: h.exec, Warn: func(string, ...any) {}}
}

// Answer is the output of a tool that ends well.
func Answer(text string) modules.Output { return modules.Output{Stdout: []byte(text)} }

// ResultJSON is a result as it is sent.
func ResultJSON(t *testing.T, r modules.Result) string {
	t.Helper()
	raw, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
