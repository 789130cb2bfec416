package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"hark/controller/internal/duties/duty"
)

// Job is a turn as a worker is given it: a process of its own for each commit, that stands in the commit's directory
// and drives the runs there.
type Job struct {
	ID    uint64    `json:"id"`
	Run   string    `json:"run"` // the id of the run
	Duty  string    `json:"duty"`
	Play  string    `json:"play"`
	Limit string    `json:"limit,omitempty"` // of a duty that is done together: its pattern
	Hosts []Host    `json:"hosts"`
	Mode  duty.Mode `json:"mode"`
	Nonce string    `json:"nonce"`
	Push  bool      `json:"push,omitempty"`
	Flags []string  `json:"flags,omitempty"` // of the run
	// Noise are the tasks of a host, by its agent, whose changes mean nothing; Looks says that no change does.
	Noise map[string][]string `json:"noise,omitempty"`
	Looks bool                `json:"looks,omitempty"`
}

// Opening returns the nonce with which a run opens a host for the turn-th time.
func (j *Job) Opening(host string, turn uint64) string { return nonce(j.Nonce, host, fmt.Sprint(turn)) }

// workerAnswer is a worker's answer.
type workerAnswer struct {
	ID       uint64             `json:"id"`
	Outcomes map[string]Outcome `json:"outcomes"`
}

// Work is a worker's main loop: jobs come in, a line each, and outcomes go out. When no more jobs come, as when the
// keeper has died, the runs that go on are cancelled. It is for the whole process, since it has a say in its signals.
func Work(in io.Reader, out io.Writer, carry func(ctx context.Context, j Job) map[string]Outcome) error {
	// A keeper that is killed takes the other ends of the pipes with it, and who writes to standard output or error
	// then dies, unless somebody wants the signal: agents would wait a lease for the runs that go on.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	var mu sync.Mutex
	jobs := json.NewDecoder(bufio.NewReader(in))
	answers := json.NewEncoder(out) // guarded by mu
	defer work.Wait()
	defer cancel()
	for {
		var j Job
		err := jobs.Decode(&j)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read what to do: %w", err)
		}
		work.Go(func() {
			t := workerAnswer{j.ID, carry(ctx, j)}
			mu.Lock()
			defer mu.Unlock()
			_ = answers.Encode(t) // a keeper that is gone wants none
		})
	}
}

// Workers drive turns by processes, one for each commit that is in use. It is a Driver.
type Workers struct {
	// Command is how a worker is started.
	Command []string
	// Dir is where a commit lies, false if it does no longer.
	Dir func(commit string) (string, bool)
	// Environ gives variables that a worker has beside those of this process, in the directory of its commit.
	Environ func(dir string) []string
	// NewRun makes the id of a run.
	NewRun func() string
	Errors io.Writer

	mu      sync.Mutex
	workers map[string]*worker // by commit; guarded by mu
	last    uint64             // guarded by mu
}

// worker is one process. It ends when it has had nothing to do for a while.
type worker struct {
	in   io.WriteCloser
	cmd  *exec.Cmd
	send sync.Mutex

	waiting map[uint64]chan map[string]Outcome // guarded by Workers.mu
	idle    *time.Timer                        // guarded by Workers.mu
}

// idleTime is after how long without work a worker is ended. Another has to read the project again.
const idleTime = 10 * time.Minute

// Carry implements Driver.
func (w *Workers) Carry(ctx context.Context, t Turn) map[string]Outcome {
	j := Job{Run: w.NewRun(), Duty: t.Duty.Name, Play: t.Duty.Play, Hosts: t.Hosts, Mode: t.Mode, Nonce: t.Nonce,
		Push: t.Push, Flags: t.Flags, Noise: t.Noise, Looks: t.Looks}
	if t.Duty.Together {
		j.Limit = t.Duty.Hosts
	}
	answer, kid, err := w.give(t.Commit, &j)
	if err != nil {
		return everywhere(t, Outcome{Status: Busy, Why: err.Error()}) // it is tried again
	}
	select {
	case out, ok := <-answer:
		if ok {
			return out
		}
	case <-ctx.Done():
		kid.close() // which cancels its runs, and then it answers
		select {
		case out, ok := <-answer:
			if ok {
				return out
			}
		case <-time.After(endLimit):
		}
	}
	return everywhere(t, Outcome{Status: Lost, Run: j.Run, Why: "the process that drove the run ended: what came of it " +
		"is not known"})
}

// endLimit is how long runs that are cancelled may take.
const endLimit = 60 * time.Second

// give hands a job to the worker of a commit.
func (w *Workers) give(commit string, j *Job) (<-chan map[string]Outcome, *worker, error) {
	w.mu.Lock()
	kid := w.workers[commit]
	if kid == nil {
		var err error
		if kid, err = w.start(commit); err != nil {
			w.mu.Unlock()
			return nil, nil, err
		}
	}
	w.last++
	j.ID = w.last
	answer := make(chan map[string]Outcome, 1)
	kid.waiting[j.ID] = answer
	kid.idle.Stop()
	w.mu.Unlock()
	line, err := json.Marshal(j)
	if err == nil {
		kid.send.Lock()
		_, err = kid.in.Write(append(line, '\n'))
		kid.send.Unlock()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot hand the turn over: %w", err)
	}
	return answer, kid, nil
}

// start starts the worker of a commit. It assumes mu held.
func (w *Workers) start(commit string) (*worker, error) {
	dir, ok := w.Dir(commit)
	if !ok {
		return nil, fmt.Errorf("the project is no longer there as it was at %s", commit)
	}
	cmd := exec.Command(w.Command[0], w.Command[1:]...)
	cmd.Dir, cmd.Stderr = dir, w.Errors
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the keeper, who ends it
	cmd.Env = append(os.Environ(), "PWD="+dir)
	if w.Environ != nil {
		cmd.Env = append(cmd.Env, w.Environ(dir)...)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start a worker: %w", err)
	}
	kid := &worker{in: in, cmd: cmd, waiting: map[uint64]chan map[string]Outcome{}}
	kid.idle = time.AfterFunc(idleTime, func() { w.retire(commit, kid) })
	if w.workers == nil {
		w.workers = map[string]*worker{}
	}
	w.workers[commit] = kid
	go w.listen(commit, kid, out)
	return kid, nil
}

// listen takes a worker's answers until it ends.
func (w *Workers) listen(commit string, kid *worker, out io.Reader) {
	answers := json.NewDecoder(out)
	for {
		var t workerAnswer
		if answers.Decode(&t) != nil {
			break
		}
		w.mu.Lock()
		if c := kid.waiting[t.ID]; c != nil {
			c <- t.Outcomes
			delete(kid.waiting, t.ID)
		}
		if len(kid.waiting) == 0 {
			kid.idle.Reset(idleTime)
		}
		w.mu.Unlock()
	}
	_ = kid.cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workers[commit] == kid {
		delete(w.workers, commit)
	}
	for _, c := range kid.waiting {
		close(c)
	}
	kid.waiting = map[uint64]chan map[string]Outcome{}
}

// retire ends a worker that has nothing to do.
func (w *Workers) retire(commit string, kid *worker) {
	w.mu.Lock()
	if len(kid.waiting) > 0 {
		w.mu.Unlock()
		return
	}
	if w.workers[commit] == kid {
		delete(w.workers, commit)
	}
	w.mu.Unlock()
	kid.close()
}

// close tells a worker that nothing more comes.
func (k *worker) close() {
	k.send.Lock()
	defer k.send.Unlock()
	_ = k.in.Close() // it may be closed already
}

// Close ends all workers.
func (w *Workers) Close() {
	w.mu.Lock()
	var all []*worker
	for _, kid := range w.workers {
		all = append(all, kid)
	}
	w.mu.Unlock()
	for _, kid := range all {
		kid.close()
	}
}
