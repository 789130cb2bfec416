package agent

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hark/agent/internal/runner"
	"hark/modules"
	"hark/modules/modtest"
)

type editArgs struct {
	Path string `arg:"path,required,type=path,alias=dest"`
}

// editor reads a file and writes it with one byte more, and lets others run in between.
func editor() *modules.Module {
	return modules.Define("test.t.edit", "Adds a byte.", func(_ context.Context, _ *modules.Env, a editArgs) (modules.Result, error) {
		text, err := os.ReadFile(a.Path)
		if err != nil {
			return modules.Result{}, err
		}
		return modules.Result{Changed: true}, os.WriteFile(a.Path, append(text, 'x'), 0o600)
	}, modules.Edits("path"))
}

func TestCallsThatEditOneFileTakeTurns(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	var e edits
	call := e.inTurn(func(ctx context.Context, inv runner.Invocation) modules.Result { return inv.InProcess(ctx) })
	var both sync.WaitGroup
	const each = 200
	for _, args := range []map[string]any{{"path": file}, {"dest": dir + "/./link"}} {
		for range 2 {
			both.Go(func() {
				for range each {
					if res := call(t.Context(), runner.Invocation{Module: editor(), Args: modtest.Args(args), Env: &modules.Env{}}); res.Failed {
						t.Error(res.Msg)
					}
				}
			})
		}
	}
	both.Wait()
	if text, err := os.ReadFile(file); err != nil || len(text) != 4*each {
		t.Errorf("%d of %d edits are there, %v", len(text), 4*each, err)
	}
	if len(e.turns) != 0 {
		t.Errorf("turns are left: %v", e.turns)
	}
}

// Who waits for a turn can be cancelled, and leaves nothing behind.
func TestWaitingForATurnEndsWithTheRun(t *testing.T) {
	var e edits
	leave, err := e.take(t.Context(), "/etc/hosts")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if _, err := e.take(ctx, "/etc/hosts"); err != errCancelled {
		t.Errorf("it ended with %v", err)
	}
	leave()
	if len(e.turns) != 0 {
		t.Errorf("turns are left: %v", e.turns)
	}
}
