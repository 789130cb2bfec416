// Package jobs supervises modules that run in the background (async). Each job is a process of its own, with a
// directory of its own, that keeps its limit by itself. It goes on when the agent is restarted or upgraded, and the
// next agent adopts it.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/internal/call"
	"hark/modules"
	"hark/modules/py/value"
)

// Supervisor keeps the jobs of an agent.
type Supervisor struct {
	dir    string
	argv   []string
	groups groups

	mu     sync.Mutex
	jobs   map[string]*job // guarded by mu
	purged time.Time       // when old jobs were last forgotten; guarded by mu
}

// job is one job as its supervisor sees it.
type job struct {
	dir  string
	over chan struct{} // closed when the state is terminal

	mu  sync.Mutex
	rec record // guarded by mu
	// result is the result of a job of this agent if the one on disk is censored, until a task collects it. Guarded by mu.
	result json.RawMessage
}

// New makes a supervisor whose jobs live below dir. argv starts a job's process and gets the job's directory as its
// last word. New adopts the jobs of an earlier supervisor: it watches those that live, and the others are lost unless
// they have a result.
func New(dir string, argv []string) (*Supervisor, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep jobs: %w", err)
	}
	s := &Supervisor{dir: dir, argv: argv, groups: ownGroups(), jobs: map[string]*job{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot keep jobs: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			_ = s.adopt(e.Name()) // it is shown as lost; the others count all the same
		}
	}
	s.purge()
	return s, nil
}

// Session returns the supervisor as a session of a run uses it.
func (s *Supervisor) Session() call.Jobs {
	return call.Jobs{Start: s.Start, Wait: s.Wait, Status: s.Status, Over: s.Over, Manage: s.Manage, Afoot: s.Afoot}
}

// Start begins a job and returns what Ansible's async_wrapper returns. By then the job has the controller's files that
// its call names. What else its module asks of the controller is served through inv.Env as long as this agent lives.
func (s *Supervisor) Start(ctx context.Context, inv call.Invocation) (*value.Dict, error) {
	if len(s.argv) == 0 {
		return nil, errors.New("internal error: this agent has no command to start jobs with")
	}
	id := fmt.Sprintf("j%012d.%d", rand.Int64N(1e12), os.Getpid())
	j := &job{dir: filepath.Join(s.dir, id), over: make(chan struct{}), rec: record{
		ID: id, Module: moduleName(inv), Task: inv.Call.Task, Run: inv.Run, Host: inv.Env.Host,
		User: inv.Call.User.User, State: Queued,
		Limit: inv.Call.Async, NoLog: inv.Call.NoLog, Dir: customDir(inv), Results: filepath.Join(inv.AsyncDir(), id),
		Boot: bootID(), Began: time.Now(),
	}}
	if err := s.begin(ctx, j, inv); err != nil {
		return nil, &call.NoJobError{Err: err}
	}
	s.mu.Lock()
	s.jobs[id] = j
	due := time.Since(s.purged) > purgeEvery
	s.mu.Unlock()
	if due {
		s.purge()
	}
	return value.DictOf(
		"failed", int64(0), "started", int64(1), "finished", int64(0), "ansible_job_id", id, "results_file",
		j.record().Results,
	), nil
}

// moduleName returns the full name of the module, or the playbook's name for it if it is not native.
func moduleName(inv call.Invocation) string {
	if inv.Call.Name != "" && strings.HasPrefix(inv.Call.Module, "hark.") {
		return inv.Call.Name
	}
	return inv.Call.Module
}

// customDir returns the directory of ansible_async_dir, "" if it is the usual one.
func customDir(inv call.Invocation) string {
	usual := inv
	usual.Call.AsyncDir = ""
	if dir := inv.AsyncDir(); dir != usual.AsyncDir() {
		return dir
	}
	return ""
}

// begin makes the job's directory and starts its process.
func (s *Supervisor) begin(ctx context.Context, j *job, inv call.Invocation) error {
	if err := os.Mkdir(j.dir, 0o700); err != nil {
		return err
	}
	held, err := lock(j.dir)
	if err == nil {
		defer held.Close()
		err = j.rec.write(j.dir)
	}
	var files map[string][]byte
	if err == nil {
		files, err = provide(ctx, j.dir, inv)
	}
	if err == nil {
		err = s.launch(j, inv, files, held)
	}
	if err != nil {
		_ = os.RemoveAll(j.dir)
	}
	return err
}

// job finds a job: among those of this supervisor, or one that another process has started since.
func (s *Supervisor) job(id string) *job {
	s.mu.Lock()
	j := s.jobs[id]
	s.mu.Unlock()
	if j != nil || id == "" || strings.ContainsAny(id, "/\x00") || id[0] != 'j' {
		return j
	}
	if _, err := os.Stat(filepath.Join(s.dir, id, stateFile)); err != nil {
		return nil
	}
	return s.adopt(id)
}

// Over returns a channel that is closed when a job has ended; it is closed already if there is no such job.
func (s *Supervisor) Over(id string) <-chan struct{} {
	if j := s.job(id); j != nil {
		return j.over
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Wait returns the result of a job of the run when it has ended. If ctx is done first, Wait cancels the job. The
// result is then for the caller only: async_status no longer finds the job.
func (s *Supervisor) Wait(ctx context.Context, run, id string) (*value.Dict, error) {
	j := s.job(id)
	if j == nil || j.record().Run != run {
		return missing(id), nil
	}
	select {
	case <-j.over:
		answer := j.answer(j.record().State != TimedOut)
		j.collect()
		return answer, nil
	case <-ctx.Done():
		j.cancel()
		return nil, ctx.Err()
	}
}

// Status answers about a job as async_status does. cleanup forgets the job.
func (s *Supervisor) Status(_ context.Context, q modules.JobQuery) (*value.Dict, error) {
	j := s.job(q.ID)
	if j == nil {
		return missing(q.ID), nil
	}
	if rec := j.record(); rec.Collected || rec.Dir != q.Dir {
		return missing(q.ID), nil
	}
	if q.Mode != "cleanup" {
		return j.answer(true), nil
	}
	if err := s.forget(j); err != nil {
		return nil, fmt.Errorf("cannot forget job %s: %w", q.ID, err)
	}
	return value.DictOf("ansible_job_id", q.ID, "erased", j.record().Results), nil
}

// forget removes a job. A running one goes on, and leaves nothing.
func (s *Supervisor) forget(j *job) error {
	rec := j.record()
	s.mu.Lock()
	delete(s.jobs, rec.ID)
	s.mu.Unlock()
	dissolve(rec.Group)
	return errors.Join(removeResults(rec), os.RemoveAll(j.dir))
}

func missing(id string) *value.Dict {
	return value.DictOf("ansible_job_id", id, "started", int64(1), "finished", int64(1), "failed", true, "msg",
		"could not find job")
}

const (
	// purgeEvery is the shortest time between two searches for old jobs.
	purgeEvery = time.Minute
	// retention is how long ended jobs are known, retained how many of them at most.
	retention = 7 * 24 * time.Hour
	retained  = 1000
	// retainedBytes is how many bytes ended jobs may take on the disk, with their output. Beyond it the oldest lose their
	// results; the last one is always kept.
	retainedBytes = 256 << 20
	// resultBytes is how many bytes one result may take; see size.go.
	resultBytes = 32 << 20
)

// purge forgets old jobs, and strips the oldest when all take too much room.
func (s *Supervisor) purge() {
	s.mu.Lock()
	s.purged = time.Now()
	s.mu.Unlock()
	var ended []*job
	for _, j := range s.all() {
		if j.record().State.Terminal() {
			ended = append(ended, j)
		}
	}
	kept := int64(0)
	for i, j := range slices.Backward(ended) {
		switch size := j.size(); {
		case len(ended)-i > retained || time.Since(j.record().Ended) > retention:
			_ = s.forget(j) // what cannot be removed now is tried again
		case kept+size > retainedBytes && i < len(ended)-1:
			j.strip()
		default:
			kept += size
		}
	}
}
