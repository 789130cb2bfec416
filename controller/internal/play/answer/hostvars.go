package answer

import (
	"context"

	"hark/modules/py/value"
	"hark/playbook/vars"
)

// hostvars is the variable of that name in templates that the controller renders.
type hostvars struct {
	m      *Mirror
	ctx    context.Context
	shared *vars.Shared
}

// Type names Ansible's class.
func (*hostvars) Type() string { return "HostVars" }

// Lookup returns the variables of a host.
func (h *hostvars) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok || !h.m.Known(name) {
		return nil, false, nil
	}
	return &hostVariables{hostvars: h, host: name}, true, nil
}

// Keys returns the hosts of the inventory.
func (h *hostvars) Keys() ([]value.Value, error) {
	all, _ := h.m.Groups().Get("all")
	l, ok := all.(*value.List)
	if !ok {
		return nil, nil
	}
	return l.Items, nil
}

// hostVariables are the variables of one host, rendered when they are read.
type hostVariables struct {
	*hostvars
	host string
}

// Type names Ansible's class.
func (*hostVariables) Type() string { return "HostVarsVars" }

// QualifiedType names Ansible's class with its module.
func (*hostVariables) QualifiedType() string { return "ansible.vars.hostvars.HostVarsVars" }

// Lookup returns a variable.
func (h *hostVariables) Lookup(key value.Value) (value.Value, bool, error) {
	name, ok := value.Text(key)
	if !ok {
		return nil, false, nil
	}
	return h.m.variable(h.ctx, h.host, name, ViewOptions{Shared: h.shared})
}

// Keys returns the names of all variables.
func (h *hostVariables) Keys() ([]value.Value, error) {
	var names []value.Value
	for _, n := range h.m.names(h.ctx, h.host, ViewOptions{Shared: h.shared}) {
		names = append(names, value.Str(n))
	}
	return names, nil
}
