package runner

import (
	"context"
	"slices"
	"strings"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// runTarget is where the module of a task runs and as which user. connection.go has how that host is reached.
type runTarget struct {
	e *eval
	f *fields
}

// delegated reports whether the module runs on another host.
func (w runTarget) delegated() bool { return w.f.delegate != "" && w.f.delegate != w.e.g.start.Host }

// toLocalhost reports whether the module runs on the controller for this host.
func (w runTarget) toLocalhost() bool { return w.delegated() && hostvars.IsLocalhost(w.f.delegate) }

// away reports whether the module does not run where the session does; target is the host then.
func (w runTarget) away() bool { return w.delegated() || w.e.g.start.Remote && !w.here() }

func (w runTarget) target() string {
	if w.delegated() {
		return w.f.delegate
	}
	return w.e.g.start.Host
}

// here reports whether a task's connection leads to the session's own machine, on a host that is reached again for each
// call.
func (w runTarget) here() bool { return len(w.e.g.start.Reach) > 0 && isLocal(w.f.connection) }

func isLocal(connection string) bool { return modules.ShortName(connection) == "local" }

// runAs returns the user that the module runs as: become's, else the user that Ansible would have logged in as.
func (w runTarget) runAs(ctx context.Context) (wire.RunAs, error) {
	f, err := w.connection(ctx)
	if err != nil {
		return wire.RunAs{}, err
	}
	if !f.become {
		if isLocal(f.connection) || w.toLocalhost() || w.loggedIn() {
			return wire.RunAs{}, nil
		}
		return wire.RunAs{User: f.remoteUser}, nil
	}
	w.e.notices.Add(f.becomePassword)
	as := wire.RunAs{User: f.becomeUser, Method: f.becomeMethod, Flags: f.becomeFlags, Exe: f.becomeExe,
		Password: f.becomePassword}
	if as.User == "" {
		as.User = "root"
	}
	if as.Method == "" {
		as.Method = dialect.DefaultMethod
	}
	if _, known := dialect.MethodNamed(as.Method); known {
		return as, nil
	}
	if plugged, err := w.byPlugin(ctx, nil); plugged || err != nil {
		return as, err // ansible-core knows it, or says that it does not
	}
	return as, w.noBecome(as.Method)
}

// noBecome returns the fault of a become method that does not exist, or that is a plug-in in Python.
func (w runTarget) noBecome(method string) *fault {
	if slices.Contains(w.e.g.play.Becomes, method) || strings.Count(method, ".") > 1 {
		return &fault{text: "the become method '" + method +
			"' is none that hark has: those in Python are run over connection plug-ins only"}
	}
	return &fault{text: dialect.BecomeNotFound.Text(method) + ". " +
		"Use `ansible-doc -t become -l` to list available plugins."}
}

// login returns the user that Ansible would have logged in as.
func (w runTarget) login(ctx context.Context) (wire.RunAs, error) {
	f := *w.f
	f.become = false
	return runTarget{w.e, &f}.runAs(ctx)
}

// connection returns the fields with the values that apply to the host that does the task.
func (w runTarget) connection(ctx context.Context) (fields, error) {
	f := *w.f
	if !w.delegated() {
		return f, nil
	}
	known, err := w.e.far.step().Connection(ctx, f.delegate)
	if err != nil {
		return f, w.e.check(ctx, err)
	}
	if err := w.disown(ctx, &f); err != nil {
		return f, err
	}
	return f, f.override(w.e.s, known)
}

// disown removes what variables of the task's own host say about becoming another user: on another host only the
// playbook counts.
func (w runTarget) disown(ctx context.Context, f *fields) error {
	rd := &reader{ctx: ctx, e: w.e, contextual: true}
	for _, k := range f.own {
		switch to := f.of(k.Name).(type) {
		case *bool:
			*to = false
		case *string:
			*to = ""
		}
		rd.set(k, *k.One(w.e.s), f)
	}
	f.becomePassword = w.e.g.start.BecomePassword
	return rd.err
}

// override applies what the delegated host says of connections; the task's own host does not count there.
func (f *fields) override(s *plan.Step, known *value.Dict) error {
	f.connection, f.remoteUser = literal(s.Connection), literal(s.RemoteUser)
	for _, k := range plan.Keywords() {
		v := firstOf(known, k.Variables(f.becomeMethod))
		if v == nil {
			continue
		}
		switch to := f.of(k.Name).(type) {
		case *bool:
			b, err := value.StrictBool(v)
			if err != nil {
				return &fault{text: err.Error()}
			}
			*to = b
		case *string:
			*to, _ = value.ToStr(v)
		}
	}
	if v := firstOf(known, dialect.BecomeVariables(f.becomeMethod, dialect.BecomePass)); v != nil {
		f.becomePassword, _ = value.ToStr(v)
	}
	return nil
}

// firstOf returns the value of the first name that has one, nil if none has.
func firstOf(d *value.Dict, names []string) value.Value {
	for _, name := range names {
		if v, ok := d.Get(name); ok && !value.IsNone(v) {
			return v
		}
	}
	return nil
}

// literal returns a keyword as it is written.
func literal(x plan.Expr) string {
	if x.IsZero() || value.IsNone(x.V) {
		return ""
	}
	s, _ := value.ToStr(x.V)
	return s
}

// dir returns the directory to run in, "" for the user's home. On the controller it is the playbook's, as in Ansible,
// and not the caller's.
func (w runTarget) dir(ctx context.Context) (string, error) {
	if !w.toLocalhost() && (w.f.connection != "local" || w.delegated()) {
		return "", nil
	}
	return w.text(ctx, "playbook_dir")
}

// interpreter returns the Python that the host, or else the settings, name. With auto or nothing the host chooses.
func (w runTarget) interpreter(ctx context.Context) (string, error) {
	v, err := w.option(ctx, "ansible_python_interpreter")
	if text, ok := value.Text(v); ok {
		return text, err
	}
	return w.e.g.play.Interpreter, err
}

// text returns a variable that holds a text, "" if it is not set.
func (w runTarget) text(ctx context.Context, name string) (string, error) {
	v, err := w.e.variable(ctx, name)
	text, _ := value.Text(v)
	return text, w.e.check(ctx, err)
}

// onTerminal copies what a module that broke wrote to stderr to where playbooks look for it. Over ssh Ansible runs
// modules on a terminal, which has one stream, unless the connection is pipelined.
func (w runTarget) onTerminal(ctx context.Context, res *result.Result) {
	said, _ := res.Get("module_stderr")
	errs, ok := value.Text(said)
	if !ok || errs == "" || res.True("module_stdout") {
		return
	}
	overSSH := len(w.e.g.start.Reach) > 0 && w.away() && !w.toLocalhost() && (!w.e.g.start.Resident ||
		w.f.connection != "" && w.f.connection != "smart")
	if !overSSH && !w.loggedIn() {
		return
	}
	for _, name := range []string{"ansible_ssh_pipelining", "ansible_pipelining"} {
		v, err := w.e.variable(ctx, name)
		if on, _ := value.AsBool(value.OrNone(v)); on || err != nil {
			return
		}
	}
	res.Set("module_stdout", value.UnsafeStr(strings.ReplaceAll(errs, "\n", "\r\n")))
	res.Set("module_stderr", value.UnsafeStr(""))
}

// plugged fails a task whose connection Ansible does not find. Connection plug-ins of the project and of collections
// are not run, but their hosts may have agents.
func (w runTarget) plugged() error {
	name := strings.TrimPrefix(w.f.connection, "ansible.builtin.")
	if name == "" || strings.Contains(name, ".") || slices.Contains(plan.ConnectionPlugins(), name) ||
		slices.Contains(w.e.g.play.Connections, name) {
		return nil
	}
	return &fault{text: "the connection plugin '" + w.f.connection + "' was not found"}
}
