package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Main is the process of one job. It serves the one call that the agent hands it, keeps its limit, and writes the
// result and the state into dir. run runs the module, as another user if need be.
func Main(dir string, registry *modules.Registry, run call.Caller) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := adoptOrphans(); err != nil {
		return fmt.Errorf("cannot keep the processes of the job together: %w", err)
	}
	from, to := os.NewFile(fromAgent, "from-agent"), os.NewFile(toAgent, "to-agent")
	for _, fd := range []int{fromAgent, toAgent, lockHeld} {
		syscall.CloseOnExec(fd)
	}
	p := &process{dir: dir, module: run, cancelled: ctx, began: time.Now()}
	server := &peer.Server{Modules: registry, Call: p.run, Done: p.done}
	if err := server.Serve(context.Background(), from, to); err != nil {
		return err
	}
	if !p.ended.Load() {
		return p.end(Lost, nil)
	}
	return nil
}

// process is the state of a job's process.
type process struct {
	dir       string
	rec       record
	module    call.Caller
	cancelled context.Context
	began     time.Time
	timedOut  atomic.Bool
	ended     atomic.Bool
	// left are the processes that could not be ended.
	left []stat
}

// run runs the module within its limit. When that is over, or the job is cancelled, it ends everything that the job has
// started.
func (p *process) run(ctx context.Context, inv call.Invocation) modules.Result {
	var err error
	if p.rec, err = readRecord(p.dir); err != nil {
		return modules.Result{Failed: true, Msg: "internal error: the job cannot read what it is: " + err.Error()}
	}
	announceResults(p.rec)
	inv.Env.Open = provided(p.dir, inv.Env.Open)
	out := p.capture(inv.Env)
	defer out.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.cancelled, cancel)()
	if p.rec.Limit > 0 {
		limit := time.AfterFunc(p.rec.Limit-time.Since(p.began), func() {
			p.timedOut.Store(true)
			cancel()
		})
		defer limit.Stop()
	}
	done := make(chan modules.Result, 1)
	go func() { // a module that ignores its context is left behind
		done <- p.module(ctx, inv)
		close(done) // endAll may come when the result was taken
	}()
	res, over := p.await(ctx, done)
	if over {
		p.endAll(done)
	}
	return res
}

// endAll ends what the job has started, and what the module was about to start.
func (p *process) endAll(done <-chan modules.Result) {
	p.left = end(p.others, p.rec.Group, grace)
	select {
	case <-done:
	case <-time.After(patience):
	}
	if len(p.left) == 0 {
		p.left = end(p.others, p.rec.Group, 0)
	}
}

// capture writes the output of the job's processes to its files, and sends it to the agent if that listens.
func (p *process) capture(env *modules.Env) *output {
	out := &output{dir: p.dir, off: p.rec.NoLog}
	agent := env.Live
	env.Live = func(stderr bool, chunk []byte) {
		out.write(stderr, chunk)
		if agent != nil {
			agent(stderr, chunk)
		}
	}
	env.Exec = modules.LiveExec(env.Environ, nil, env.Live)
	return out
}

// await waits for the module, and reaps the zombies that it leaves. over says that the job was ended.
func (p *process) await(ctx context.Context, done <-chan modules.Result) (res modules.Result, over bool) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	passed := map[int]bool{}
	for {
		select {
		case res := <-done:
			return res, ctx.Err() != nil
		case <-ctx.Done():
			return modules.Result{}, true
		case <-tick.C:
			passed = bury(passed)
		}
	}
}

// others returns all processes of the job except its own.
func (p *process) others() []stat {
	all := descendants(os.Getpid())
	for _, s := range members(p.rec.Group) {
		if s.pid != os.Getpid() {
			all = append(all, s)
		}
	}
	return all
}

// done writes the result and then the state, before the agent hears of them.
func (p *process) done(_ *peer.Job, result json.RawMessage) json.RawMessage {
	state := Finished
	result = p.wrapped(result)
	switch {
	case p.timedOut.Load():
		state, result = TimedOut, p.failure(timedOutText)
	case p.cancelled.Err() != nil && cancelled(p.dir):
		state, result = Cancelled, p.failure(cancelledText)
	case p.cancelled.Err() != nil, failedResult(result) && hostEnds():
		state, result = Lost, p.failure(jobText)
	case failedResult(result):
		state = Failed
	}
	result = shortened(result)
	if err := p.end(state, result); err != nil {
		return p.failure("cannot keep the result of the job: " + err.Error())
	}
	return result
}

// wrapped returns the result of a module that produced none, in the form of Ansible's async_wrapper.py; it returns
// others unchanged.
func (p *process) wrapped(result json.RawMessage) json.RawMessage {
	var r map[string]json.RawMessage
	if json.Unmarshal(result, &r) != nil || r["module_stderr"] == nil {
		return result
	}
	raw, _ := json.Marshal(map[string]any{ // plain data always encodes
		"failed": true, "changed": false, "cmd": p.rec.Module, "data": r["module_stdout"], "stderr": r["module_stderr"],
		"msg": "Traceback (most recent call last):\nValueError: No start of json char found\n",
	})
	return raw
}

func failedResult(result json.RawMessage) bool {
	var r struct {
		Failed bool `json:"failed"`
	}
	return json.Unmarshal(result, &r) == nil && r.Failed
}

func (p *process) end(state State, result json.RawMessage) error {
	p.ended.Store(true)
	unprovide(p.dir)
	if p.rec.ID == "" { // it never came to the call
		rec, err := readRecord(p.dir)
		if err != nil {
			return err
		}
		p.rec = rec
	}
	p.rec.State, p.rec.Ended = state, time.Now()
	if state == Lost {
		p.rec.Why = jobText
		if result == nil {
			p.rec.Why = "the job was lost: the agent went away before it had told what to do"
		}
	}
	if result != nil {
		kept := result
		if p.rec.NoLog {
			kept = censored(result)
		}
		if err := atomicfile.WriteLoose(filepath.Join(p.dir, resultFile), kept); err != nil {
			return err
		}
		writeResults(p.rec, kept)
	}
	return p.rec.seal(p.dir)
}

// censored returns what is kept of a no_log result.
func censored(raw json.RawMessage) json.RawMessage {
	said := result.Decode(raw)
	kept := value.DictOf("censored", result.Hidden, "changed", said.Changed())
	if said.Failed() {
		kept.Put("failed", true)
	}
	return value.PlainJSON(kept)
}

// failure returns the result of a job that was ended. It names the processes that could not be ended.
func (p *process) failure(msg string) json.RawMessage {
	res := map[string]any{"failed": true, "changed": false, "msg": msg, "child_pid": os.Getpid()}
	var stuck []string
	for _, s := range p.left {
		stuck = append(stuck, fmt.Sprintf("process %d (%s) cannot be ended: it is in state %s", s.pid, s.name, s.state))
	}
	if len(stuck) > 0 {
		res["stuck"] = stuck
		res["msg"] = msg + "; " + strings.Join(stuck, "; ")
	}
	raw, _ := json.Marshal(res) // plain data always encodes
	return raw
}
