package runner

import (
	"context"

	"hark/playbook/jinja/value"
)

// hostvars is the variable of that name: hosts are looked up when they are used, and so are their variables.
type hostvars struct {
	f   *far
	ctx context.Context
}

// Type names Ansible's class.
func (*hostvars) Type() string { return "HostVars" }

// Lookup gives a host, if the inventory has it.
func (h *hostvars) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok {
		return nil, false, nil
	}
	if name != h.f.r.start.Host && !isLocalhost(name) {
		names, err := h.f.hostnames(h.ctx)
		if err != nil {
			return nil, false, err
		}
		if !containsText(names, name) {
			return nil, false, nil
		}
	}
	return &hostVariables{f: h.f, ctx: h.ctx, host: name}, true, nil
}

// Keys are the hosts of the inventory.
func (h *hostvars) Keys() ([]value.Value, error) { return h.f.hostnames(h.ctx) }

// hostVariables are the variables of one host.
type hostVariables struct {
	f    *far
	ctx  context.Context
	host string
}

// Type names Ansible's class.
func (*hostVariables) Type() string { return "HostVarsVars" }

// Lookup gives a variable, rendered.
func (h *hostVariables) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok {
		return nil, false, nil
	}
	v, err := h.f.variable(h.ctx, h.host, name)
	return v, v != nil, err
}

// Keys are the names of all variables.
func (h *hostVariables) Keys() ([]value.Value, error) {
	d, err := h.f.all(h.ctx, h.host)
	return d.Keys(), err
}

// isLocalhost tells the names for which Ansible makes up a host that the inventory does not have.
func isLocalhost(name string) bool {
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
