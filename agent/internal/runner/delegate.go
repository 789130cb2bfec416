package runner

import (
	"context"
	"slices"

	"hark/agent/internal/outside"
	"hark/agent/wire"
	"hark/modules/py/value"
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
	if !slices.Contains(becomeMethods, as.Method) {
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

// becomeMethods are Ansible's and those of its community collection.
var becomeMethods = []string{
	"sudo", "su", "runas", "doas", "dzdo", "enable", "ksu", "machinectl", "pbrun", "pfexec", "pmrun", "sesu", "sudosu",
	"ansible.builtin.sudo", "ansible.builtin.su", "ansible.builtin.runas",
	"community.general.doas", "community.general.dzdo", "community.general.ksu", "community.general.machinectl",
	"community.general.pbrun", "community.general.pfexec", "community.general.pmrun", "community.general.sesu", "community.general.sudosu",
}

// override takes what the delegated host says of connections; what the task's own host says does not count there.
func (f *fields) override(x *execution, known *value.Dict) error {
	text := func(into *string, given string, names ...string) {
		*into = given
		for _, name := range names {
			if v, ok := known.Get(name); ok && !value.IsNone(v) {
				*into, _ = value.ToStr(v)
				return
			}
		}
	}
	literal := func(v value.Value) string {
		if v == nil || value.IsNone(v) {
			return ""
		}
		s, _ := value.ToStr(v)
		return s
	}
	s := x.e.s
	if v, ok := known.Get("ansible_become"); ok {
		b, err := boolOf(v)
		if err != nil {
			return &fault{text: err.Error()}
		}
		f.become = b
	}
	text(&f.connection, literal(s.Connection.V), "ansible_connection")
	text(&f.remoteUser, literal(s.RemoteUser.V), "ansible_user", "ansible_ssh_user")
	text(&f.becomeMethod, f.becomeMethod, "ansible_become_method")
	own := outside.MethodVariable(f.becomeMethod)
	text(&f.becomeUser, f.becomeUser, own+"user", "ansible_become_user")
	text(&f.becomeFlags, f.becomeFlags, own+"flags", "ansible_become_flags")
	text(&f.becomeExe, f.becomeExe, own+"exe", "ansible_become_exe")
	text(&f.becomePassword, f.becomePassword, own+"pass", "ansible_become_pass", "ansible_become_password")
	return nil
}
