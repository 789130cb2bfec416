package runner

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// caller runs the module of a task once: in the session, on this host, on another one, or in the background. Errors of
// the call itself are results. An error is a *fault, which fails the task, or else it breaks the run.
type caller struct {
	runTarget
	mod *modules.Module // nil if there is no module of the name
	// name is the task's rendered name; title is how Ansible shows it, kept how a list of jobs does.
	name, title, kept string
	// invocation asks for the arguments in the result.
	invocation bool
	view       *hostView
	turn       *turn // of an item that runs together with others, else nil
	failure    *failureReport
	// tell reports a job that is awaited, and then, with last, its end.
	tell func(res *result.Result, last bool)
}

// run runs the module within the task's time.
func (c *caller) run(ctx context.Context) (*result.Result, error) {
	limit := time.Duration(c.f.timeout) * time.Second
	if c.background() {
		limit = 0 // a job has a limit of its own; in Ansible timeout is for its start only
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	res, err := c.guarded(within)
	if broken := c.e.g.line.broken(); broken != nil {
		return nil, broken
	}
	if ctx.Err() != nil && (err != nil || res == nil || res.Status() == result.Failed) {
		return nil, ctx.Err() // what was done still counts
	}
	if limit > 0 && within.Err() != nil {
		return final(c.tooLate(res)), nil
	}
	return res, err
}

// background reports whether the module runs as a job. Check mode runs it inline.
func (c *caller) background() bool { return c.f.async > 0 && !c.f.check }

// tooLate returns the result of a call that took longer than its timeout. It names the processes that could not be
// ended.
func (c *caller) tooLate(res *result.Result) *result.Result {
	if c.e.has(dialect.TimedOut) {
		return c.e.timedOut(c.f.timeout)
	}
	msg := fmt.Sprintf("The %s action failed to execute in the expected time frame (%d) and was terminated", c.e.s.Written,
		c.f.timeout)
	if res == nil || !res.Has(call.LeftBehind) {
		return failure("%s", msg)
	}
	late := failure("%s, but %s", msg, res.Text("msg"))
	late.Set(call.LeftBehind, value.Bool(true))
	return late
}

// guarded dispatches the call. A panic on the way fails this task and nothing else.
func (c *caller) guarded(ctx context.Context) (res *result.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			msg := fmt.Sprintf("internal error: the call of %s broke: %v", c.e.s.Action, p)
			res, err = final(failure("%s", msg)), nil
			res.Set("exception", value.UnsafeStr(string(debug.Stack())+"\n"+msg))
		}
	}()
	return c.dispatch(ctx)
}

// failure returns the result of a task that failed before its module, or in its place.
func failure(format string, a ...any) *result.Result {
	res := result.New()
	res.Set("failed", value.Bool(true))
	res.Set("msg", value.UnsafeStr(fmt.Sprintf(format, a...)))
	return res
}

// dispatch decides who runs the module.
func (c *caller) dispatch(ctx context.Context) (*result.Result, error) {
	if err := c.plugged(); err != nil {
		return nil, c.e.check(ctx, err)
	}
	plugged, err := c.byPlugin(ctx, c.mod)
	if err != nil {
		return nil, err
	}
	if plugged && c.background() {
		return nil, &fault{text: "async is not run over the connection " + c.f.connection +
			", which ansible-core opens for each task"}
	}
	if c.e.s.Plugin != nil || c.f.otherFacts || plugged {
		return c.act(ctx)
	}
	if c.mod == nil {
		return nil, &fault{text: dialect.ModuleNotFound.Text(c.e.s.Written)}
	}
	args, err := c.arguments(ctx)
	if err != nil {
		return nil, c.e.check(ctx, err)
	}
	if c.f.async > 0 && c.mod.Session {
		r := modules.Failure(modules.NoAsync(c.e.s.Written, c.e.has(dialect.AsyncWords)))
		r.Marks.FailedBy = ""
		return final(resultOf(nil, r)), nil
	}
	if c.f.check && c.mod.NoCheck {
		return c.unchecked(), nil
	}
	if c.mod.Has(modules.AsksForJobs) {
		if status := c.e.g.checked.status(modules.Str(modules.Argument(args, "jid"))); status != nil {
			return status, nil
		}
	}
	return c.perform(ctx, args)
}

// perform runs a native module with its arguments.
func (c *caller) perform(ctx context.Context, args *value.Dict) (*result.Result, error) {
	wired, err := c.wireCall(ctx, c.mod)
	if err != nil {
		return nil, err
	}
	d := &moduleHost{e: c.e, mod: c.mod, local: c.isLocal, host: c.onHost, failure: c.failure}
	env, err := d.env(wired, c.runTarget, c.title)
	if err != nil {
		return final(failure("%v", err)), nil
	}
	if c.mod.Session {
		res, err := c.inSession(ctx, env, args)
		if c.e.g.held.undone() {
			return nil, errBeyond
		}
		return res, err
	}
	if err := c.mod.Resolve(ctx, env.Env, args); err != nil {
		r := modules.Failure(err)
		c.failure.staged = !r.Data.Has("checksum") // with one, Ansible's copy had come to the module
		if r.Raised && c.mod.Foreign {
			return nil, c.e.check(ctx, &fault{text: r.Msg})
		}
		return c.completed(ctx, resultOf(env, r)), nil
	}
	if wired.Async > 0 || c.away() {
		wired.Files = d.files()
	}
	inv := call.Invocation{Module: c.mod, Call: wired, Args: args, Run: c.e.g.start.Run, Env: env.Env}
	if c.away() {
		return c.runRemote(ctx, inv, env)
	}
	return c.onThisHost(ctx, inv, env)
}

// onThisHost runs the module on the session's host.
func (c *caller) onThisHost(ctx context.Context, inv call.Invocation, env *call.Env) (*result.Result, error) {
	if reason := c.e.g.start.Absent; reason != "" {
		return unreachableOn(reason), nil
	}
	if err := c.e.g.held.commits(); err != nil {
		return nil, err
	}
	unfollow := c.follow(inv)
	out := env.Merge(c.turn.host(c.e.g.cfg.here()).Perform(ctx, inv,
		func(d *value.Dict, last bool) { c.tell(result.Of(d), last) }))
	unfollow()
	if neverRan(out) {
		return nil, c.e.check(ctx, &fault{text: out.Text("msg")})
	}
	if err := c.strict(ctx, out); err != nil {
		return nil, err
	}
	res := c.completed(ctx, result.Of(out))
	c.discover(inv.Call, env.Env, res)
	return res, nil
}

// neverRan reports whether the module was not reached, for example because a password is missing. Then the result says
// only why.
func neverRan(out *value.Dict) bool { return out.Len() == 2 && out.True("failed") && out.Has("msg") }

// runRemote has the controller run the call on the host that the task is delegated to.
func (c *caller) runRemote(ctx context.Context, inv call.Invocation, env *call.Env) (*result.Result, error) {
	res, err := c.remote().run(ctx, inv.Wire())
	if err != nil || res.Final {
		return res, err
	}
	addWarnings(res, env.Warnings())
	if err := c.strict(ctx, res.Dict); err != nil {
		return nil, err
	}
	return c.completed(ctx, res), nil
}

// strict refuses what a module returned if a text in it is no UTF-8, as ansible-core does since 2.19.
func (c *caller) strict(ctx context.Context, out *value.Dict) error {
	if !c.e.has(dialect.StrictText) || c.e.g.play.AnyText || c.mod.Has(modules.IsAction) {
		return nil
	}
	why := value.NotUTF8(out)
	if why == "" {
		return nil
	}
	msg := "Refusing to deserialize an invalid UTF8 string value: " + why
	return c.e.check(ctx, &fault{text: msg, links: []link{{
		msg: msg, help: "This check can be disabled with the `MODULE_STRICT_UTF8_RESPONSE` setting.",
		spot: spot{nowhere: true},
	}}})
}

func (c *caller) remote() remoteCaller {
	return remoteCaller{runTarget: c.runTarget, turn: c.turn, tell: c.tell}
}

// isLocal reports whether the task's connection is local.
func (c *caller) isLocal(context.Context) (bool, error) {
	if !c.delegated() && c.f.connection == "local" {
		return true, nil
	}
	if !c.away() {
		return false, errSameHost
	}
	return false, nil
}

// onHost runs another module on the task's host, for a session module that runs elsewhere.
func (c *caller) onHost(ctx context.Context, name string, args *value.Dict) (*value.Dict, error) {
	if !c.away() {
		return nil, errSameHost
	}
	mod, ok := c.e.g.cfg.Modules.Get(name)
	if !ok {
		return nil, fmt.Errorf("internal error: there is no module %s", name)
	}
	wired, err := c.wireCall(ctx, mod)
	if err != nil {
		return nil, err
	}
	wired.Name, wired.Check, wired.Diff, wired.Async, wired.Invocation = mod.Name, false, false, 0, false
	env := &call.Env{Env: &modules.Env{}}
	res, err := c.runRemote(ctx, call.Invocation{Module: mod, Call: wired, Args: args, Env: env.Env}, env)
	if err != nil {
		return nil, err
	}
	return res.Dict, nil
}

// unchecked returns the result of a module that does not support check mode. It is judged like any other: until does
// not hold if it asks for a value that is missing.
func (c *caller) unchecked() *result.Result {
	res := result.New()
	res.Set("skipped", value.Bool(true))
	name := c.e.s.Written
	if c.mod.ReportsAs != "" {
		name = c.mod.ReportsAs
	}
	res.Set("msg", value.Str(fmt.Sprintf("remote module (%s) does not support check mode", name)))
	return res
}

// inSession runs a session module here. An error that Ansible raises itself, not its module, fails the task as a fault.
func (c *caller) inSession(ctx context.Context, env *call.Env, args *value.Dict) (*result.Result, error) {
	r := c.mod.Run(ctx, env.Env, args)
	if cause := c.failure.cause; r.Raised && cause != nil && strings.Contains(r.Msg, cause.text) {
		return nil, cause
	}
	why, where, placed := strings.Cut(r.Msg, "\nOrigin: ")
	switch {
	case r.Raised && placed && c.e.has(dialect.FailureCauses):
		return nil, &fault{text: why, links: []link{{msg: why, spot: spot{file: strings.TrimRight(where, "\n")}}}}
	case r.Raised:
		return nil, c.e.check(ctx, &fault{text: r.Msg, kind: r.Class, class: r.Class})
	}
	return resultOf(env, r), nil
}

// resultOf returns a module's result as a value, with the warnings of its call if there was one. What modules return is
// never a template.
func resultOf(env *call.Env, r modules.Result) *result.Result {
	if env != nil {
		r.Warnings = append(r.Warnings, env.Warnings()...)
	}
	return result.Of(r.Dict())
}

// wireCall returns the call without its arguments.
func (c *caller) wireCall(ctx context.Context, mod *modules.Module) (wire.Call, error) {
	environment := map[string]string{}
	for i := 0; i < c.f.environment.Len(); i++ {
		k, v := c.f.environment.At(i)
		name, _ := value.ToStr(k)
		text, err := value.ToStr(v)
		if err != nil {
			return wire.Call{}, c.e.check(ctx, err)
		}
		environment[name] = text
	}
	user, err := c.runAs(ctx)
	if err != nil {
		return wire.Call{}, err
	}
	reach, err := c.reach(ctx)
	if err != nil {
		return wire.Call{}, err
	}
	out := wire.Call{
		Module: mod.Name, Name: c.e.s.Written, Check: c.f.check, Diff: c.f.diff, NoLog: c.f.noLog,
		Verbosity: c.e.g.play.Verbosity, Level: c.e.g.play.Level,
		User: user, Reach: reach, Environment: environment, Timeout: time.Duration(c.f.timeout) * time.Second,
		Invocation: c.invocation,
	}
	if c.background() {
		out.Async, out.Poll = time.Duration(c.f.async)*time.Second, time.Duration(max(0, c.f.poll))*time.Second
		out.Task = c.kept
		v, err := c.option(ctx, "ansible_async_dir")
		if err != nil {
			return wire.Call{}, err
		}
		out.AsyncDir, _ = value.Text(v)
	}
	if out.Dir, err = c.dir(ctx); err != nil {
		return wire.Call{}, err
	}
	out.Interpreter, err = c.interpreter(ctx)
	return out, err
}

// jobEnd returns a func that waits for the end of a job that a result of this call reports as running; it returns false
// if it does not know. It is nil if the result reports no running job.
func (c *caller) jobEnd(res *result.Result, patience time.Duration) func(context.Context) bool {
	id := res.Job()
	if id == "" || res.True("finished") || !c.e.g.cfg.Modules.Has(c.e.s.Action, modules.AsksForJobs) {
		return nil
	}
	if c.away() {
		return func(ctx context.Context) bool { return c.remote().over(ctx, id, patience) }
	}
	over := c.e.g.cfg.Jobs.Over
	if over == nil {
		return nil
	}
	return func(ctx context.Context) bool {
		select {
		case <-over(id):
			return true
		case <-ctx.Done():
			return false
		}
	}
}
