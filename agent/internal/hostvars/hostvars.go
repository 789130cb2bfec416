package hostvars

import (
	"context"
	"slices"
	"sync"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// hostvars is the variable of that name: hosts are looked up when they are used, and so are their variables.
type hostvars struct {
	f   *Step
	ctx context.Context
	// delegated: this is ansible_delegated_vars, in which inventory_hostname is the host that delegates.
	delegated bool
}

// Type names Ansible's class.
func (*hostvars) Type() string { return "HostVars" }

// QualifiedType names Ansible's class with its module.
func (*hostvars) QualifiedType() string { return "ansible.vars.hostvars.HostVars" }

// Lookup returns a host; one that the inventory does not have is undefined under a name of its own.
func (h *hostvars) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok {
		return nil, false, nil
	}
	if name != h.f.Host && !IsLocalhost(name) {
		names, err := h.f.hostnames(h.ctx)
		if err != nil {
			return nil, false, err
		}
		if !containsText(names, name) {
			own := "hostvars['" + name + "']"
			if h.f.Templates.Has(dialect.HostvarsLazy) {
				return value.UndefinedHint(own), true, nil
			}
			return value.UndefinedName(own), true, nil
		}
	}
	return &hostVariables{f: h.f, ctx: h.ctx, whose: whose{name, h.delegated}}, true, nil
}

// Keys returns the hosts of the inventory, and localhost in any case, but not in the tagged language.
func (h *hostvars) Keys() ([]value.Value, error) {
	names, err := h.f.hostnames(h.ctx)
	if err != nil || h.f.Templates.Has(dialect.HostvarsLazy) || containsText(names, "localhost") {
		return names, err
	}
	return append(slices.Clone(names), value.Str("localhost")), nil
}

// PrintedKeys returns the hosts of the inventory.
func (h *hostvars) PrintedKeys() ([]value.Value, error) { return h.f.hostnames(h.ctx) }

// hostVariables are the variables of one host.
type hostVariables struct {
	f   *Step
	ctx context.Context
	whose
}

// Type names Ansible's class.
func (*hostVariables) Type() string { return "HostVarsVars" }

// QualifiedType names Ansible's class with its module.
func (*hostVariables) QualifiedType() string { return "ansible.vars.hostvars.HostVarsVars" }

// Lookup returns a variable, rendered.
func (h *hostVariables) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok {
		return nil, false, nil
	}
	if h.delegated && name == "inventory_hostname" {
		return value.Str(h.f.Host), true, nil
	}
	v, err := h.f.variable(h.ctx, h.whose, name)
	if v == nil && err == nil && h.delegated && name == "ansible_host" && IsLocalhost(h.host) {
		v = value.Str(h.host) // the implicit localhost: Ansible sets it for delegated tasks only
	}
	return v, v != nil, err
}

// Branch returns one of the host's facts: all of them, of every host of a fleet, would be too much to bring here.
func (h *hostVariables) Branch(name, key string) (value.Value, bool, error) {
	if name != "ansible_facts" || key == "" || h.host == h.f.Host {
		return nil, false, nil
	}
	return h.f.fact(h.ctx, h.host, key)
}

// Keys returns the names of all variables.
func (h *hostVariables) Keys() ([]value.Value, error) {
	return h.f.names(h.ctx, h.whose)
}

// IsLocalhost reports whether Ansible makes up a host of this name if the inventory does not have it.
func IsLocalhost(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

func containsText(list []value.Value, text string) bool {
	for _, v := range list {
		if s, ok := value.Text(v); ok && s == text {
			return true
		}
	}
	return false
}

// connectionNames are the variables of a delegated host that say how it is reached, and how to be somebody there.
// Nobody may change them.
var connectionNames = sync.OnceValue(func() []string {
	names := append([]string{"ansible_host", "ansible_port", "ansible_python_interpreter"},
		dialect.AllBecomeVariables()...)
	for _, k := range plan.Keywords() {
		names = append(names, k.Variables(dialect.DefaultMethod)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// Connection returns those variables of a host, and those of Session.Reach, fetched once for the step.
func (f *Step) Connection(ctx context.Context, host string) (*value.Dict, error) {
	if d := f.connections[host]; d != nil {
		return d, nil
	}
	d, names := value.NewDict(), slices.Clone(connectionNames())
	for _, name := range f.Reach {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if host == f.Host {
		for _, name := range names {
			v, err := f.ownVariable(ctx, true, name)
			if err != nil {
				return nil, err
			}
			if v != nil {
				d.Set(name, v)
			}
		}
	} else {
		a, err := f.Ask(ctx, wire.Ask{Kind: wire.AskVars, Step: f.id, Hosts: []string{host}, Names: names, Delegated: true})
		if err != nil {
			return nil, err
		}
		if got := a.Vars[host].Dict; got != nil {
			d = got
		}
	}
	f.connections[host] = d
	return d, nil
}

// Option returns a variable of a host that says how tasks are done there, nil if it is not set. Those that each task
// looks at are fetched together.
func (f *Step) Option(ctx context.Context, host, name string) (value.Value, error) {
	if !slices.Contains(connectionNames(), name) {
		return f.variable(ctx, whose{host, true}, name)
	}
	d, err := f.Connection(ctx, host)
	v, _ := d.Get(name)
	return v, err
}

// Delegated returns what a result says of the host it was delegated to.
func (f *Step) Delegated(ctx context.Context, host string) (*value.Dict, error) {
	d := value.NewDict()
	d.Set("ansible_delegated_host", value.Str(host))
	known, err := f.Connection(ctx, host)
	if err != nil {
		return d, err
	}
	d.Set("ansible_host", value.Str(host))
	for _, name := range []string{"ansible_host", "ansible_port", "ansible_user", "ansible_connection"} {
		if v, ok := known.Get(name); ok {
			d.Set(name, v)
		}
	}
	return d, nil
}
