package cli

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/connections"
	"hark/modules/dialect"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// sshTargets describes how hosts are reached over ssh. A host whose variables make no sense has its error.
func (p *run) sshTargets(ctx context.Context, hosts []*inventory.Host) ([]bootstrap.Host, error) {
	out := make([]bootstrap.Host, len(hosts))
	for i, h := range hosts {
		v, err := p.hostVariables(ctx, h)
		if err != nil {
			return nil, err
		}
		out[i] = p.sshHost(h.Name, v)
	}
	return out, nil
}

// hostVariables returns the variables of a host of the inventory, as no play has seen them yet.
func (p *run) hostVariables(ctx context.Context, h *inventory.Host) (*connections.Variables, error) {
	d, err := p.Inventory.Vars(h)
	if err != nil {
		return nil, err
	}
	d = vars.Combine(d, inventory.Magic(p.Inventory, h.Name), false)
	d = vars.Combine(d, p.Extra, false)
	t := templar.New(templar.DictVars{Dict: d}, p.Templates)
	return &connections.Variables{Find: func(name string) (string, bool, error) {
		raw, ok := d.Get(name)
		if !ok {
			return "", false, nil
		}
		text, err := t.Text(ctx, raw)
		return text, true, err
	}}, nil
}

func (p *run) sshHost(name string, v *connections.Variables) bootstrap.Host {
	kind := v.Text(p.o.Connect.Kind, "ansible_connection")
	ways := p.ways()
	h := bootstrap.Host{Name: name, Target: ways.SSH(name, v)}
	if agent := v.Text("", "hark_agent"); agent != "" {
		h.Name = agent
	}
	method := v.Text(p.o.Become.Method, "ansible_become_method")
	option := func(o dialect.BecomeOption, otherwise string) string {
		return v.Text(otherwise, dialect.BecomeVariables(method, o)...)
	}
	h.Become = bootstrap.Become{On: v.Truth(p.o.Become.On, "ansible_become"), RunAs: dialect.RunAs{
		Method:   method,
		Exe:      option(dialect.BecomeExe, p.cfg.Text("DEFAULT_BECOME_EXE")),
		Flags:    option(dialect.BecomeFlags, p.cfg.Text("DEFAULT_BECOME_FLAGS")),
		Password: option(dialect.BecomePass, p.o.Passwords.Become),
	}}
	switch connections.KindOf(kind) {
	case connections.Here:
		v.Fail(errLocal)
	case connections.Smart, connections.SSH:
	default:
		v.Fail(fmt.Errorf(
			"its connection is %s, and agents are put on hosts over ssh only: leave it out of the pattern, or install "+
				"hark-agent there and use a token", kind))
	}
	h.Err = errors.Join(v.Err, wire.CheckName(h.Name))
	return h
}
