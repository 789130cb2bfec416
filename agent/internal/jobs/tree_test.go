package jobs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
)

// late is a module that starts a process when it was told to stop already, as one does that was between looking and
// starting.
var late = modules.Define("test.late", "Starts a process too late",
	func(ctx context.Context, env *modules.Env, a struct {
		Ready string `arg:"ready"`
	}) (modules.Result, error) {
		if err := os.WriteFile(a.Ready, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
			return modules.Result{}, err
		}
		<-ctx.Done()
		time.Sleep(sweepFirst) // about as long as a job without processes is looked at
		cmd := exec.Command("sleep", "60")
		cmd.Env = env.Environ
		return modules.Result{}, cmd.Start()
	})

func TestWhatAModuleStartsTooLateIsEnded(t *testing.T) {
	s, file := newSupervisor(t, t.TempDir()), filepath.Join(t.TempDir(), "ready")
	id := beginModule(t, s, late, map[string]any{"ready": file}, wire.Call{Module: late.Name, Async: time.Minute})
	pidOf(t, file)
	s.job(id).cancel()
	if out := status(t, s, id); out["cancelled"] != true {
		t.Fatalf("it returned %v", out)
	}
	if left := marked(id); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
}

// A process has no environment for a moment while it becomes another program; those of a job are known by theirs.
func TestProcessesAreKnownWhileTheyBecomeOthers(t *testing.T) {
	id := fmt.Sprintf("j-exec-%d", os.Getpid()) // other runs on this machine have theirs
	loop := filepath.Join(t.TempDir(), "loop")
	// It ends with this process, however that ends.
	if err := os.WriteFile(loop, fmt.Appendf(nil, "[ $PPID = %d ] && exec sh %s\n", os.Getpid(), loop),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", loop)
	// The mark stands behind more than one read of a few KiB would give.
	cmd.Env = append(os.Environ(), "LONG="+strings.Repeat("x", 20<<10), marker(id))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if left := marked(id); len(left) != 1 {
		t.Fatalf("found %+v", left)
	}
	for n := range 300 { // at this one alone: how many others there are is the machine's affair
		if !slices.Contains(strings.Split(environ(cmd.Process.Pid), "\x00"), marker(id)) {
			t.Fatalf("look %d found no mark", n)
		}
	}
}
