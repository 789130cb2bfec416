package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// byPlugin runs a task whose connection is a plug-in that the controller does not replace: ansible-core does all of it
// on the controller, except what needs no host. mod is its module, nil if there is none.
func (w runTarget) byPlugin(ctx context.Context, mod *modules.Module) (bool, error) {
	if len(w.e.g.start.Reach) == 0 || !w.away() || mod != nil && mod.Session && !mod.UsesHost {
		return false, nil
	}
	f, err := w.connection(ctx)
	return err == nil && f.connection != "" && !slices.Contains(w.e.g.start.Ways, f.connection), err
}

// reachedBy returns the connection that plug-ins see.
func (w runTarget) reachedBy(ctx context.Context) (string, error) {
	if w.toLocalhost() {
		return "local", nil
	}
	f, err := w.connection(ctx)
	if err != nil {
		return "", err
	}
	if f.connection == "" || f.connection == "smart" {
		return "ssh", nil
	}
	return f.connection, nil
}

// reach returns how to reach the host of the call, for a controller that asks for it: its variables, and over them the
// rendered keywords of the connection.
func (w runTarget) reach(ctx context.Context) (map[string]string, error) {
	names := w.e.g.start.Reach
	switch {
	case w.loggedIn():
		return nil, w.sameLogin(ctx)
	case len(names) == 0:
		return nil, nil
	case !w.away():
		return map[string]string{"ansible_connection": "local"}, nil
	}
	return w.said(ctx, names)
}

// loggedIn reports whether the login that brought the agent in does the task of the session's own host.
func (w runTarget) loggedIn() bool { return w.e.g.start.Login != nil && !w.delegated() }

// sameLogin hands a task to the controller if it needs another login than the session's.
func (w runTarget) sameLogin(ctx context.Context) error {
	said, err := w.said(ctx, wire.LoginNames())
	if err == nil && !maps.Equal(said, w.e.g.start.Login.Way) {
		err = w.e.g.held.beyondHere()
	}
	return err
}

// said returns what variables of the given names, and over them the keywords, say about the connection to the host of
// the task.
func (w runTarget) said(ctx context.Context, names []string) (map[string]string, error) {
	f, err := w.connection(ctx)
	if err != nil {
		return nil, err
	}
	scope := w.e.scope
	if w.delegated() {
		scope = w.delegateScope()
	}
	set := map[string]string{}
	for _, name := range names {
		v, err := w.variable(ctx, scope, name)
		if err != nil {
			return nil, err
		}
		if v == nil || value.IsNone(v) || templar.IsOmit(v) {
			continue
		}
		if set[name], err = value.ToStr(v); err != nil {
			return nil, w.e.check(ctx, err)
		}
	}
	unset := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return set[name] != "" })
	}
	if unset("ansible_connection") {
		set["ansible_connection"] = f.connection
		if w.toLocalhost() && unset("ansible_host") {
			set["ansible_connection"] = "local"
		}
	}
	if f.remoteUser != "" && unset("ansible_ssh_user", "ansible_user") {
		set["ansible_user"] = f.remoteUser
	}
	if f.port != 0 && !w.delegated() && unset("ansible_ssh_port", "ansible_port") {
		set["ansible_port"] = strconv.FormatInt(f.port, 10)
	}
	return set, nil
}

// option returns a variable that says how the task is done, of the host that does it; nil if it is not set. A variable
// of the task's own host does not apply to another host.
func (w runTarget) option(ctx context.Context, name string) (value.Value, error) {
	if !w.delegated() {
		v, err := w.e.variable(ctx, name)
		return v, w.e.check(ctx, err)
	}
	raw, ok, err := w.delegateScope().Set(ctx, name)
	if err != nil || !ok {
		v, far := w.e.far.step().Option(ctx, w.f.delegate, name)
		return v, w.e.check(ctx, cmp.Or(err, far))
	}
	v, err := w.e.tpl.Template(ctx, raw)
	return v, w.e.check(ctx, err)
}

// delegateScope returns the variables that the play and the task set for any host, when another host does the task.
func (w runTarget) delegateScope() *vars.Scope {
	return vars.NewScope(&vars.Host{Name: w.f.delegate}, w.e.g.shared, vars.StepOf(w.e.g.roles, w.e.s))
}

// variable returns a variable of the host that does the task, nil if it is not set. scope is that host's, as far as the
// session knows it.
func (w runTarget) variable(ctx context.Context, scope *vars.Scope, name string) (value.Value, error) {
	raw, ok, err := scope.Set(ctx, name)
	switch {
	case err != nil:
		return nil, w.e.check(ctx, err)
	case ok:
		v, err := w.e.tpl.Template(ctx, raw)
		return v, w.e.check(ctx, err)
	case !w.delegated():
		return nil, nil
	}
	known, err := w.e.far.step().Connection(ctx, w.f.delegate)
	if err != nil {
		return nil, w.e.check(ctx, err)
	}
	v, _ := known.Get(name)
	return v, nil
}
