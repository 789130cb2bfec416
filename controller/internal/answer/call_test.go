package answer

import (
	"encoding/json"
	"testing"

	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

func TestDelegatedCallsAreThoseOfTheStep(t *testing.T) {
	loose := func(s *plan.Step) *plan.Step { s.Defaults = []plan.Dict{{Dict: dict("a", "b")}}; return s }
	for _, tt := range []struct {
		step *plan.Step
		args string
		ok   bool
	}{
		{task("1", "command", dict("_raw_params", "drop {{ inventory_hostname }}")), `{"_raw_params": "drop web1"}`, true},
		{task("1", "command", dict("_raw_params", "drop {{ inventory_hostname }}")), `{"_raw_params": "rm -r /"}`, false},
		{task("1", "command", dict("_raw_params", "drop {{ x }}")), `{"_raw_params": "drop a", "chdir": "/tmp"}`, false},
		{task("1", "command", dict("_raw_params", "drop {{ x }}", "chdir", "{{ y | default(omit) }}")), `{"_raw_params": "drop a"}`, true},
		{task("1", "command", dict("_raw_params", "drop")), `{"_raw_params": "drop "}`, true},
		{task("1", "command", dict("_raw_params", "drop")), `{"_raw_params": ["rm"]}`, false},
		{task("1", "command", dict("argv", []any{"drop", "{{ x }}"})), `{"argv": ["drop", "web1"]}`, true},
		{task("1", "wait_for", dict("port", 80, "host", "{{ h }}")), `{"port": 80, "host": "web1"}`, true},
		{task("1", "wait_for", dict("port", 80)), `{"port": 81}`, false},
		{task("1", "wait_for", dict("port", "{{ p }}")), `{"port": 80}`, true},
		{task("1", "copy", dict("src", "a", "dest", "/b")), `{"_source": "0123", "dest": "/b"}`, true},
		{task("1", "wait_for", dict("port", 80)), `{"port": 80`, false},
		{loose(task("1", "wait_for", dict("port", 80))), `{"port": 80, "a": "b"}`, true},
	} {
		why := sendsOther(tt.step, &wire.Call{Module: tt.step.Action, Args: json.RawMessage(tt.args)})
		if (why == "") != tt.ok {
			t.Errorf("%s with %s: %q", textOf(tt.step.Args.Dict), tt.args, why)
		}
	}
	step := task("1", "command", dict("_raw_params", "drop"))
	c := &wire.Call{Module: step.Action, Args: json.RawMessage(`{"_raw_params": "drop"}`), Environment: map[string]string{"LD_PRELOAD": "x"}}
	if sendsOther(step, c) == "" {
		t.Error("an environment that the step has not is sent")
	}
	step.Environment = []plan.Expr{plan.Lit(value.YAMLStr("{{ env }}"))}
	if why := sendsOther(step, c); why != "" {
		t.Error(why)
	}
}
