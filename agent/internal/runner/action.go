package runner

import (
	"context"
	"encoding/json"
	"strconv"

	"hark/agent/wire"
	"hark/modules/connection"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// act has the controller run the step's action plug-in, which is written in Python. The plug-in's requests to the host
// arrive as calls.
func (c *caller) act(ctx context.Context) (*result.Result, error) {
	made, err := c.wireCall(ctx, connection.Connection)
	if err != nil {
		return nil, err
	}
	made.Args = json.RawMessage("{}")
	about, err := c.taskContext(ctx)
	if err != nil {
		return nil, err
	}
	c.e.g.line.settle("")
	a, err := c.e.g.line.askInBackground(ctx, wire.Ask{Kind: wire.AskAction, Step: c.e.id, Name: c.target(), Call: &made,
		Kw: plan.Dict{Dict: about}})
	switch {
	case err != nil:
		return nil, c.e.g.line.lose(ctx, err)
	case a.ErrKind == "unreachable":
		return unreachableOn(a.Err), nil
	case a.Err != "":
		return nil, &fault{text: a.Err, kind: a.ErrKind, class: a.ErrKind}
	}
	res := answered(a)
	if res == nil {
		return final(failure("internal error: the action plug-in gave something that is not a result")), nil
	}
	if c.e.has(dialect.TextWarnings) {
		textWarnings(res)
	}
	if !made.Invocation && made.Verbosity < 3 {
		res.Delete(value.Str("invocation"))
	}
	if a.ErrKind == wire.ActionEnded {
		if c.e.has(dialect.FailureCauses) && res.Failed() {
			say(res, link{msg: "Task failed."}, link{msg: res.Text("msg")})
		}
		return final(res), nil
	}
	if res.Job() != "" && made.Async > 0 && made.Poll > 0 {
		return c.remote().await(ctx, made, res)
	}
	return res, nil
}

// taskContext returns what the controller does not know of the task: rendered values, and the variables that only the
// session has.
func (c *caller) taskContext(ctx context.Context) (*value.Dict, error) {
	f := c.f
	login, err := c.login(ctx)
	if err != nil {
		return nil, err
	}
	by, err := c.reachedBy(ctx)
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
	task.Set("name", value.Str(c.name))
	task.Set("connection", value.Str(by))
	about := value.NewDict()
	about.Set("task", task)
	about.Set("login", value.Str(login.User))
	about.Set("own", c.e.ownVariables(c.e.scope.With(c.view.vars)))
	return about, nil
}

// ownVariables returns the variables that the controller does not know: local ones, of loops and templates, and late
// ones, of vars_files whose names hold templates, by their index.
func (e *eval) ownVariables(scope *vars.Scope) *value.Dict {
	late := value.NewDict()
	for i, d := range e.g.vars.Late {
		late.Set(strconv.Itoa(i), d)
	}
	own := value.NewDict()
	own.Set("local", scope.Local())
	own.Set("late", late)
	return own
}

// otherFacts reports whether the task gathers facts with other modules than setup.
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
