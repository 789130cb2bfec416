// Package jobs supervises modules that run in the background (async). Each job is a process of its own, with a
// directory of its own, that keeps its limit by itself: it goes on when the agent is restarted or upgraded, and the next agent
// adopts it.
package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hark/agent/internal/call"
)

// Supervisor keeps the jobs of an agent.
type Supervisor struct {
	dir  string
	argv []string

	mu   sync.Mutex
	jobs map[string]*job // guarded by mu
}

// job is one job as its supervisor sees it.
type job struct {
	dir  string
	over chan struct{} // closed when the state is terminal

	mu  sync.Mutex
	rec record // guarded by mu
}

// New makes a supervisor whose jobs live below dir; argv starts a job's process and gets the job's directory as its last word.
// Jobs that an earlier supervisor left are adopted: those that live are watched, the others are lost unless they have a result.
func New(dir string, argv []string) (*Supervisor, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep jobs: %w", err)
	}
	s := &Supervisor{dir: dir, argv: argv, jobs: map[string]*job{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot keep jobs: %w", err)
	}
	for _, e := range entries {
		if err := s.adopt(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return s, nil
}

// adopt takes a job over from its directory.
func (s *Supervisor) adopt(dir string) error {
	rec, err := readRecord(dir)
	if err != nil {
		return err
	}
	j := &job{dir: dir, rec: rec, over: make(chan struct{})}
	s.jobs[rec.ID] = j
	if rec.State.Terminal() {
		close(j.over)
		return nil
	}
	if !rec.lives() {
		j.settle()
		return nil
	}
	go func() {
		awaitExit(rec)
		j.settle()
	}()
	return nil
}

// awaitExit returns when the recorded process, which is no child of ours, has ended.
func awaitExit(rec record) {
	fd, err := unix.PidfdOpen(rec.Pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if !rec.lives() {
		return
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, -1)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// settle reads what a job's process left when it ended. Without a terminal state the job is lost.
func (j *job) settle() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if rec, err := readRecord(j.dir); err == nil && rec.State.Terminal() {
		j.rec = rec
	} else {
		j.rec.State, j.rec.Ended = Lost, time.Now()
		_ = j.rec.write(j.dir) // what cannot be written now is found lost again next time
	}
	close(j.over)
}

func (j *job) record() record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rec
}

// Session is the supervisor as a session of a run uses it.
func (s *Supervisor) Session() call.Jobs {
	return call.Jobs{Start: s.Start, Wait: s.Wait, Status: s.Status}
}

// Start begins a job and returns what Ansible's async_wrapper returns. What the module needs of the controller is
// served through inv.Env for as long as this agent lives.
func (s *Supervisor) Start(_ context.Context, inv call.Invocation) (map[string]any, error) {
	id := fmt.Sprintf("j%012d.%d", rand.Int64N(1e12), os.Getpid())
	dir := filepath.Join(s.dir, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot start a job: %w", err)
	}
	rec := record{
		ID: id, Module: inv.Call.Module, Host: inv.Env.Host, User: inv.Call.User.User, State: Queued,
		Limit: inv.Call.Async, Boot: bootID(), Began: time.Now(),
	}
	if err := rec.write(dir); err != nil {
		return nil, fmt.Errorf("cannot start a job: %w", err)
	}
	j := &job{dir: dir, rec: rec, over: make(chan struct{})}
	if err := s.launch(j, inv); err != nil {
		return nil, fmt.Errorf("cannot start a job: %w", err)
	}
	s.mu.Lock()
	s.jobs[id] = j
	s.mu.Unlock()
	return map[string]any{"ansible_job_id": id, "started": 1, "finished": 0, "results_file": filepath.Join(dir, resultFile)}, nil
}

func (s *Supervisor) job(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id]
}

// Wait returns the result of a job when it has ended, calling progress with its status every poll until then.
func (s *Supervisor) Wait(ctx context.Context, id string, poll time.Duration, progress func(map[string]any)) (map[string]any, error) {
	j := s.job(id)
	if j == nil {
		return missing(id), nil
	}
	if poll <= 0 {
		poll = 15 * time.Second
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-j.over:
			if j.record().State == TimedOut {
				return j.status(false), nil
			}
			return j.status(true), nil
		case <-tick.C:
			progress(j.status(true))
		case <-ctx.Done():
			s.cancel(j)
			return nil, ctx.Err()
		}
	}
}

// Status answers about a job: mode is status, cleanup (forget it) or cancel (end it).
func (s *Supervisor) Status(_ context.Context, id, mode string) (map[string]any, error) {
	j := s.job(id)
	if j == nil {
		return missing(id), nil
	}
	switch mode {
	case "cleanup":
		file := filepath.Join(j.dir, resultFile)
		s.mu.Lock()
		delete(s.jobs, id)
		s.mu.Unlock()
		if err := os.RemoveAll(j.dir); err != nil {
			return nil, fmt.Errorf("cannot forget job %s: %w", id, err)
		}
		return map[string]any{"ansible_job_id": id, "erased": file}, nil
	case "cancel":
		s.cancel(j)
		<-j.over
	}
	return j.status(true), nil
}

// cancel asks the job's process to end what it runs; it writes the state itself.
func (s *Supervisor) cancel(j *job) {
	if rec := j.record(); !rec.State.Terminal() && rec.lives() {
		_ = syscall.Kill(rec.Pid, syscall.SIGTERM)
	}
}

func missing(id string) map[string]any {
	return map[string]any{"ansible_job_id": id, "started": 1, "finished": 1, "failed": true, "msg": "could not find job"}
}

// status is what async_status returns. A job that ran into its limit counts as ended only if ended says so: a task
// that waits for it words that itself.
func (j *job) status(ended bool) map[string]any {
	rec := j.record()
	out := map[string]any{}
	finished := 0
	if rec.State.Terminal() && ended {
		finished = 1
		if raw, err := os.ReadFile(filepath.Join(j.dir, resultFile)); err == nil {
			out = decode(raw)
		}
		if rec.State == Lost {
			out["failed"], out["msg"] = true, "the job was lost: its process went away without a result"
		}
	}
	out["ansible_job_id"], out["started"], out["finished"] = rec.ID, 1, finished
	out["results_file"] = filepath.Join(j.dir, resultFile)
	return out
}

func decode(raw []byte) map[string]any {
	out := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a return code must stay an int
	if err := d.Decode(&out); err != nil {
		return map[string]any{"failed": true, "msg": "the result of the job cannot be read: " + err.Error()}
	}
	return out
}

// Info is a job as lists show it.
type Info struct {
	ID, Module, Host, User string
	State                  State
	Began, Ended           time.Time
	Limit                  time.Duration
}

// List are all jobs, the oldest first.
func (s *Supervisor) List() []Info {
	s.mu.Lock()
	all := make([]*job, 0, len(s.jobs))
	for _, j := range s.jobs {
		all = append(all, j)
	}
	s.mu.Unlock()
	infos := make([]Info, 0, len(all))
	for _, j := range all {
		r := j.record()
		infos = append(infos, Info{ID: r.ID, Module: r.Module, Host: r.Host, User: r.User, State: r.State, Began: r.Began, Ended: r.Ended, Limit: r.Limit})
	}
	sort.Slice(infos, func(i, k int) bool { return infos[i].Began.Before(infos[k].Began) })
	return infos
}
