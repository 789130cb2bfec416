package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/outside"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// dispatch renders the call to where it runs: in the session, on this host, on another one, or in the background.
func (x *execution) dispatch(ctx context.Context) (*result.Result, error) {
	if err := x.plugged(); err != nil {
		return nil, x.e.check(ctx, err)
	}
	plugged, err := byPlugin(ctx, x)
	if err != nil {
		return nil, err
	}
	if plugged && x.f.async > 0 && !x.f.check {
		return nil, &fault{text: "async is not run over the connection " + x.f.connection + ", which ansible-core opens for each task"}
	}
	if x.e.s.Plugin != nil || x.f.otherFacts || plugged {
		return x.act(ctx)
	}
	mod := x.t.mod
	if mod == nil {
		return nil, &fault{text: "The module " + x.e.s.Written + " was not found in configured module paths"}
	}
	if mod.Has(modules.SetsVariables) {
		if err := x.renderNames(ctx); err != nil {
			return nil, err
		}
	}
	args, err := x.arguments(mod)
	if err != nil {
		return nil, x.e.check(ctx, err)
	}
	if x.f.async > 0 && mod.Session {
		return final(resultOf(nil, modules.Failure(modules.ActionFail("", "async is not supported for this task.")))), nil
	}
	if x.f.check && mod.NoCheck {
		return x.unchecked(mod), nil
	}
	if status := x.checkedStatus(mod, args); status != nil {
		return status, nil
	}
	c, err := x.wireCall(ctx, mod)
	if err != nil {
		return nil, err
	}
	env, err := x.env(c, mod)
	if err != nil {
		return final(failure("%v", err)), nil
	}
	if mod.Session {
		res, err := x.inSession(ctx, mod, env, args)
		if x.e.r.held.undone() {
			return nil, errBeyond
		}
		return res, err
	}
	if err := mod.Resolve(ctx, env.Env, args); err != nil {
		x.staged = true
		r := modules.Failure(err)
		if r.Raised && mod.Foreign {
			return nil, x.e.check(ctx, &fault{text: r.Msg})
		}
		return x.hostResult(ctx, resultOf(env, r)), nil
	}
	if c.Async > 0 || x.away() {
		c.Files = digests(x.named)
	}
	inv := call.Invocation{Module: mod, Call: c, Args: args, Run: x.e.r.start.Run, Env: env.Env}
	if x.away() {
		return x.elsewhere(ctx, inv, env)
	}
	if reason := x.e.r.start.Absent; reason != "" {
		return unreachableFor(reason), nil
	}
	if err := x.e.r.held.commits(); err != nil {
		return nil, err
	}
	unfollow := x.follow(inv)
	out := env.Merge(x.host().Perform(ctx, inv, func(d *value.Dict, last bool) { x.progress(result.Of(d.Copy()), last) }))
	unfollow()
	if neverRan(out) {
		return nil, x.e.check(ctx, &fault{text: out.Text("msg")})
	}
	res := x.hostResult(ctx, result.Of(out))
	x.discover(c, env.Env, res)
	return res, nil
}

// neverRan tells a module that was not reached, such as for want of a password: nothing is said then but why.
func neverRan(out *value.Dict) bool { return out.Len() == 2 && out.True("failed") && out.Has("msg") }

// delegated tells that the module runs on another host.
func (x *execution) delegated() bool {
	return x.f.delegate != "" && x.f.delegate != x.e.r.start.Host
}

// away tells that the module does not run where the session does; target is the host then.
func (x *execution) away() bool { return x.delegated() || x.e.r.start.Remote && !x.here() }

func (x *execution) target() string {
	if x.delegated() {
		return x.f.delegate
	}
	return x.e.r.start.Host
}

// unchecked is the result of a module that does not know check mode. It is judged like any other: until does not hold
// for want of what it asks for.
func (x *execution) unchecked(mod *modules.Module) *result.Result {
	res := result.New()
	res.Set("skipped", value.Bool(true))
	name := x.e.s.Written
	if mod.ReportsAs != "" {
		name = mod.ReportsAs
	}
	res.Set("msg", value.Str(fmt.Sprintf("remote module (%s) does not support check mode", name)))
	return res
}

// inSession runs a session module here. What in Ansible is an error of its own, and not of the module, fails the task as a fault does.
func (x *execution) inSession(ctx context.Context, mod *modules.Module, env *call.Env, args *value.Dict) (*result.Result, error) {
	r := mod.Run(ctx, env.Env, args)
	if r.Raised && x.cause != nil && strings.Contains(r.Msg, x.cause.text) {
		return nil, x.cause
	}
	if r.Raised {
		return nil, x.e.check(ctx, &fault{text: r.Msg})
	}
	return resultOf(env, r), nil
}

// renderNames renders the names of set_fact's arguments, which may be templates too.
func (x *execution) renderNames(ctx context.Context) error {
	out := value.NewDict()
	for i := 0; i < x.f.args.Len(); i++ {
		k, v := x.f.args.At(i)
		name, err := x.e.tpl.Template(ctx, k)
		if err != nil {
			return x.e.check(ctx, err)
		}
		if !value.IsText(name) {
			name = k
		}
		out.SetKey(name, v)
	}
	x.f.args = out
	return nil
}

// arguments are those that a module gets: plain and unsafe, since what it tells of them is no template. One that sets variables gets them as they are.
func (x *execution) arguments(mod *modules.Module) (*value.Dict, error) {
	v, err := value.ToPlain(x.f.args)
	if err != nil {
		return nil, err
	}
	args := v.(*value.Dict)
	if mod.Has(modules.SetsVariables) {
		args = x.f.args.Copy()
	}
	for _, name := range mod.Unrendered { // it renders them itself
		raw, ok := x.e.s.Args.Get(name)
		if !ok {
			continue
		}
		if raw, err = value.ToPlain(raw); err != nil {
			return nil, err
		}
		args.Put(name, raw)
	}
	return args, nil
}

// wireCall is the call without its arguments.
func (x *execution) wireCall(ctx context.Context, mod *modules.Module) (wire.Call, error) {
	environment := map[string]string{}
	for i := 0; i < x.f.environment.Len(); i++ {
		k, v := x.f.environment.At(i)
		name, _ := value.ToStr(k)
		text, err := value.ToStr(v)
		if err != nil {
			return wire.Call{}, x.e.check(ctx, err)
		}
		environment[name] = text
	}
	user, err := x.runAs(ctx)
	if err != nil {
		return wire.Call{}, err
	}
	way, err := x.reach(ctx)
	if err != nil {
		return wire.Call{}, err
	}
	c := wire.Call{
		Module: mod.Name, Name: x.e.s.Written, Check: x.f.check, Diff: x.f.diff, NoLog: x.f.noLog, Verbosity: x.e.r.doc.Play.Verbosity,
		User: user, Reach: way, Environment: environment, Timeout: time.Duration(x.f.timeout) * time.Second,
	}
	// The items of a registered loop keep their invocation, and so does ansible_failed_result.
	c.Invocation = x.t.loop && x.e.s.Register != "" || x.e.r.rescuing() || x.e.r.doc.Play.Invocation
	if x.f.async > 0 && !x.f.check {
		c.Async, c.Poll = time.Duration(x.f.async)*time.Second, time.Duration(max(0, x.f.poll))*time.Second
		c.Task = x.t.title()
		if c.AsyncDir, err = x.asyncDir(ctx); err != nil {
			return wire.Call{}, err
		}
	}
	if x.f.connection == "local" && !x.delegated() || x.delegated() && outside.IsLocalhost(x.f.delegate) {
		// As in Ansible, not where the user stands who called the controller.
		dir, err := x.e.variable(ctx, "playbook_dir")
		if err != nil {
			return wire.Call{}, x.e.check(ctx, err)
		}
		c.Dir, _ = value.Text(dir)
	}
	c.Interpreter, err = x.interpreter(ctx)
	return c, x.e.check(ctx, err)
}

// hostResult completes what a module returned that ran on a host.
func (x *execution) hostResult(ctx context.Context, res *result.Result) *result.Result {
	last := res.Len() > 0 && isChanged(res.Dict, res.Len()-1)
	for _, name := range []string{"stdout", "stderr"} {
		v, ok := res.Get(name)
		if _, has := res.Get(name + "_lines"); !ok || has {
			continue
		}
		if !value.IsText(v) {
			v = value.UnsafeStr("")
		}
		res.Set(name+"_lines", value.NewLines(v))
	}
	for _, name := range []string{"warnings", "deprecations"} {
		if v, ok := res.Get(name); ok && !value.IsTrue(v) {
			res.Delete(value.Str(name))
		}
	}
	x.onTerminal(ctx, res)
	toEnd(res.Dict, last)
	return res
}

// isChanged tells whether the entry at a place is "changed": there it is what Ansible adds to the result of a module that does not tell.
func isChanged(res *value.Dict, at int) bool {
	k, _ := res.At(at)
	name, _ := value.Text(k)
	return name == "changed"
}

// toEnd moves "changed" to the end, if it was there before more was added.
func toEnd(res *value.Dict, was bool) {
	if v, ok := res.Get("changed"); ok && was && !isChanged(res, res.Len()-1) {
		res.Delete(value.Str("changed"))
		res.Put("changed", v)
	}
}

// progress tells of a job that is awaited.
func (x *execution) progress(res *result.Result, last bool) {
	if x.e.tagged() {
		jobState(res)
	}
	e := wire.Event{Kind: wire.Progress, Step: x.e.id, Name: x.t.name, Outcome: x.t.report(x.f).Brief(res)}
	if !last {
		e.Every = time.Duration(x.f.poll) * time.Second
	} else {
		e.Text = "ok"
		if res.Failed() {
			e.Text = "failed"
		}
	}
	x.e.r.line.emit(e)
}
