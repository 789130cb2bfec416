package runner

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"hark/agent/internal/outside"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// here tells a task of a host that is reached anew for each call whose connection leads to the session's own machine.
func (x *execution) here() bool { return len(x.e.r.start.Reach) > 0 && isLocal(x.f.connection) }

func isLocal(connection string) bool {
	return modules.ShortName(connection) == "local"
}

// plugged fails a task whose connection Ansible does not find. Those of the project and of collections are not run, but hosts of theirs may have
// agents.
func (x *execution) plugged() error {
	name := strings.TrimPrefix(x.f.connection, "ansible.builtin.")
	if name == "" || strings.Contains(name, ".") || slices.Contains(connectionPlugins, name) || slices.Contains(x.e.r.doc.Play.Connections, name) {
		return nil
	}
	return &fault{text: "the connection plugin '" + x.f.connection + "' was not found"}
}

// byPlugin tells a task whose connection is a plug-in that the controller does not stand for: ansible-core does all of it there, but what needs no host.
func byPlugin(ctx context.Context, x *execution) (bool, error) {
	r, mod := x.e.r, x.t.mod
	if len(r.start.Reach) == 0 || !x.away() || mod != nil && mod.Session && !mod.UsesHost {
		return false, nil
	}
	f, err := x.connection(ctx)
	return err == nil && f.connection != "" && !slices.Contains(r.start.Ways, f.connection), err
}

// connectionPlugins are Ansible's own, and those of collections that it knows by their old names.
var connectionPlugins = []string{
	"smart", "ssh", "paramiko", "paramiko_ssh", "local", "psrp", "winrm",
	"aws_ssm", "buildah", "chroot", "docker", "funcd", "httpapi", "iocage", "jail", "kubectl", "libvirt_lxc", "lxc", "lxd", "napalm",
	"netconf", "network_cli", "oc", "persistent", "podman", "qubes", "redirected_local", "saltstack", "vmware_tools", "zone",
}

// reach says how the host of the call is reached, for a controller that asks for it: its variables, and over them what the keywords of
// the connection came to.
func (x *execution) reach(ctx context.Context) (map[string]string, error) {
	names := x.e.r.start.Reach
	switch {
	case len(names) == 0:
		return nil, nil
	case !x.away():
		return map[string]string{"ansible_connection": "local"}, nil
	}
	f, err := x.connection(ctx)
	if err != nil {
		return nil, err
	}
	scope := x.e.scope
	if x.delegated() { // what the play and the task set holds for any host
		scope = vars.NewScope(&vars.Host{Name: x.f.delegate}, x.e.r.shared, vars.StepOf(x.e.r.roles, x.e.s))
	}
	way := map[string]string{}
	for _, name := range names {
		v, err := x.reachVariable(ctx, scope, name)
		if err != nil {
			return nil, err
		}
		if v == nil || value.IsNone(v) || templar.IsOmit(v) {
			continue
		}
		if way[name], err = value.ToStr(v); err != nil {
			return nil, x.e.check(ctx, err)
		}
	}
	unset := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return way[name] != "" })
	}
	if unset("ansible_connection") {
		way["ansible_connection"] = f.connection
		if x.delegated() && outside.IsLocalhost(f.delegate) && unset("ansible_host") {
			way["ansible_connection"] = "local"
		}
	}
	if f.remoteUser != "" && unset("ansible_ssh_user", "ansible_user") {
		way["ansible_user"] = f.remoteUser
	}
	if f.port != 0 && !x.delegated() && unset("ansible_ssh_port", "ansible_port") {
		way["ansible_port"] = strconv.FormatInt(f.port, 10)
	}
	return way, nil
}

// reachVariable is a variable of the host that does the task, nil if it is not set. scope is that host's, as far as the session knows it.
func (x *execution) reachVariable(ctx context.Context, scope *vars.Scope, name string) (value.Value, error) {
	raw, ok, err := scope.Set(ctx, name)
	switch {
	case err != nil:
		return nil, x.e.check(ctx, err)
	case ok:
		v, err := x.e.tpl.Template(ctx, raw)
		return v, x.e.check(ctx, err)
	case !x.delegated():
		return nil, nil
	}
	known, err := x.e.far.Connection(ctx, x.f.delegate)
	if err != nil {
		return nil, x.e.check(ctx, err)
	}
	v, _ := known.Get(name)
	return v, nil
}
