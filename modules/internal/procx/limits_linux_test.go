package procx

import (
	"context"
	"errors"
	"os"
	"testing"
)

// TestProcessesHaveTheirLimits: a process has them from its beginning, keeps what is not named, and one that cannot
// start is told of as ever.
func TestProcessesHaveTheirLimits(t *testing.T) {
	plain, err := Run(context.Background(), Spec{Argv: []string{"/bin/sh", "-c", "ulimit -Hn"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		out, err := Run(context.Background(), Spec{
			Argv: []string{"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn; ulimit -Sc; cat; kill -9 $$"}, Stdin: []byte("in\n"),
			Limits: []Limit{{Resource: 7, Soft: 77, Hard: Inherited}, {Resource: 4, Soft: 0, Hard: 0}},
		})
		want := "77\n" + string(plain.Stdout) + "0\nin\n"
		if err != nil || string(out.Stdout) != want || out.Rc != -9 {
			t.Fatalf("%q, rc %d, %v, want %q", out.Stdout, out.Rc, err, want)
		}
	}
	out, err := Run(context.Background(), Spec{
		Argv: []string{"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"}, Limits: []Limit{{Resource: 7, Soft: 90, Hard: 80}},
	})
	if err != nil || string(out.Stdout) != "80\n80\n" {
		t.Errorf("above the hard limit: %q, %v", out.Stdout, err)
	}
	file := t.TempDir() + "/none"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var start *StartError
	if _, err := Run(context.Background(), Spec{Argv: []string{file}, Limits: []Limit{{Resource: 7, Soft: 90, Hard: 80}}}); !errors.As(err, &start) {
		t.Errorf("a file that is no program: %v", err)
	}
}
