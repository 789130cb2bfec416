package answer

import (
	"context"
	"strconv"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// stepVariables returns those that a step sees for a host, raw: the mirror's, with own, those that only the session
// has (runner.ownVariables).
func (c *Config) stepVariables(ctx context.Context, b *batch, step *plan.Step, host string,
	own *value.Dict) (*value.Dict, error) {
	entry := func(name string) *value.Dict {
		v, _ := orEmpty(own).Get(name)
		d, _ := v.(*value.Dict)
		return orEmpty(d)
	}
	shared := *b.shared
	shared.VarsFiles = append([]plan.VarsFile(nil), shared.VarsFiles...)
	late := entry("late")
	for i := range shared.VarsFiles {
		if v, _ := late.Get(strconv.Itoa(i)); shared.VarsFiles[i].Late {
			d, _ := v.(*value.Dict)
			shared.VarsFiles[i].Late, shared.VarsFiles[i].Vars = false, plan.Dict{Dict: d}
		}
	}
	layers := vars.Step{Role: b.role(step.Role), Vars: step.Vars.Dict, IncludeVars: step.IncludeVars.Dict,
		Environment: step.Environment, Search: step.Search}
	layers.Local = entry("local")
	all, err := c.Mirror.StepScope(host, &shared, layers).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"ansible_play_hosts", "ansible_play_batch", "play_hosts"} {
		if b.Magic == nil {
			break
		}
		if v, ok := b.Magic(name); ok {
			all.Set(name, v)
		}
	}
	if _, ok := all.Get("environment"); !ok && step.Action != "" {
		all.Set("environment", value.NewList())
	}
	if !c.Templates.Has(dialect.OmitIsNoVariable) {
		all.Set("omit", value.Omit{})
	}
	return readable(all), nil
}

// rawHostvars returns those of a host of the inventory as hostvars has them, raw; nil if it has none of the name.
func (c *Config) rawHostvars(ctx context.Context, b *batch, host string) (*value.Dict, error) {
	if !c.Mirror.Known(host) {
		return nil, nil
	}
	all, err := c.Mirror.seen(host, ViewOptions{Shared: vars.HostvarsShared(b.shared)}).All(ctx)
	if err != nil {
		return nil, err
	}
	return readable(all), nil
}

// readable leaves out what is sealed and cannot be opened: it is in nobody's way who does not read it.
func readable(all *value.Dict) *value.Dict {
	out := value.NewDict()
	all.Each(func(k, v value.Value) bool {
		if vault, ok := v.(*value.Vault); ok {
			if _, err := vault.Open(); err != nil {
				return true
			}
		}
		out.SetKey(k, v)
		return true
	})
	return out
}
