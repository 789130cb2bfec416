package runner

import (
	"context"
	"encoding/json"
	"strconv"

	"hark/agent/internal/outside"
	"hark/agent/wire"
	"hark/modules/connection"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// act has the controller run the step's action plug-in, which is written in Python. What the plug-in wants of the host comes back as calls.
func (x *execution) act(ctx context.Context) (*result.Result, error) {
	c, err := x.wireCall(ctx, connection.Connection)
	if err != nil {
		return nil, err
	}
	c.Args = json.RawMessage("{}")
	about, err := x.told(ctx)
	if err != nil {
		return nil, err
	}
	x.e.r.line.settle("")
	a, err := x.e.r.line.askBeside(ctx, wire.Ask{Kind: wire.AskAction, Step: x.e.id, Name: x.target(), Call: &c, Kw: plan.Dict{Dict: about}})
	switch {
	case err != nil:
		return nil, x.e.r.line.lose(ctx, err)
	case a.ErrKind == "unreachable":
		return unreachableFor(a.Err), nil
	case a.Err != "":
		return nil, &fault{text: a.Err, kind: a.ErrKind, class: a.ErrKind}
	}
	res := answered(a)
	if res == nil {
		return final(failure("internal error: the action plug-in gave something that is not a result")), nil
	}
	if !c.Invocation && c.Verbosity < 3 {
		res.Delete(value.Str("invocation"))
	}
	if a.ErrKind == wire.ActionEnded {
		return final(res), nil
	}
	if res.Job() != "" && c.Async > 0 && c.Poll > 0 {
		return x.awaitElsewhere(ctx, c, res)
	}
	return res, nil
}

// told is what the controller does not know of the task: what is rendered, and the variables that only the session has.
func (x *execution) told(ctx context.Context) (*value.Dict, error) {
	f := x.f
	login, err := x.login(ctx)
	if err != nil {
		return nil, err
	}
	by, err := x.reachedBy(ctx)
	if err != nil {
		return nil, err
	}
	task := value.NewDict()
	for _, k := range plan.Keywords() {
		if v := f.value(k.Name); v != nil {
			task.Set(k.AnsibleName(), v)
		}
	}
	task.Set("environment", value.NewList(dictOr(f.environment, nil)))
	task.Set("name", value.Str(x.t.name))
	task.Set("connection", value.Str(by))
	about := value.NewDict()
	about.Set("task", task)
	about.Set("login", value.Str(login.User))
	about.Set("own", x.e.ownVariables(x.e.scope.With(x.sight.vars)))
	return about, nil
}

// ownVariables are those that the controller does not know of: local ones, of loops and templates, and late ones, of vars_files whose names
// hold templates, by their index.
func (e *eval) ownVariables(scope *vars.Scope) *value.Dict {
	late := value.NewDict()
	for i, d := range e.r.vars.Late {
		late.Set(strconv.Itoa(i), d)
	}
	own := value.NewDict()
	own.Set("local", scope.Local())
	own.Set("late", late)
	return own
}

// login is the user as whom Ansible would have logged in.
func (x *execution) login(ctx context.Context) (wire.RunAs, error) {
	plain, f := *x, *x.f
	f.become = false
	plain.f = &f
	return plain.runAs(ctx)
}

// reachedBy is the connection that plug-ins see.
func (x *execution) reachedBy(ctx context.Context) (string, error) {
	if x.delegated() && outside.IsLocalhost(x.f.delegate) {
		return "local", nil
	}
	f, err := x.connection(ctx)
	if err != nil {
		return "", err
	}
	if f.connection == "" || f.connection == "smart" {
		return "ssh", nil
	}
	return f.connection, nil
}

// otherFacts tells whether facts come from other modules than setup.
func (rd *reader) otherFacts() bool {
	facts := rd.e.s.Facts
	if facts == nil || rd.err != nil {
		return false
	}
	if facts.Always {
		return true
	}
	for _, name := range []string{"ansible_facts_modules", "ansible_network_os"} {
		v, ok, err := rd.e.scope.Raw(rd.ctx, name)
		if err != nil {
			rd.err = rd.e.check(rd.ctx, err)
			return false
		}
		if text, _ := value.Text(v); ok && text != "smart" {
			return true
		}
	}
	_, ok := rd.e.s.Args.Get("network_os")
	return ok
}
