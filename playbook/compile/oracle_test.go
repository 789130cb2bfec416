package compile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// compare holds the steps against what Ansible made of the same project.
func (c *testCase) compare(t *testing.T, steps []map[string]any, dir string) {
	if c.oracle == nil {
		return
	}
	var want []map[string]any
	for _, line := range c.oracle {
		var m map[string]any
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(line, "$DIR", dir)), &m); err != nil {
			t.Fatal(err)
		}
		want = append(want, m)
	}
	raw, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Ansible's tasks differ (-Ansible +ours)\n%s", diff)
	}
}

// describe gives the steps of a plan as oracle.py describes tasks.
func describe(p *plan.Plan) []map[string]any {
	var out []map[string]any
	for _, b := range p.Blocks {
		out = append(out, describeBlock(p, b)...)
	}
	for _, h := range p.Handlers {
		m := describeStep(p, h.Step)
		m["handler"] = true
		out = append(out, m)
	}
	return out
}

func describeBlock(p *plan.Plan, b plan.Block) []map[string]any {
	if b.RoleEnd != "" {
		return []map[string]any{{"action": "meta", "raw": "role_complete", "role": p.Roles[b.RoleEnd].FullName()}}
	}
	var out []map[string]any
	for _, nodes := range [][]plan.Node{b.Body, b.Rescue, b.Always} {
		for _, n := range nodes {
			if n.Block != nil {
				out = append(out, describeBlock(p, *n.Block)...)
			} else if !n.Step.Implicit || n.Step.Kind == plan.Meta { // gathering is no part of Ansible's list
				out = append(out, describeStep(p, n.Step))
			}
		}
	}
	return out
}

func describeStep(p *plan.Plan, s *plan.Step) map[string]any {
	m := map[string]any{"action": s.Written}
	put := func(name string, v value.Value) {
		if v == nil {
			return
		}
		x, err := value.ToGo(v)
		if err != nil {
			x = err.Error()
		}
		m[name] = x
	}
	if raw, ok := s.Args.Get("_raw_params"); ok {
		put("raw", raw)
	}
	if s.Implicit && s.Kind == plan.Meta {
		return m
	}
	m["name"] = s.Name
	if len(s.Tags) > 0 {
		m["tags"] = s.Tags
	}
	for _, k := range plan.Keywords() {
		v := k.Given(s)
		quiet := v == value.Bool(false) && (k.Name == "no_log" || k.Name == "check_mode" || k.Name == "diff" ||
			k.Name == "any_errors_fatal")
		if k.Inherited() && k.Name != "connection" && k.Name != "tags" && !quiet {
			put(k.Name, v)
		}
	}
	dicts := map[string]plan.Dict{"vars": s.Vars, "include_vars": s.IncludeVars}
	if r := p.Roles[s.Role]; r != nil {
		m["role"] = r.FullName()
		dicts["role_defaults"], dicts["role_vars"], dicts["role_params"] = r.Defaults, r.Vars, r.Params
	}
	for name, d := range dicts {
		if d.Len() > 0 {
			put(name, d.Dict)
		}
	}
	m["search"] = s.Search
	return m
}
