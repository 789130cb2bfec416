package answer

import (
	"context"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func effect(layer, host string, d *value.Dict) wire.Effect {
	return wire.Effect{Layer: layer, Host: host, Vars: plan.Dict{Dict: d}}
}

func setsVariables() *modules.Registry {
	set := func(context.Context, *modules.Env, struct{}) (modules.Result, error) { return modules.Result{}, nil }
	return modules.NewRegistry(modules.Define("ansible.builtin.set_fact", "", set, modules.Is(modules.SetsVariables)))
}

const trap = "{{ lookup('pipe', 'touch /tmp/taken') }}"

// A template that an agent has written is text for everybody else: neither the controller nor another host renders it.
func TestTemplatesOfAgentsAreText(t *testing.T) {
	register := task("1", "command", dict())
	register.Register = "v"
	set, shown := task("2", "set_fact", dict("v", "{{ x }}")), task("3", "debug", dict())
	shown.Register = "v"
	for _, tt := range []struct {
		step  *plan.Step
		layer string
	}{{register, "set"}, {register, "facts"}, {set, "set"}, {set, "facts"}, {shown, "set"}} {
		asked := false
		cfg := Config{Mirror: NewMirror(fleet{"a": dict("own", "{{ 'it is ' ~ v }}")}, false)}
		cfg.Templates.Lookup = func(context.Context, string, []value.Value, *value.Dict) (value.Value, error) {
			asked = true
			return value.NewList(), nil
		}
		a, _ := begun(t, cfg, nil, register, set, shown, task("5", "debug", dict("var", "hostvars")))
		door := admit.New(admit.Config{Modules: setsVariables()})
		deep := dict("v", map[string]any{"list": []any{trap}})
		for _, told := range []*value.Dict{dict("v", trap), deep} {
			effects, err := door.Reported("a", tt.step, []wire.Effect{effect(tt.layer, "", told)})
			if err != nil {
				t.Fatal(err)
			}
			a.Mirror.Apply("a", effects)
			for _, host := range []string{"a", "b"} {
				k := ask(wire.AskVars, host, "5")
				k.Hosts = []string{"a"}
				if got := a.Answer(context.Background(), k); got.Err != "" || asked {
					t.Errorf("%s of %s: the controller has looked it up: %v (%s)", tt.layer, tt.step.Action, asked, got.Err)
				}
			}
		}
	}
}
