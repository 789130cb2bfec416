package modtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/modules"
)

// dashed is a value that a program would take for an option.
const dashed = "-hark-canary"

// dashes runs a case anew for each of its arguments that is a text, or a list of them, with a value that begins with
// a dash in its place. No program may take that for an option: it is refused, stands behind "--", or is what an
// option takes.
func (c *testCase) dashes(t *testing.T, m *modules.Module, o Options) {
	t.Helper()
	t.Chdir(realDir(t)) // what takes the value for a path takes it for one from here
	for name, given := range c.Args {
		if name == "_raw_params" || name == "argv" || name == "cmd" || slices.Contains(m.Programs, name) ||
			name == "arguments" {
			continue // it is a command line
		}
		again := *c
		again.Args = maps.Clone(c.Args)
		switch given.(type) {
		case string:
			again.Args[name] = dashed
		case []any:
			again.Args[name] = []any{dashed}
		default:
			continue
		}
		b := newBench(t, &again, m.Name, o)
		exec := b.env.Exec
		b.env.Exec = func(ctx context.Context, command modules.Command) (modules.Output, error) {
			if word := optionOf(command.Argv); word != "" {
				t.Errorf("%s: %s becomes an option: %v", c.Name, name, command.Argv)
				return modules.Output{}, fmt.Errorf("%s is an option", word)
			}
			return exec(ctx, command)
		}
		b.call(t, m)
	}
}

// optionOf returns the word of a command line that is the value and would be an option. Behind an option it may be
// what that takes.
func optionOf(argv []string) string {
	for i, word := range argv {
		switch {
		case word == "--":
			return ""
		case strings.HasPrefix(word, dashed) && i > 0 && !strings.HasPrefix(argv[i-1], "-"):
			return word
		}
	}
	return ""
}
