package inventory

import (
	"context"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// AgentsSource is the source that stands for all known agents, without a file: -i hark:
const AgentsSource = "hark:"

// Agent is a host as its agent describes it, for the plug-in hark.
type Agent struct {
	Name    string
	Present bool
	// Vars are what the roster knows. Facts are its cached facts, for templates; nil if there are none.
	Vars, Facts *value.Dict
}

// wantsAllAgents accepts the source that needs no file; it is enabled whatever the settings say.
func wantsAllAgents(r *reading, path string) bool {
	return r.o.Agents != nil && path == AgentsSource
}

func wantsAgents(r *reading, path string) bool {
	return r.o.Agents != nil && wantsConfig(r, path)
}

// parseAgents adds a host for every agent, and groups and variables from their facts as the constructed plug-in does.
//
//	plugin: hark
//	absent: false          # true: those that are not there, too
//	strict, compose, groups, keyed_groups, leading_separator: as constructed has them
func parseAgents(ctx context.Context, r *reading, path string) error {
	d := value.NewDict()
	if path != AgentsSource {
		var err error
		if d, err = r.config(path, "hark"); err != nil {
			return err
		}
		if err := checkAgentOptions(path, d); err != nil {
			return err
		}
	}
	agents, err := r.o.Agents(ctx)
	if err != nil {
		return failf("cannot find the agents: %s", err)
	}
	facts := map[string]*value.Dict{}
	c := newConstructed(r, d)
	c.facts = func(host string) *value.Dict { return facts[host] }
	absent, _ := d.Get("absent")
	for _, a := range agents {
		if !a.Present && !value.SaysYes(absent) {
			continue
		}
		h, err := r.tree.addHost(a.Name, r.tree.groups["ungrouped"], 0)
		if err != nil {
			return err
		}
		for _, k := range a.Vars.Keys() {
			v, _ := a.Vars.GetKey(k)
			if err := r.tree.setVariable(a.Name, value.Printed(k), v); err != nil {
				return err
			}
		}
		facts[a.Name] = injected(a.Facts)
		if err := c.host(ctx, h, d); err != nil {
			return failf("failed to parse %s: %s", path, err)
		}
	}
	return nil
}

// checkAgentOptions rejects options that the plug-in does not have: a misspelt group would be empty, and nobody would
// know why.
func checkAgentOptions(path string, d *value.Dict) error {
	known := []string{"plugin", "absent", "strict", "compose", "groups", "keyed_groups", "leading_separator",
		"use_extra_vars", "use_vars_plugins"}
	for _, k := range d.Keys() {
		if name := value.Printed(k); !slices.Contains(known, name) {
			return failf("%s: the plug-in hark has no option %s: it has %s", path, value.ReprText(name),
				strings.Join(known[1:], ", "))
		}
	}
	return nil
}

// injected returns facts as templates see them: as ansible_facts, and each by itself with ansible_ before its name.
func injected(facts *value.Dict) *value.Dict {
	out := value.NewDict()
	if facts == nil {
		return out
	}
	facts.Each(func(k, v value.Value) bool {
		if name := value.Printed(k); !strings.HasPrefix(name, "_") {
			out.Set("ansible_"+strings.TrimPrefix(name, "ansible_"), v)
		}
		return true
	})
	out.Set("ansible_facts", facts)
	return out
}
