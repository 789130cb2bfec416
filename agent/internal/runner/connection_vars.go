package runner

import (
	"context"
	"slices"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// connectionVarNames are the variables that show a task how its host is reached, though nothing sets them. Names
// for one thing stand together, and the first that is set applies to all.
var connectionVarNames = [][]string{
	{"ansible_connection"},
	{"ansible_ssh_host", "ansible_host"},
	{"ansible_ssh_user", "ansible_user"},
	{"ansible_ssh_pass", "ansible_password"},
	{"ansible_ssh_port", "ansible_port"},
	{"ansible_ssh_timeout", "ansible_timeout"},
	{"ansible_ssh_pipelining", "ansible_pipelining"},
	{"ansible_ssh_private_key_file", "ansible_private_key_file"},
	{"ansible_shell_executable"},
	{"ansible_module_compression"},
}

// connectionVars answers those names for a task whose keywords of the connection are known. The loop and the name of a
// task, and hostvars, do not see them.
type connectionVars struct {
	e *eval
	f *fields
}

// variable returns a variable by one of the names.
func (r connectionVars) variable(ctx context.Context, name string) (value.Value, bool, error) {
	i := slices.IndexFunc(connectionVarNames, func(names []string) bool { return slices.Contains(names, name) })
	if i < 0 {
		return nil, false, nil
	}
	names := connectionVarNames[i]
	if !r.e.s.DelegateTo.IsZero() {
		return r.ofDelegate(ctx, names)
	}
	for _, n := range names {
		if v, ok, err := r.e.scope.Set(ctx, n); ok || err != nil {
			return v, ok, err
		}
	}
	v, ok := r.said(names, r.e.g.address())
	return v, ok, nil
}

// ofDelegate is variable for a delegated task: it reads the variables of the host that does it.
func (r connectionVars) ofDelegate(ctx context.Context, names []string) (value.Value, bool, error) {
	bare := *r.e.scope
	bare.Beneath = nil // that host's name sees nothing that depends on it
	v, err := templar.New(&bare, r.e.options()).Template(ctx, r.e.s.DelegateTo.V)
	if err != nil {
		return nil, false, err
	}
	host, isText := value.Text(v)
	if !isText || host == "" {
		v, ok := r.said(names, r.e.g.address())
		return v, ok, nil
	}
	known, err := r.e.far.step().Connection(ctx, host)
	if err != nil {
		return nil, false, err
	}
	for _, n := range names {
		if v, ok := known.Get(n); ok {
			return v, true, nil
		}
	}
	v, ok := r.said(names, host)
	return v, ok, nil
}

// said returns what keywords, flags and settings say. The last of the names identifies the thing.
func (r connectionVars) said(names []string, address string) (value.Value, bool) {
	text := func(s string) (value.Value, bool) { return value.Str(s), s != "" }
	name := names[len(names)-1]
	switch name {
	case "ansible_connection":
		if r.f.connection == "" || r.f.connection == "smart" {
			return text("ssh")
		}
		return text(r.f.connection)
	case "ansible_host":
		return text(address)
	case "ansible_user":
		return text(r.f.remoteUser)
	}
	return r.e.g.start.Connection.Get(name)
}
