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
	"hark/modules/modtest"
	"hark/modules/py/value"
)

// The test binary is its own job process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "job" {
		run := func(ctx context.Context, inv call.Invocation) modules.Result {
			return inv.Module.Run(ctx, inv.Env, inv.Args)
		}
		if err := Main(os.Args[2], modules.NewRegistry(shell, late), run); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shell is a module that runs a command, and then reads a blob of the controller if told to.
var shell = modules.Define("test.shell", "Runs a command", func(ctx context.Context, env *modules.Env, a struct {
	Cmd  string `arg:"cmd"`
	Blob string `arg:"blob"`
}) (modules.Result, error) {
	if a.Blob != "" {
		if _, err := env.Exec(ctx, modules.Command{Shell: a.Cmd + ":"}); err != nil {
			return modules.Result{}, err
		}
		r, err := env.Open(ctx, a.Blob)
		if err != nil {
			return modules.Result{}, err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return modules.Result{Msg: string(text)}, err
	}
	out, err := env.Exec(ctx, modules.Command{Shell: a.Cmd})
	return modules.Result{Changed: true, Failed: out.Rc != 0, Data: value.DictOf("stdout", string(out.Stdout), "code",
		out.Rc)}, err
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
	t.Cleanup(func() { // nothing may write into dir any more when it is removed
		for _, j := range s.all() {
			j.cancel()
			<-j.over
		}
	})
	return s
}

func begin(t *testing.T, s *Supervisor, limit time.Duration, args map[string]any) string {
	t.Helper()
	return beginCall(t, s, args, wire.Call{Module: shell.Name, Async: limit})
}

func beginCall(t *testing.T, s *Supervisor, args map[string]any, c wire.Call) string {
	t.Helper()
	return beginModule(t, s, shell, args, c)
}

func beginModule(t *testing.T, s *Supervisor, m *modules.Module, args map[string]any, c wire.Call) string {
	t.Helper()
	env := &modules.Env{
		Environ: append(os.Environ(), "HOME="+t.TempDir()), Name: "shell", Host: "h1", Warn: func(string, ...any) {},
		Open: func(_ context.Context, digest string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("blob " + digest)), nil
		},
	}
	out, err := s.Start(context.Background(), call.Invocation{Module: m, Args: modtest.Args(args), Env: env, Call: c})
	if err != nil {
		t.Fatal(err)
	}
	return out.Text("ansible_job_id")
}

func wait(t *testing.T, s *Supervisor, id string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := s.Wait(ctx, "", id)
	if err != nil {
		t.Fatal(err)
	}
	return modtest.Plain(out)
}

// status is what async_status says of a job that has ended, or soon will.
func status(t *testing.T, s *Supervisor, id string) map[string]any {
	t.Helper()
	select {
	case <-s.Over(id):
	case <-time.After(30 * time.Second):
		t.Fatalf("job %s does not end", id)
	}
	out, err := s.Status(context.Background(), modules.JobQuery{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return modtest.Plain(out)
}

func manage(t *testing.T, s *Supervisor, q wire.JobsQuery) wire.JobsReply {
	t.Helper()
	r, err := s.Manage(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func state(t *testing.T, s *Supervisor, id string) State {
	t.Helper()
	for _, j := range s.List() {
		if j.ID == id {
			return State(j.State)
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
		{map[string]any{"cmd": "sleep 60"}, 300 * time.Millisecond, TimedOut},
		{map[string]any{"blob": "abc"}, time.Minute, Finished},
		{map[string]any{"nope": "abc"}, time.Minute, Failed},
	} {
		id := begin(t, s, c.limit, c.args)
		out := status(t, s, id)
		if got := state(t, s, id); got != c.state || fmt.Sprint(out["finished"]) != "1" {
			t.Errorf("%v ended as %s, want %s: %v", c.args, got, c.state, out)
		}
		if c.args["cmd"] == "echo out" && (out["stdout"] != "out\n" || fmt.Sprint(out["code"]) != "0") ||
			c.args["blob"] != nil && out["msg"] != "blob abc" {
			t.Errorf("%v returned %v", c.args, out)
		}
		if c.state == TimedOut && (out["msg"] != "Timeout exceeded" || out["timedout"] != true || out["failed"] != true) {
			t.Errorf("the limit gave %v", out)
		}
		if done := fmt.Sprint(wait(t, s, id)["finished"]); (done == "1") != (c.state != TimedOut) {
			t.Errorf("%v returned finished %s to its task", c.args, done)
		}
		if out := status(t, s, id); out["msg"] != "could not find job" {
			t.Errorf("the task has the result of %v, async_status says %v all the same", c.args, out)
		}
	}
}

// pidOf waits until a job has written the id of a process of its own.
func pidOf(t *testing.T, file string) int {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		pid := 0
		if text, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(text), "\n") {
			if _, err := fmt.Sscan(string(text), &pid); err == nil {
				return pid
			}
		}
	}
	t.Fatalf("nobody writes %s", file)
	return 0
}

func TestTheWholeTreeIsEnded(t *testing.T) {
	for name, how := range map[string]func(*Supervisor, string){
		"cancel": func(s *Supervisor, id string) { manage(t, s, wire.JobsQuery{Op: "cancel", ID: id}) },
		"kill": func(s *Supervisor, id string) {
			if err := syscall.Kill(s.job(id).record().Pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		},
		"shutdown": func(s *Supervisor, id string) {
			if err := syscall.Kill(s.job(id).record().Pid, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		},
		"limit": func(*Supervisor, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newSupervisor(t, t.TempDir()), t.TempDir()
			limit := time.Minute
			if name == "limit" {
				limit = time.Second
			}
			// One child in the group, one in a session of its own that takes no TERM, one whose parent is gone.
			id := begin(t, s, limit, map[string]any{"cmd": "cd " + dir + `
				sleep 60 & echo $! > group
				setsid sh -c 'trap "" TERM; echo $$ > session; sleep 60; sleep 60' &
				(setsid sh -c 'echo $$ > orphan; exec sleep 60' &)
				wait; sleep 60`})
			var pids []int
			for _, file := range []string{"group", "session", "orphan"} {
				pids = append(pids, pidOf(t, filepath.Join(dir, file)))
			}
			how(s, id)
			out := status(t, s, id)
			want := map[string]State{"cancel": Cancelled, "kill": Lost, "shutdown": Lost, "limit": TimedOut}[name]
			if got := state(t, s, id); got != want || out["failed"] != true {
				t.Errorf("state %s, result %v", got, out)
			}
			for _, pid := range pids {
				if ticksOf(pid) != 0 {
					t.Errorf("process %d of the job still lives", pid)
				}
			}
		})
	}
}

func TestWhatAJobLeavesInTheBackgroundLivesOn(t *testing.T) {
	s, file := newSupervisor(t, t.TempDir()), filepath.Join(t.TempDir(), "pid")
	out := status(t, s,
		begin(t, s, time.Minute, map[string]any{"cmd": "setsid sleep 60 >/dev/null 2>&1 & echo $! >" + file}))
	pid := pidOf(t, file)
	if ticksOf(pid) == 0 || out["failed"] == true {
		t.Errorf("process %d is gone: %v", pid, out)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
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
	if out := status(t, second, id); out["stdout"] != "went on\n" {
		t.Errorf("the adopted job returned %v", out)
	}
	status(t, first, id)
}

func TestJobsOfAnotherProcessAreFound(t *testing.T) {
	dir := t.TempDir()
	first, second := newSupervisor(t, dir), newSupervisor(t, dir)
	id := begin(t, first, time.Minute, map[string]any{"cmd": "echo other"})
	status(t, first, id)
	if out := status(t, second, id); out["stdout"] != "other\n" {
		t.Errorf("it returned %v", out)
	}
}

func TestAJobIsLostWithItsHost(t *testing.T) {
	dir := t.TempDir()
	rec := record{ID: "j1.1", State: Running, Pid: os.Getpid(), Ticks: 1, Boot: "another", Began: time.Now()}
	if err := os.Mkdir(filepath.Join(dir, rec.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := rec.write(filepath.Join(dir, rec.ID)); err != nil {
		t.Fatal(err)
	}
	s := newSupervisor(t, dir)
	out := status(t, s, rec.ID)
	if state(t, s, rec.ID) != Lost || out["msg"] != "the job was lost: the host was restarted while it ran" ||
		out["lost"] != true {
		t.Errorf("state %s, result %v", state(t, s, rec.ID), out)
	}
}

func TestABrokenDirectoryKeepsNobodyFromStarting(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"j1.1": "{", "j2.2": `{"version": 99}`} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, stateFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSupervisor(t, dir)
	for _, id := range []string{"j1.1", "j2.2"} {
		if state(t, s, id) != Lost {
			t.Errorf("%s is %s", id, state(t, s, id))
		}
	}
}

func TestCleanupForgetsAJob(t *testing.T) {
	s := newSupervisor(t, t.TempDir())
	id := begin(t, s, time.Minute, map[string]any{"cmd": "true"})
	file := status(t, s, id)["results_file"].(string)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `"changed"`) {
		t.Errorf("the results file holds %s (%v)", text, err)
	}
	out, err := s.Status(context.Background(), modules.JobQuery{ID: id, Mode: "cleanup"})
	if err != nil || out.Text("erased") != file {
		t.Errorf("cleanup gave %v (%v)", out, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the results file is still there")
	}
	if out := status(t, s, id); out["msg"] != "could not find job" || fmt.Sprint(out["finished"]) != "1" {
		t.Errorf("after cleanup: %v", out)
	}
}

func TestADirectoryOfItsOwnIsASpaceOfItsOwn(t *testing.T) {
	s, dir := newSupervisor(t, t.TempDir()), filepath.Join(t.TempDir(), "async")
	id := beginCall(t, s, map[string]any{"cmd": "true"}, wire.Call{Module: shell.Name, Async: time.Minute, AsyncDir: dir})
	if out := status(t, s, id); out["msg"] != "could not find job" {
		t.Errorf("without the directory: %v", out)
	}
	out, err := s.Status(context.Background(), modules.JobQuery{ID: id, Dir: dir})
	if err != nil || out.Text("results_file") != filepath.Join(dir, id) || out.True("failed") {
		t.Errorf("with it: %v (%v)", out, err)
	}
}

func TestNothingSecretIsWrittenToDisk(t *testing.T) {
	dir := t.TempDir()
	s := newSupervisor(t, dir)
	id := beginCall(t, s, map[string]any{"cmd": "echo sesame; echo sesame >&2"},
		wire.Call{Module: shell.Name, Async: time.Minute, NoLog: true})
	out := status(t, s, id)
	if out["stdout"] != "sesame\n" {
		t.Errorf("the agent that began it says %v", out)
	}
	files := []string{out["results_file"].(string)}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatalf("files %v (%v)", files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "sesame") {
			t.Errorf("%s holds %s (%v)", path, text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", path, info.Mode(), err)
		}
	}
	if out := status(t, newSupervisor(t, dir), id); out["censored"] == nil || out["changed"] != true ||
		out["stdout"] != nil {
		t.Errorf("the next agent says %v", out)
	}
	if r := manage(t, s, wire.JobsQuery{Op: "show", ID: id}); r.Result["stdout"] != nil {
		t.Errorf("hark jobs shows %v", r.Result)
	}
}

func TestWithoutACommandThereAreNoJobs(t *testing.T) {
	s, err := New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(context.Background(), call.Invocation{}); err == nil {
		t.Error("a job was started")
	}
}
