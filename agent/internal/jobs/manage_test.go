package jobs

import (
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
)

func TestOldJobsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	for id, ended := range map[string]time.Time{"j1.1": time.Now().Add(-retention - time.Hour),
		"j2.2": time.Now().Add(-time.Hour)} {
		rec := record{ID: id, State: Finished, Began: ended, Ended: ended}
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := rec.write(filepath.Join(dir, id)); err != nil {
			t.Fatal(err)
		}
	}
	s := newSupervisor(t, dir)
	if list := s.List(); len(list) != 1 || list[0].ID != "j2.2" {
		t.Errorf("there are %v", list)
	}
	if _, err := os.Stat(filepath.Join(dir, "j1.1")); err == nil {
		t.Error("the old one's directory is still there")
	}
}

// The name of a task as the session has it may hold secrets: a job has the one of its call.
func TestStateHasTheNameOfTheCall(t *testing.T) {
	s := newSupervisor(t, t.TempDir())
	env := &modules.Env{Environ: append(os.Environ(), "HOME="+t.TempDir()), Host: "h1", Task: "set S3CRET"}
	out, err := s.Start(t.Context(), call.Invocation{
		Module: shell, Args: modtest.Args(map[string]any{"cmd": "true"}), Env: env,
		Call: wire.Call{Module: shell.Name, Async: time.Minute, Task: "set {{ pw }}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := out.Text("ansible_job_id")
	wait(t, s, id)
	state, err := os.ReadFile(filepath.Join(s.dir, id, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(state); !strings.Contains(text, `"task":"set {{ pw }}"`) || strings.Contains(text, "S3CRET") {
		t.Errorf("the job's state is %s", text)
	}
	if list := s.List(); len(list) != 1 || list[0].Task != "set {{ pw }}" {
		t.Errorf("listed as %+v", list)
	}
}

func TestManageListsShowsAndTails(t *testing.T) {
	s, fifo := newSupervisor(t, t.TempDir()), filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	id := begin(t, s, time.Minute, map[string]any{"cmd": "echo one; echo two >&2; read x < " + fifo + "; echo three"})
	begin(t, s, time.Minute, map[string]any{"cmd": "true"})
	if r := manage(t, s, wire.JobsQuery{Op: "list", Pattern: "test.*"}); len(r.Jobs) != 2 {
		t.Errorf("list gave %+v", r)
	}
	if r := manage(t, s, wire.JobsQuery{Op: "list", Pattern: id}); len(r.Jobs) != 1 || r.Jobs[0].State != string(Running) {
		t.Errorf("list gave %+v", r)
	}
	var text [2]string
	var at [2]int64
	tail := func() {
		r := manage(t, s, wire.JobsQuery{Op: "tail", ID: id, Offsets: at, Patience: 30 * time.Second})
		for i := range text {
			text[i] += string(r.Output[i])
		}
		at = r.Offsets
	}
	for text[0] == "" || text[1] == "" {
		tail()
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	tail()
	if text != [2]string{"one\nthree\n", "two\n"} {
		t.Errorf("tail gave %q", text)
	}
	if r := manage(t, s, wire.JobsQuery{Op: "wait", ID: id, Patience: 30 * time.Second}); r.Jobs[0].State != string(
		Finished) || r.Result["changed"] != true {
		t.Errorf("wait gave %+v", r)
	}
	if r := manage(t, s, wire.JobsQuery{Op: "show", ID: "j0"}); r.Err != "could not find job j0" {
		t.Errorf("show gave %+v", r)
	}
}

func TestOutputIsCappedAndRotated(t *testing.T) {
	dir := t.TempDir()
	o := &output{dir: dir}
	line := strings.Repeat("x", 999) + "\n"
	for range 4 * segment / len(line) {
		o.write(false, []byte(line))
	}
	o.close()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) > 2 {
		t.Errorf("%d files are left", len(files))
	}
	text, from := readOutput(dir, "stdout", 0, 10*segment)
	if from == 0 || len(text) < segment || from+int64(len(text)) != int64(4*segment/len(line)*len(line)) {
		t.Errorf("%d bytes from %d on", len(text), from)
	}
	text, _ = readOutput(dir, "stdout", -1000, 10*segment)
	if string(text) != line {
		t.Errorf("the last line is %d bytes", len(text))
	}
}
