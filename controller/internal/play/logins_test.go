package play

import (
	"regexp"
	"testing"

	"hark/modules"
	"hark/modules/all"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func TestPlansOfOneLogin(t *testing.T) {
	dict := func(name string) plan.Dict {
		d := value.NewDict()
		d.Set(name, value.SourceText("x"))
		return plan.Dict{Dict: d}
	}
	task := func(change func(*plan.Step)) *plan.Step {
		s := &plan.Step{Kind: plan.Task, Action: "ansible.builtin.command"}
		if change != nil {
			change(s)
		}
		return s
	}
	known := modules.NewRegistry(all.Modules()...)
	names := []string{"ansible_host", "ansible_user", "ansible_ssh_private_key_file"}
	include := &plan.Step{Kind: plan.Include, Action: "ansible.builtin.include_tasks", Evaluator: plan.Controller}
	debug := &plan.Step{Kind: plan.Task, Action: "ansible.builtin.debug"}
	for name, c := range map[string]struct {
		steps    []*plan.Step
		mentions bool
		want     bool
	}{
		"a task":                             {[]*plan.Step{task(nil)}, true, true},
		"nothing for the host":               {[]*plan.Step{debug}, false, false},
		"the controller's tasks":             {[]*plan.Step{task(func(s *plan.Step) { s.Evaluator = plan.Controller })}, false, false},
		"another key":                        {[]*plan.Step{task(nil), task(func(s *plan.Step) { s.Vars = dict(names[2]) })}, false, false},
		"another user":                       {[]*plan.Step{task(nil), task(func(s *plan.Step) { s.Vars = dict(names[1]) })}, false, true},
		"a user who is computed":             {[]*plan.Step{task(func(s *plan.Step) { s.RemoteUser.V = value.SourceText("{{ x }}") })}, false, false},
		"a key is set":                       {[]*plan.Step{task(nil), task(func(s *plan.Step) { s.Action, s.Args = "ansible.builtin.set_fact", dict(names[2]) })}, false, false},
		"a new connection":                   {[]*plan.Step{task(nil), {Kind: plan.Meta, Args: dict("_raw_params")}}, false, true},
		"an include that may bring a key":    {[]*plan.Step{task(nil), include}, true, false},
		"an include that brings no such key": {[]*plan.Step{task(nil), include}, false, true},
	} {
		b := plan.Block{}
		for _, s := range c.steps {
			b.Body = append(b.Body, plan.Node{Step: s})
		}
		mentions := func(words *regexp.Regexp) bool {
			if !words.MatchString("ansible_ssh_private_key_file: x") || !words.MatchString("meta: reset_connection") || words.MatchString("remote_user: x") {
				t.Errorf("it looks for %s", words)
			}
			return c.mentions
		}
		if got := oneLogin(known, &plan.Plan{Blocks: []plan.Block{b}}, names, mentions); (got != nil) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	reset := dict("_raw_params")
	reset.Set("_raw_params", value.SourceText("reset_connection"))
	p := &plan.Plan{Blocks: []plan.Block{{Body: []plan.Node{{Step: task(nil)}, {Step: &plan.Step{Kind: plan.Meta, Args: reset}}}}}}
	if oneLogin(known, p, names, nil) != nil {
		t.Error("a play that has connections made anew has one login")
	}
}
