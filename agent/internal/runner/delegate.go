package runner

import (
	"context"
	"strings"

	"hark/agent/internal/outside"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// runAs is the user that the module runs as: become's, else the one that Ansible would have logged in as.
func (x *execution) runAs(ctx context.Context) (wire.RunAs, error) {
	f, err := x.connection(ctx)
	if err != nil {
		return wire.RunAs{}, err
	}
	if !f.become {
		if isLocal(f.connection) || x.delegated() && outside.IsLocalhost(f.delegate) {
			return wire.RunAs{}, nil
		}
		return wire.RunAs{User: f.remoteUser}, nil
	}
	as := wire.RunAs{User: f.becomeUser, Method: f.becomeMethod, Flags: f.becomeFlags, Exe: f.becomeExe, Password: f.becomePassword}
	if as.User == "" {
		as.User = "root"
	}
	if as.Method == "" {
		as.Method = "sudo"
	}
	if !becomeMethod(as.Method) {
		return as, &fault{text: "Invalid become method specified, could not find matching plugin: '" + as.Method + "'. " +
			"Use `ansible-doc -t become -l` to list available plugins."}
	}
	return as, nil
}

// connection are the fields with what counts of them for the host that does the task.
func (x *execution) connection(ctx context.Context) (fields, error) {
	f := *x.f
	if !x.delegated() {
		return f, nil
	}
	known, err := x.e.far.Connection(ctx, f.delegate)
	if err != nil {
		return f, x.e.check(ctx, err)
	}
	return f, f.override(x, known)
}

// becomeMethod tells whether there is such a way to become another user: Ansible's own, and those of its community collection.
func becomeMethod(name string) bool {
	short, community := strings.CutPrefix(modules.ShortName(name), "community.general.")
	switch short {
	case "sudo", "su", "runas":
		return !community
	case "doas", "dzdo", "ksu", "machinectl", "pbrun", "pfexec", "pmrun", "sesu", "sudosu":
		return community || name == short
	}
	return name == "enable"
}

// override takes what the delegated host says of connections; what the task's own host says does not count there.
func (f *fields) override(x *execution, known *value.Dict) error {
	f.connection, f.remoteUser = literal(x.e.s.Connection), literal(x.e.s.RemoteUser)
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
	own := plan.MethodVariable(f.becomeMethod)
	if v := firstOf(known, []string{own + "pass", "ansible_become_pass", "ansible_become_password"}); v != nil {
		f.becomePassword, _ = value.ToStr(v)
	}
	return nil
}

// firstOf is the value of the first of the names that has one, nil if none has.
func firstOf(d *value.Dict, names []string) value.Value {
	for _, name := range names {
		if v, ok := d.Get(name); ok && !value.IsNone(v) {
			return v
		}
	}
	return nil
}

// literal is a keyword as it is written.
func literal(x plan.Expr) string {
	if x.IsZero() || value.IsNone(x.V) {
		return ""
	}
	s, _ := value.ToStr(x.V)
	return s
}
