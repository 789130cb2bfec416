package procx

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A child that somebody else forks in the same moment must not keep a program that was just written from being run.
func TestAProgramRunsAsSoonAsItIsWritten(t *testing.T) {
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 3 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = Run(t.Context(), Spec{Argv: []string{"/bin/true"}, Env: env})
				}
			}
		})
	}
	defer others.Wait()
	defer close(stop)
	dir := t.TempDir()
	for i := range 80 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := Undisturbed(func() error { return os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755) }); err != nil {
			t.Fatal(err)
		}
		spec := sh(path)
		if i%2 == 0 {
			spec.Argv = []string{path}
		}
		out, err := Run(t.Context(), spec)
		if err != nil || out.Rc != 0 {
			t.Fatalf("program %d: %v, rc %d: %s", i, err, out.Rc, out.Stderr)
		}
	}
}
