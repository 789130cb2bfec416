package jobs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/modtest"
)

// A job that is not awaited is on its own when its play is over: it must have the controller's files by the time the
// task is done. One is in the cache on the disk, the other is not to be on any.
func TestAJobHasItsFilesBeforeItIsStarted(t *testing.T) {
	cached := filepath.Join(t.TempDir(), "cached")
	if err := os.WriteFile(cached, []byte("on the disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for digest, want := range map[string]string{"d1": "on the disk", "d2": "in memory"} {
		t.Run(want, func(t *testing.T) {
			s := newSupervisor(t, t.TempDir())
			var gone atomic.Bool
			open := func(_ context.Context, digest string) (io.ReadCloser, error) {
				switch {
				case gone.Load():
					return nil, errors.New("the controller is gone")
				case digest == "d1":
					return os.Open(cached)
				}
				return io.NopCloser(strings.NewReader("in memory")), nil
			}
			fifo := filepath.Join(t.TempDir(), "go")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			env := &modules.Env{Environ: append(os.Environ(), "HOME="+t.TempDir()), Warn: func(string, ...any) {}, Open: open}
			started, err := s.Start(t.Context(), call.Invocation{
				Module: shell, Env: env, Args: modtest.Args(map[string]any{"cmd": "read x <" + fifo + "\n", "blob": digest}),
				Call: wire.Call{Module: shell.Name, Async: time.Minute, Files: []string{"d1", "d2"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			id := started.Text("ansible_job_id")
			inMemory, _ := os.ReadDir(filepath.Join(s.job(id).dir, filesDir))
			if len(inMemory) != 1 || inMemory[0].Name() != "d1" {
				t.Errorf("on the disk are %v", inMemory)
			}
			gone.Store(true)
			if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
				t.Fatal(err)
			}
			if out := status(t, s, id); out["msg"] != want {
				t.Errorf("the job read %v", out)
			}
			if _, err := os.Stat(filepath.Join(s.job(id).dir, filesDir)); err == nil {
				t.Error("its files are left")
			}
		})
	}
}

func TestAJobThatCannotHaveItsFilesIsNotStarted(t *testing.T) {
	dir := t.TempDir()
	s := newSupervisor(t, dir)
	env := &modules.Env{Environ: []string{"HOME=" + t.TempDir()},
		Open: func(context.Context, string) (io.ReadCloser, error) {
			return nil, errors.New("it was changed")
		}}
	_, err := s.Start(t.Context(),
		call.Invocation{Module: shell, Env: env, Call: wire.Call{Module: shell.Name, Async: time.Minute,
			Files: []string{"d"}}})
	if err == nil || !strings.Contains(err.Error(), "it was changed") {
		t.Errorf("the error is %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
