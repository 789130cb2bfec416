package jobs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
)

// The test binary is its own job process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "job" {
		run := func(ctx context.Context, inv call.Invocation) modules.Result {
			return inv.Module.Run(ctx, inv.Env, inv.Args)
		}
		if err := Main(os.Args[2], modules.NewRegistry(shell), run); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shell is a module that runs a command, or reads a blob of the controller.
var shell = modules.Define("test.shell", "Runs a command", func(ctx context.Context, env *modules.Env, a struct {
	Cmd  string `arg:"cmd"`
	Blob string `arg:"blob"`
}) (modules.Result, error) {
	if a.Blob != "" {
		r, err := env.Open(ctx, a.Blob)
		if err != nil {
			return modules.Result{}, err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return modules.Result{Msg: string(text)}, err
	}
	out, err := env.Exec(ctx, modules.Command{Shell: a.Cmd})
	return modules.Result{Changed: true, Failed: out.Rc != 0, Data: map[string]any{"stdout": string(out.Stdout), "code": out.Rc}}, err
})

func newSupervisor(t *testing.T, dir string) *Supervisor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(dir, []string{self, "job"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func begin(t *testing.T, s *Supervisor, limit time.Duration, args map[string]any) string {
	t.Helper()
	env := &modules.Env{
		Environ: os.Environ(), Name: "shell", Host: "h1", Warn: func(string, ...any) {},
		Open: func(_ context.Context, digest string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("blob " + digest)), nil
		},
	}
	out, err := s.Start(context.Background(), call.Invocation{Module: shell, Args: args, Env: env, Call: wire.Call{Module: shell.Name, Async: limit}})
	if err != nil {
		t.Fatal(err)
	}
	return out["ansible_job_id"].(string)
}

func wait(t *testing.T, s *Supervisor, id string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := s.Wait(ctx, id, time.Hour, func(map[string]any) {})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func state(t *testing.T, s *Supervisor, id string) State {
	t.Helper()
	for _, j := range s.List() {
		if j.ID == id {
			return j.State
		}
	}
	t.Fatalf("job %s is not listed", id)
	return ""
}

func TestJobsEndInTheirState(t *testing.T) {
	s := newSupervisor(t, t.TempDir())
	for _, c := range []struct {
		args  map[string]any
		limit time.Duration
		state State
	}{
		{map[string]any{"cmd": "echo out"}, time.Minute, Finished},
		{map[string]any{"cmd": "exit 3"}, time.Minute, Failed},
		{map[string]any{"cmd": "sleep 60"}, 50 * time.Millisecond, TimedOut},
		{map[string]any{"blob": "abc"}, time.Minute, Finished},
		{map[string]any{"nope": "abc"}, time.Minute, Failed},
	} {
		id := begin(t, s, c.limit, c.args)
		out := wait(t, s, id)
		if got := state(t, s, id); got != c.state {
			t.Errorf("%v ended as %s, want %s: %v", c.args, got, c.state, out)
		}
		if c.args["cmd"] == "echo out" && (out["stdout"] != "out\n" || fmt.Sprint(out["code"]) != "0") || c.args["blob"] != nil && out["msg"] != "blob abc" {
			t.Errorf("%v returned %v", c.args, out)
		}
		if done := fmt.Sprint(out["finished"]); (done == "1") != (c.state != TimedOut) {
			t.Errorf("%v returned finished %s to its task", c.args, done)
		}
		status, err := s.Status(context.Background(), id, "status")
		if err != nil || fmt.Sprint(status["finished"]) != "1" {
			t.Errorf("%v: async_status says %v (%v)", c.args, status, err)
		}
	}
}

func TestCancelEndsTheProcesses(t *testing.T) {
	s, mark := newSupervisor(t, t.TempDir()), filepath.Join(t.TempDir(), "pid")
	id := begin(t, s, time.Minute, map[string]any{"cmd": "echo $$ > " + mark + ".new; mv " + mark + ".new " + mark + "; sleep 60"})
	pid := 0
	for pid == 0 {
		if text, err := os.ReadFile(mark); err == nil {
			fmt.Sscan(string(text), &pid)
		}
	}
	out, err := s.Status(context.Background(), id, "cancel")
	if err != nil || state(t, s, id) != Cancelled || out["failed"] != true {
		t.Errorf("cancel gave %v (%v), state %s", out, err, state(t, s, id))
	}
	if err := syscall.Kill(pid, 0); err == nil && ticksOf(pid) != 0 {
		t.Errorf("process %d of the job still lives", pid)
	}
}

func TestJobsAreAdopted(t *testing.T) {
	dir, fifo := t.TempDir(), filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	first := newSupervisor(t, dir)
	id := begin(t, first, time.Minute, map[string]any{"cmd": "read x < " + fifo + "; echo $x"})
	second := newSupervisor(t, dir)
	if got := state(t, second, id); got != Running {
		t.Fatalf("the adopted job is %s", got)
	}
	if err := os.WriteFile(fifo, []byte("went on\n"), 0); err != nil {
		t.Fatal(err)
	}
	if out := wait(t, second, id); out["stdout"] != "went on\n" {
		t.Errorf("the adopted job returned %v", out)
	}
	wait(t, first, id)
}

func TestAJobWhoseProcessIsKilledIsLost(t *testing.T) {
	s := newSupervisor(t, t.TempDir())
	id := begin(t, s, time.Minute, map[string]any{"cmd": "sleep 1"})
	rec := s.job(id).record()
	if err := syscall.Kill(rec.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if out := wait(t, s, id); state(t, s, id) != Lost || out["failed"] != true {
		t.Errorf("state %s, result %v", state(t, s, id), out)
	}
}

func TestCleanupForgetsAJob(t *testing.T) {
	s := newSupervisor(t, t.TempDir())
	id := begin(t, s, time.Minute, map[string]any{"cmd": "true"})
	file := wait(t, s, id)["results_file"]
	out, err := s.Status(context.Background(), id, "cleanup")
	if err != nil || out["erased"] != file {
		t.Errorf("cleanup gave %v (%v)", out, err)
	}
	if out, _ := s.Status(context.Background(), id, "status"); out["msg"] != "could not find job" || fmt.Sprint(out["finished"]) != "1" {
		t.Errorf("after cleanup: %v", out)
	}
}

func TestNoArgumentsAreWrittenToDisk(t *testing.T) {
	dir := t.TempDir()
	s := newSupervisor(t, dir)
	wait(t, s, begin(t, s, time.Minute, map[string]any{"cmd": ": sesame"}))
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "sesame") {
			t.Errorf("%s holds an argument", path)
		}
		info, _ := d.Info()
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
