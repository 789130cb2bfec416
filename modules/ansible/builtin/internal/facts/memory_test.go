package facts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
)

// asked is a probe of a host with one tool, which counts its calls.
func asked(t *testing.T, answers ...modules.Output) (p *probe, calls *int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	calls = new(int)
	env := &modules.Env{Environ: []string{"PATH=" + dir},
		Exec: func(context.Context, modules.Command) (modules.Output, error) {
			*calls++
			if *calls > len(answers) {
				return modules.Output{}, errors.New("no more answers")
			}
			return answers[*calls-1], nil
		}}
	return &probe{ctx: t.Context(), env: env, known: NewMemory()}, calls
}

func TestAnswersAreKeptWhileNothingChanges(t *testing.T) {
	p, calls := asked(t, modules.Output{Stdout: []byte("one")}, modules.Output{Stdout: []byte("two")},
		modules.Output{Rc: 1})
	for _, c := range []struct {
		stamp, want string
		ok          bool
		calls       int
	}{{"a", "one", true, 1}, {"a", "one", true, 1}, {"b", "two", true, 2}, {"c", "", false, 3}, {"c", "", false, 3}} {
		if text, ok := p.runKnown(c.stamp, "tool", "-v"); text != c.want || ok != c.ok || *calls != c.calls {
			t.Errorf("with %s: %q, %v after %d calls", c.stamp, text, ok, *calls)
		}
	}
}

func TestAnswersThatDidNotComeAreNotKept(t *testing.T) {
	p, calls := asked(t, modules.Output{TimedOut: true})
	for range 2 {
		if text, ok := p.runKnown("", "tool"); text != "" || ok {
			t.Errorf("gave %q", text)
		}
	}
	if *calls != 2 {
		t.Errorf("asked %d times", *calls)
	}
}

func TestAMissingToolIsNotAsked(t *testing.T) {
	p, calls := asked(t)
	if _, ok := p.runKnown("", "other"); ok || *calls != 0 {
		t.Errorf("%v after %d calls", ok, *calls)
	}
}

func TestStampChangesWithItsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	none := stampOf(file)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if some := stampOf(file); some == none || some != stampOf(file) {
		t.Errorf("%q, %q without the file", some, none)
	}
}
