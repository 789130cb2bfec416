package modtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/py/value"
)

// Host is a host whose tools answer from a table, by their command line, and remember how they were called.
type Host struct {
	Answers  map[string]modules.Output
	Commands []string
	// Act, if set, takes what Answers does not hold.
	Act func(c modules.Command) modules.Output
}

func (h *Host) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	line := strings.Join(append([]string{filepath.Base(c.Argv[0])}, c.Argv[1:]...), " ")
	h.Commands = append(h.Commands, line)
	if out, ok := h.Answers[line]; ok {
		return out, nil
	}
	if h.Act != nil {
		return h.Act(c), nil
	}
	return modules.Output{}, nil
}

// Env returns an environment with the named tools only.
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

// Answer returns the output of a tool that ends well.
func Answer(text string) modules.Output { return modules.Output{Stdout: []byte(text)} }

// ResultJSON returns a result as JSON with its keys sorted.
func ResultJSON(t *testing.T, r modules.Result) string {
	t.Helper()
	text, err := value.Dumps(r.Dict(), value.JSONOptions{Item: ",", Colon: ":", Sorted: true})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Entry returns what a result has under a key, as plain data of Go; nil if there is nothing.
func Entry(r modules.Result, key string) any { return Plain(r.Dict())[key] }

// Args are arguments as modules take them, sorted by their names.
func Args(given map[string]any) *value.Dict {
	args, _ := value.FromGo(given, value.KindUnsafe).(*value.Dict)
	return args
}

// Plain returns what modules return as plain data of Go.
func Plain(d *value.Dict) map[string]any {
	v, err := value.ToGo(d)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	m, _ := v.(map[string]any)
	return m
}
