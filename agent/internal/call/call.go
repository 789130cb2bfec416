// Package call runs one module on this host: in this process, as another user, or as a background job, for a step of
// the host's own session or of another host's (delegate_to). It knows arguments, users and files of the controller,
// but no plans, templates or results of tasks.
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// Host is what it takes to run modules here. Modules and Ask are needed; the zero value of the rest is for calls that
// do not need it. All funcs may be called from several goroutines at once.
type Host struct {
	Modules *modules.Registry
	// Ask puts a question to the controller: blobs and uploads.
	Ask Ask
	// Call runs a module as the user that the invocation names. Nil runs all in this process.
	Call Caller
	Jobs Jobs
	// Exec makes the Env.Exec of a module from the environment of its processes (KEY=value). Nil is
	// modules.HostExec as the agent's own user.
	Exec func(environ []string) func(context.Context, modules.Command) (modules.Output, error)
	// Environ is the environment that a login of the user gives, "" is the agent's own user. Nil: the
	// process's own for "", else made from the user database.
	Environ func(user string) ([]string, error)
	// Open reads a blob by its sha256 from the agent's cache, or pulls it. Nil pulls through Ask every time.
	Open func(ctx context.Context, digest string) (io.ReadCloser, error)
}

// Ask puts a question to the controller. The error says that it is gone, or is the context's.
type Ask func(ctx context.Context, a wire.Ask) (wire.Answer, error)

// Caller runs one module on this host. Whatever happens to the module is a Result. It must honour ctx: when ctx is
// over the module's process group is ended and the Result no longer matters.
type Caller func(ctx context.Context, inv Invocation) modules.Result

// Invocation is a module call on this host with everything rendered.
type Invocation struct {
	Module *modules.Module
	// Call holds user, environment, check and so on; its Args are empty, see Wire.
	Call wire.Call
	Args *value.Dict
	// Run is the run whose step it is.
	Run string
	// Env is complete for a run in this process. A Caller that runs the module elsewhere serves Open, Upload,
	// RemoteSum, Warn and Progress of it and makes the rest there.
	Env *modules.Env
}

// Wire returns the call with its arguments as JSON, in the task's order.
func (inv Invocation) Wire() wire.Call {
	c := inv.Call
	c.Args = value.PlainJSON(inv.Args)
	return c
}

// AsyncDir returns where Ansible would keep the files of the user's jobs.
func (inv Invocation) AsyncDir() string {
	dir := inv.Call.AsyncDir
	if dir == "" {
		dir = "~/.ansible_async"
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		dir = inv.Env.Getenv("HOME") + rest
	}
	return filepath.Clean(dir)
}

// Jobs are the background processes of the agent, as calls see them. The maps are results as Ansible's async_wrapper
// and async_status return them.
type Jobs struct {
	// Start begins a job and returns started, finished, ansible_job_id and results_file. The deadline is
	// inv.Call.Async.
	Start func(ctx context.Context, inv Invocation) (*value.Dict, error)
	// Wait returns the result of a job of the run when it has ended (finished: 1, the module's keys). After its
	// deadline it returns what is known, finished: 0.
	Wait func(ctx context.Context, run, id string) (*value.Dict, error)
	// Status returns what async_status reports about a job, see modules.Asks.
	Status func(ctx context.Context, q modules.JobQuery) (*value.Dict, error)
	// Over is closed when the job has ended, or is not known.
	Over func(id string) <-chan struct{}
	// Manage answers `hark jobs`. The error is why it may not be answered.
	Manage func(ctx context.Context, q wire.JobsQuery) (wire.JobsReply, error)
	// Afoot are the jobs that have not ended, the oldest first.
	Afoot func() []wire.Job
}

// NoJobError says that the host cannot start a job, for example because it lacks processes or descriptors.
type NoJobError struct{ Err error }

func (e *NoJobError) Error() string { return "cannot start a job: " + e.Err.Error() }
func (e *NoJobError) Unwrap() error { return e.Err }

// Tell is Status where there are jobs, and an error where there are none.
func (j Jobs) Tell(ctx context.Context, q modules.JobQuery) (*value.Dict, error) {
	if j.Status == nil {
		return nil, errors.New("internal error: this agent has no jobs")
	}
	return j.Status(ctx, q)
}

// Perform runs a call: at once, or as a job, which is awaited if Poll is set. It gives the module's result. progress is
// told once that a job is awaited, and in the end its result, with last set.
func (h Host) Perform(ctx context.Context, inv Invocation, progress func(status *value.Dict, last bool)) *value.Dict {
	if inv.Call.Async == 0 {
		return h.invoke(ctx, inv)
	}
	if h.Jobs.Start == nil {
		return failed("internal error: this agent cannot run jobs")
	}
	started, err := h.Jobs.Start(ctx, inv)
	var none *NoJobError
	if errors.As(err, &none) { // a result of the module, as of Ansible's async_wrapper: other items of a loop go on
		return value.DictOf("failed", true, "changed", false, "msg", err.Error())
	}
	if err != nil {
		return failed(err.Error())
	}
	started.Put("changed", true)
	if inv.Call.Poll == 0 || started.True("failed") {
		return started
	}
	id, file := started.Text("ansible_job_id"), started.Text("results_file")
	progress(value.DictOf("ansible_job_id", id, "started", int64(1), "finished", int64(0), "results_file", file), false)
	res, err := h.await(ctx, inv, id)
	if err != nil {
		return failed(err.Error())
	}
	told := res.Copy()
	for _, stream := range []string{"stdout", "stderr"} {
		told.Delete(value.Str(stream + "_lines"))
	}
	progress(told, true)
	return res
}

// await returns what the task has of a job that it waits for.
func (h Host) await(ctx context.Context, inv Invocation, id string) (*value.Dict, error) {
	res, err := h.Jobs.Wait(ctx, inv.Run, id)
	if err != nil {
		return nil, err
	}
	if res.True("finished") {
		return withStreams(res), nil
	}
	return value.DictOf(
		"failed", true, "msg", fmt.Sprintf("async task did not complete within the requested time - %ds",
			int64(inv.Call.Async/time.Second)),
		"async_result", lastLook(res, inv),
	), nil
}

// over reports whether a job ends before patience does.
func (h Host) over(ctx context.Context, id string, patience time.Duration) *value.Dict {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-h.Jobs.Over(id):
		return value.DictOf("over", true)
	case <-ctx.Done():
		return value.DictOf("over", false)
	}
}

// lastLook completes the status of a job that ran into its limit to what Ansible's last look with async_status gives.
func lastLook(status *value.Dict, inv Invocation) *value.Dict {
	status = withStreams(status)
	for _, stream := range []string{"stdout", "stderr"} {
		status.Put(stream+"_lines", []any{})
	}
	status.Put("invocation", value.DictOf("module_args", value.DictOf(
		"_async_dir", inv.AsyncDir(), "jid", status.Text("ansible_job_id"), "mode", "status",
	)))
	return status
}

// withStreams returns the result of a job with what every job's has in Ansible, in the order of async_status.
func withStreams(res *value.Dict) *value.Dict {
	out := value.NewDict()
	take := func(name string, otherwise value.Value) {
		v, ok := res.Get(name)
		if !ok {
			v = otherwise
		}
		if v != nil {
			out.SetKey(value.UnsafeStr(name), v)
		}
	}
	take("started", nil)
	take("finished", nil)
	take("stdout", value.UnsafeStr(""))
	take("stderr", value.UnsafeStr(""))
	for _, stream := range []string{"stdout", "stderr"} {
		if text, _ := out.Get(stream); value.IsText(text) {
			take(stream+"_lines", value.NewLines(text))
		}
	}
	for i := range res.Len() {
		k, v := res.Kept(i)
		out.SetKey(k, v)
	}
	return out
}

// LeftBehind is the key of a result that says that something could not be ended: msg says what.
const LeftBehind = "left_behind"

// endLimit is how long a module may take to end when its time is over: the processes that it runs need TERM, grace
// and KILL.
const endLimit = 4 * time.Second

// invoke runs the module. One that does not end when its time is over is left behind: it holds nobody up.
func (h Host) invoke(ctx context.Context, inv Invocation) *value.Dict {
	done := make(chan *value.Dict, 1)
	go func() { done <- h.perform(ctx, inv) }()
	select {
	case res := <-done:
		return res
	case <-ctx.Done():
	}
	late := time.NewTimer(endLimit)
	defer late.Stop()
	select {
	case res := <-done:
		if res.Has("stuck_pid") {
			res.Put(LeftBehind, true)
		}
		return res
	case <-late.C:
		res := failed("the module " + inv.Module.Name + " does not end and was left behind")
		res.Put(LeftBehind, true)
		return res
	}
}

// perform runs the module to its end. What breaks on the way fails this call and nothing else.
func (h Host) perform(ctx context.Context, inv Invocation) (res *value.Dict) {
	defer func() {
		if p := recover(); p != nil {
			msg := fmt.Sprintf("internal error: the call of %s broke: %v", inv.Module.Name, p)
			res = failed(msg)
			res.Put("exception", string(debug.Stack())+"\n"+msg)
		}
	}()
	if h.Call == nil || inv.Module.Has(modules.AsksForJobs) {
		return inv.InProcess(ctx).Dict()
	}
	return h.Call(ctx, inv).Dict()
}

func failed(msg string) *value.Dict { return value.DictOf("failed", true, "msg", msg) }

// Run runs a call on behalf of a step of another host and gives the module's result as JSON. Its asks are in the name
// of e.Host.
func (h Host) Run(ctx context.Context, e wire.Exec) json.RawMessage {
	res := h.run(ctx, e)
	if err := value.Showable(res); err != nil {
		res = failed("the result cannot be sent to the controller: " + err.Error())
	}
	return value.PlainJSON(res)
}

func (h Host) run(ctx context.Context, e wire.Exec) *value.Dict {
	if e.Call.Module == wire.JobsModule {
		return h.manage(ctx, e.Call.Args)
	}
	if e.Call.Await != "" && h.Jobs.Wait == nil {
		return failed("internal error: this agent cannot run jobs")
	}
	if e.Call.Patience > 0 {
		return h.over(ctx, e.Call.Await, e.Call.Patience)
	}
	mod, ok := h.Modules.Get(e.Call.Module)
	if !ok {
		return failed(fmt.Sprintf("the agent of %s does not know the module %s", e.Host, e.Call.Module))
	}
	args, err := ReadArgs(e.Call.Args)
	if err != nil {
		return failed("internal error: cannot read the arguments: " + err.Error())
	}
	if e.Call.Timeout > 0 && e.Call.Async == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Call.Timeout)
		defer cancel()
	}
	env, err := h.Env(e.Call, mod, e.Origin, func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
		a.Run, a.Play, a.Host, a.Step = e.Run, e.Play, e.Host, e.Step
		return h.Ask(ctx, a)
	})
	if err != nil {
		return failed(err.Error())
	}
	inv := Invocation{Module: mod, Call: e.Call, Args: args, Run: e.Run, Env: env.Env}
	if e.Call.Await != "" {
		res, err := h.await(ctx, inv, e.Call.Await)
		if err != nil {
			return failed(err.Error())
		}
		return res
	}
	return env.Merge(h.Perform(ctx, inv, func(*value.Dict, bool) {}))
}

// manage answers a question about jobs: raw is a wire.JobsQuery, the result a wire.JobsReply.
func (h Host) manage(ctx context.Context, raw json.RawMessage) *value.Dict {
	if h.Jobs.Manage == nil {
		return failed("this agent has no jobs")
	}
	var q wire.JobsQuery
	if err := json.Unmarshal(raw, &q); err != nil {
		return failed("cannot read the question about jobs: " + err.Error())
	}
	reply, err := h.Jobs.Manage(ctx, q)
	if err != nil {
		return failed(err.Error())
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return failed("cannot write the answer about jobs: " + err.Error())
	}
	answer, err := ReadArgs(text)
	if err != nil {
		return failed("internal error: " + err.Error())
	}
	return answer
}

// ReadArgs reads arguments as modules take them, in their order.
func ReadArgs(raw json.RawMessage) (*value.Dict, error) {
	v, err := value.ParseJSON(strings.ToValidUTF8(string(raw), "\ufffd"), value.KindUnsafe)
	if err != nil {
		return nil, err
	}
	args, ok := v.(*value.Dict)
	if !ok {
		args = value.NewDict()
	}
	return args, nil
}
