package main

import (
	"io"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for line, want := range map[string]int{
		"version":                     0,
		"nonsense":                    2,
		"version more":                2,
		"version --nonsense":          2,
		"check --config /nonexistent": exitConfig,
	} {
		cmd := root()
		cmd.SetArgs(strings.Fields(line))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if got := execute(cmd); got != want {
			t.Errorf("%s: exit code %d, want %d", line, got, want)
		}
	}
}
