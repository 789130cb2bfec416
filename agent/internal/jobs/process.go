package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/modules"
)

// The job's process speaks with its agent on these descriptors: not on the standard ones, where a broken pipe kills.
const (
	fromAgent = 3
	toAgent   = 4
)

// launch starts the job's process and hands it the call.
func (s *Supervisor) launch(j *job, inv call.Invocation) error {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		ourOut.Close()
		return err
	}
	defer theirOut.Close()
	cmd := exec.Command(s.argv[0], append(s.argv[1:len(s.argv):len(s.argv)], j.dir)...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env, cmd.Dir = inv.Env.Environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ourIn.Close()
		ourOut.Close()
		return err
	}
	j.mu.Lock()
	j.rec.State, j.rec.Pid, j.rec.Ticks = Running, cmd.Process.Pid, ticksOf(cmd.Process.Pid)
	err = j.rec.write(j.dir)
	j.mu.Unlock()
	if err != nil {
		_ = cmd.Process.Kill()
	}
	wired, wireErr := inv.Wire()
	go func() {
		if conn, err := peer.Dial(ourIn, ourOut); err == nil && wireErr == nil {
			go func() { _ = conn.Listen() }() // ends when the pipe does
			job := peer.JobOf(wired, inv.Env)
			// The result is on disk before it is here; that it may not come is told by the state.
			_, _ = conn.Do(context.Background(), job, inv.Env)
		}
		ourOut.Close()
		_ = cmd.Wait()
		ourIn.Close()
		j.settle()
	}()
	return errors.Join(err, wireErr)
}

// Main is the process of one job: it serves the one call that the agent hands it, keeps its limit, and writes the
// result and the state into dir. run runs the module, as another user if need be.
func Main(dir string, registry *modules.Registry, run call.Caller) error {
	rec, err := readRecord(dir)
	if err != nil {
		return err
	}
	from, to := os.NewFile(fromAgent, "from-agent"), os.NewFile(toAgent, "to-agent")
	syscall.CloseOnExec(fromAgent)
	syscall.CloseOnExec(toAgent)
	p := &process{dir: dir, rec: rec, module: run}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	p.cancelled = ctx
	server := &peer.Server{Modules: registry, Call: p.run, Done: p.done}
	if err := server.Serve(context.Background(), from, to); err != nil {
		return err
	}
	if !p.ended.Load() {
		return p.end(Lost, nil)
	}
	return nil
}

// process is the inside of a job.
type process struct {
	dir       string
	rec       record
	module    call.Caller
	cancelled context.Context
	timedOut  atomic.Bool
	ended     atomic.Bool
}

// run runs the module within its limit. Whatever it started is ended with it: its context ends the sessions of its
// processes.
func (p *process) run(ctx context.Context, inv call.Invocation) modules.Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.cancelled, cancel)()
	if p.rec.Limit > 0 {
		limit := time.AfterFunc(p.rec.Limit, func() {
			p.timedOut.Store(true)
			cancel()
		})
		defer limit.Stop()
	}
	return p.module(ctx, inv)
}

// done writes the result and then the state, before the agent hears of them.
func (p *process) done(_ *peer.Job, result json.RawMessage) json.RawMessage {
	state := Finished
	switch {
	case p.timedOut.Load():
		state = TimedOut
		result = failure("Timeout exceeded")
	case p.cancelled.Err() != nil:
		state = Cancelled
		result = failure("the job was cancelled")
	default:
		var r struct {
			Failed bool `json:"failed"`
		}
		if json.Unmarshal(result, &r) == nil && r.Failed {
			state = Failed
		}
	}
	if err := p.end(state, result); err != nil {
		return failure("cannot keep the result of the job: " + err.Error())
	}
	return result
}

func (p *process) end(state State, result json.RawMessage) error {
	p.ended.Store(true)
	if result != nil {
		if err := writeWhole(filepath.Join(p.dir, resultFile), result); err != nil {
			return err
		}
	}
	// The agent has written the pid meanwhile.
	if rec, err := readRecord(p.dir); err == nil {
		p.rec = rec
	}
	p.rec.State, p.rec.Ended = state, time.Now()
	return p.rec.write(p.dir)
}

func failure(msg string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"failed": true, "changed": false, "msg": msg})
	return raw
}
