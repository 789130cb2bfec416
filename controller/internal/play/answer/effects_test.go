package answer

import (
	"context"
	"testing"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func effect(layer, host string, d *value.Dict) wire.Effect {
	return wire.Effect{Layer: layer, Host: host, Vars: plan.Dict{Dict: d}}
}

// An agent that was taken over tells of variables that its step does not set, or that are another host's.
func TestAgentsSetOnlyWhatTheirStepsSet(t *testing.T) {
	named := task("1", "command", dict())
	named.Register = "r"
	facts := task("2", "set_fact", dict("port", "80"))
	computed := task("3", "set_fact", dict("{{ name }}", "80"))
	far := task("4", "setup", dict())
	far.DelegateTo, far.DelegateFacts = plan.Lit(value.YAMLStr("b")), plan.Lit(value.Bool(true))
	nowhere := task("5", "setup", dict())
	nowhere.DelegateTo = plan.Lit(value.YAMLStr("b"))
	set := func(context.Context, *modules.Env, struct{}) (modules.Result, error) { return modules.Result{}, nil }
	known := modules.NewRegistry(modules.Define("ansible.builtin.set_fact", "", set, modules.Is(modules.SetsVariables)))
	tests := []struct {
		name string
		step *plan.Step
		told wire.Effect
		want bool
	}{
		{"what it registers", named, effect("set", "", dict("r", "x")), true},
		{"what it does not register", named, effect("set", "", dict("q", "x")), false},
		{"a fact", named, effect("facts", "", dict("kernel", "x")), true},
		{"a fact that says which agent it is", named, effect("facts", "", dict("hark_agent", "db1")), false},
		{"a fact that leads to the controller", named, effect("facts", "", dict("ansible_connection", "local")), false},
		{"another host's fact", named, effect("facts", "b", dict("kernel", "x")), false},
		{"a delegated fact", far, effect("facts", "b", dict("kernel", "x")), false},
		{"a delegated fact of a third host", far, effect("facts", "c", dict("kernel", "x")), false},
		{"a fact that is not delegated", nowhere, effect("facts", "b", dict("kernel", "x")), false},
		{"what set_fact names", facts, effect("set", "", dict("port", "80")), true},
		{"what set_fact does not name", facts, effect("set", "", dict("cmd", "x")), false},
		{"a name that is computed", computed, effect("set", "", dict("cmd", "x")), true},
		{"a computed name that leads to the controller", computed, effect("set", "", dict("ansible_connection", "local")), false},
		{"a file of variables that nobody includes", named, effect("include", "", dict("port", "80")), false},
		{"facts that are cleared by a task", named, wire.Effect{Layer: "facts", Clear: true}, false},
		{"facts that are cleared by meta", &plan.Step{ID: "6", Kind: plan.Meta}, wire.Effect{Layer: "facts", Clear: true}, false},
		{"what no step sets", nil, effect("set", "", dict("x", "y")), false},
	}
	for _, tt := range tests {
		warned := 0
		a, _ := begun(t, Config{Warn: func(string) { warned++ }, Actions: Actions{Modules: known}}, nil)
		left := 0
		for _, e := range a.Admit("a", tt.step, []wire.Effect{tt.told}) {
			left += e.Vars.Len()
			if e.Clear {
				left++
			}
		}
		if admitted := left > 0; admitted != tt.want || (warned == 0) != tt.want {
			t.Errorf("%s: admitted %v, %d warnings", tt.name, admitted, warned)
		}
	}
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
		deep := dict("v", map[string]any{"list": []any{trap}})
		for _, told := range []*value.Dict{dict("v", trap), deep} {
			a.Mirror.Apply("a", a.Admit("a", tt.step, []wire.Effect{effect(tt.layer, "", told)}))
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
