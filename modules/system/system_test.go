package system

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// host is a host whose tools answer from a table, by their command line, and remember how they were called.
type host struct {
	answers map[string]modules.Output
	told    []string
	// act, if set, takes what answers does not hold.
	act func(c modules.Command) modules.Output
}

func (h *host) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	line := strings.Join(append([]string{filepath.Base(c.Argv[0])}, c.Argv[1:]...), " ")
	h.told = append(h.told, line)
	if out, ok := h.answers[line]; ok {
		return out, nil
	}
	if h.act != nil {
		return h.act(c), nil
	}
	return modules.Output{}, nil
}

// env is an environment with the named tools alone.
func (h *host) env(t *testing.T, tools ...string) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &modules.Env{Environ: []string{"PATH=" + dir}, Exec: h.exec, Warn: func(string, ...any) {}}
}

func answer(text string) modules.Output { return modules.Output{Stdout: []byte(text)} }

func resultJSON(t *testing.T, r modules.Result) string {
	t.Helper()
	raw, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestCases(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // where copies of what was there go
	modtest.Run(t, Cronvar, modtest.Options{Tools: modtest.Tools(t)})
}
