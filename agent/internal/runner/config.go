package runner

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// Config is what a session needs of the world. Modules, Ask and Emit are needed; the zero value of the rest works for a
// plan that does not need it. All funcs may be called from several goroutines of the session at once, Emit from one at a time.
type Config struct {
	Modules *modules.Registry
	// Engine compiles templates; share one per process. Nil makes one for the session.
	Engine *templar.Engine
	// Ask puts a question to the controller and waits. Run, Play, Host and Step are set. An error means that the
	// controller is gone or ctx is over: the session then ends at once. A question that has no good answer is Answer.Err.
	// The controller must see the events that were emitted before an ask before it answers.
	Ask func(ctx context.Context, a wire.Ask) (wire.Answer, error)
	// Gate waits for the next Advance of the play that this session has not had yet, in the order of Seq. The session
	// stands at the step `at`; it decides itself whether the Advance concerns it, and asks again if not. With at ""
	// Gate does not wait: it returns the zero Advance when none has come (plays that are not gated look for EndPlay, Drop and Fail
	// between steps). Nil is for plays that are not gated.
	Gate func(ctx context.Context, at plan.ID) (wire.Advance, error)
	// Emit takes an event. It must not block for long; the receiver sets Seq.
	Emit func(wire.Event)

	// Call runs a module as the user that the invocation names. Nil runs all in this process.
	Call Caller
	// Jobs runs calls in the background (async).
	Jobs Jobs
	// Exec makes the Env.Exec of a module from the environment of its processes (KEY=value). Nil is modules.HostExec as the agent's own user.
	Exec func(environ []string) func(context.Context, modules.Command) (modules.Output, error)
	// Environ is the environment that a login of the user gives, "" is the agent's own user. Nil: the process's own for
	// "", else made from the user database.
	Environ func(user string) ([]string, error)
	// Open reads a blob by its sha256 from the agent's cache, or pulls it. Nil pulls through Ask every time.
	Open func(ctx context.Context, digest string) (io.ReadCloser, error)
	// Sleep waits; it returns early with the context's error. Nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock, nil is time.Now.
	Now func() time.Time
}

// Caller runs one module on this host. Whatever happens to the module is a Result. It must honour ctx: when ctx is over the
// module's process group is ended and the Result no longer matters.
type Caller func(ctx context.Context, inv Invocation) modules.Result

// Invocation is a module call on this host with everything rendered.
type Invocation struct {
	Module *modules.Module
	// Call holds user, environment, check and so on; its Args are empty, see Wire.
	Call wire.Call
	Args map[string]any
	// Env is complete for a run in this process. A Caller that runs the module elsewhere serves Open, Upload,
	// RemoteSum, Warn and Progress of it and makes the rest there.
	Env *modules.Env
}

// Wire is the call with its arguments as JSON.
func (inv Invocation) Wire() (wire.Call, error) {
	c := inv.Call
	args, err := json.Marshal(inv.Args)
	c.Args = args
	return c, err
}

// Jobs are the background processes of the agent, as a session sees them. The maps are results as Ansible's async_wrapper and async_status
// return them.
type Jobs struct {
	// Start begins a job and returns started, finished, ansible_job_id and results_file. The deadline is inv.Call.Async.
	Start func(ctx context.Context, inv Invocation) (map[string]any, error)
	// Wait returns the result of the job when it has ended (finished: 1, the module's keys), calling progress
	// with its status every poll until then. After its deadline it returns what is known, finished: 0.
	Wait func(ctx context.Context, id string, poll time.Duration, progress func(map[string]any)) (map[string]any, error)
	// Status answers the "job" ask: mode is status, cleanup or cancel.
	Status func(ctx context.Context, id, mode string) (map[string]any, error)
}
