package runner

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/mask"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// Config is a session's environment. Modules, Ask and Emit are needed; the zero value of the rest works for a plan that
// does not need it. Several goroutines of the session may call the funcs at once, but only one at a time calls Emit.
type Config struct {
	Modules *modules.Registry
	// Engine compiles templates; share one per process. Nil creates one for the session.
	Engine *templar.Engine
	// Ask sends a question to the controller and waits. Run, Play, Host and Step are set. An error means that the
	// controller is gone or ctx is done: the session then ends at once. A question without a good answer is Answer.Err.
	// The controller must see the events that were emitted before a question before it answers.
	Ask func(ctx context.Context, a wire.Ask) (wire.Answer, error)
	// Own says that the session is in the controller's own process. It evaluates every step and asks for what it needs.
	// Any other session hands over the controller's steps, and steps in which it needs something that it does not hold. It
	// asks only wire.AskStep, wire.AskOwn, blobs, uploads and bodies of plans.
	Own bool
	// Gate waits for the next Advance of the play that this session has not had yet, in the order of Seq. The session
	// stands at the step `at`. It decides itself whether the Advance concerns it, and asks again if not. With at "" Gate
	// does not wait: it returns the zero Advance when none has come (plays that are not gated look for EndPlay, Drop and
	// Fail between steps). Nil is for plays that are not gated.
	Gate func(ctx context.Context, at plan.ID) (wire.Advance, error)
	// Emit takes an event. It must not block for long; the receiver sets Seq.
	Emit func(wire.Event)

	// Cancelled, if set, is derived from the context of Run and done when the run is cancelled: the current step is
	// ended and reported as failed, always sections run, and the host leaves the plan.
	Cancelled context.Context

	// Call runs a module as the user that the invocation names. Nil runs all in this process.
	Call Caller
	// Jobs runs calls in the background (async).
	Jobs Jobs
	// Exec makes the Env.Exec of a module from the environment of its processes (KEY=value). Nil is modules.HostExec
	// as the agent's own user.
	Exec func(environ []string) func(context.Context, modules.Command) (modules.Output, error)
	// Environ is the environment that a login of the user gives, "" is the agent's own user. Nil: the process's own for
	// "", else made from the user database.
	Environ func(user string) ([]string, error)
	// Open reads a blob by its sha256 from the agent's cache, or pulls it. Nil pulls through Ask every time.
	Open func(ctx context.Context, digest string) (io.ReadCloser, error)
	// Sleep waits; it returns early with the context's error. Nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Hidden collects the secrets of a session of the controller's own process (ansible-core 2.22), and has those of the
	// run. With nil the session has its own.
	Hidden *mask.Masker
	// Now is this host's clock, nil for time.Now. Clock is the controller's, which templates use; nil for Now.
	Now, Clock func() time.Time
}

// The parts of a Config that are about running modules, see package call.
type (
	Caller     = call.Caller
	Invocation = call.Invocation
	Jobs       = call.Jobs
)

// here returns what runs modules on this host.
func (c Config) here() call.Host {
	return call.Host{Modules: c.Modules, Ask: c.Ask, Call: c.Call, Jobs: c.Jobs, Exec: c.Exec, Environ: c.Environ,
		Open: c.Open}
}

// Exec runs one call on this host for a step of another host and returns the module's result as JSON. Of the config it
// uses Modules, Ask (blobs and uploads, in the name of e.Host), Call, Jobs, Exec, Environ and Open.
func Exec(ctx context.Context, cfg Config, e wire.Exec) json.RawMessage {
	return cfg.here().Run(ctx, e)
}
