package admit

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/fleet/connections"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

func dict(kv ...any) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(kv); i += 2 {
		d.Set(kv[i].(string), value.FromGo(kv[i+1], value.KindSource))
	}
	return d
}

func effect(layer, host string, d *value.Dict) wire.Effect {
	return wire.Effect{Layer: layer, Host: host, Vars: plan.Dict{Dict: d}}
}

func task(id plan.ID, action string, args *value.Dict) *plan.Step {
	return &plan.Step{
		ID: id, Kind: plan.Task, Action: "ansible.builtin." + action, Written: action, Args: plan.Dict{Dict: args},
	}
}

// heard is a door with what it has told.
type heard struct {
	*Admission
	warnings []string
	secrets  map[string][]string
}

func newDoor() *heard {
	set := func(context.Context, *modules.Env, struct{}) (modules.Result, error) { return modules.Result{}, nil }
	h := &heard{secrets: map[string][]string{}}
	h.Admission = New(Config{
		Modules: modules.NewRegistry(
			modules.Define("ansible.builtin.set_fact", "", set, modules.Is(modules.SetsVariables))),
		Options:    (&connections.Settings{}).Names(),
		Documented: func() map[string]bool { return map[string]bool{"my_weird_var": true} },
		Warn:       func(text string) { h.warnings = append(h.warnings, text) },
		Secrets:    func(host string, texts []string) { h.secrets[host] = append(h.secrets[host], texts...) },
	})
	return h
}

// names are those of all variables that effects set.
func names(effects Effects) []string {
	out := []string{}
	for _, e := range effects.List() {
		e.Vars.Each(func(k, _ value.Value) bool {
			name, _ := value.Text(k)
			out = append(out, name)
			return true
		})
		if e.Clear {
			out = append(out, "clear")
		}
	}
	return out
}

// An agent that was taken over tells of variables that its step does not set, or that are another host's.
func TestAgentsSetOnlyWhatTheirStepsSet(t *testing.T) {
	named := task("1", "command", dict())
	named.Register = "r"
	facts := task("2", "set_fact", dict("port", "80"))
	computed := task("3", "set_fact", dict("{{ name }}", "80"))
	far := task("4", "setup", dict())
	far.DelegateTo, far.DelegateFacts = plan.Lit(value.SourceText("b")), plan.Lit(value.Bool(true))
	for _, tt := range []struct {
		name string
		step *plan.Step
		told wire.Effect
		want bool
	}{
		{"what it registers", named, effect("set", "", dict("r", "x")), true},
		{"what it does not register", named, effect("set", "", dict("q", "x")), false},
		{"a fact", named, effect("facts", "", dict("kernel", "x")), true},
		{"another host's fact", named, effect("facts", "b", dict("kernel", "x")), false},
		{"a delegated fact", far, effect("facts", "b", dict("kernel", "x")), false},
		{"a delegated fact of a third host", far, effect("facts", "c", dict("kernel", "x")), false},
		{"what set_fact names", facts, effect("set", "", dict("port", "80")), true},
		{"what set_fact does not name", facts, effect("set", "", dict("cmd", "x")), false},
		{"a name that is computed", computed, effect("set", "", dict("cmd", "x")), false},
		{"the template of a name", computed, effect("set", "", dict("{{ name }}", "x")), true}, // a name that nobody can use
		{"a file of variables that nobody includes", named, effect("include", "", dict("port", "80")), false},
		{"facts that are cleared by a task", named, wire.Effect{Layer: "facts", Clear: true}, false},
		{"facts that are cleared by meta", &plan.Step{ID: "6", Kind: plan.Meta}, wire.Effect{Layer: "facts", Clear: true},
			false},
		{"what no step sets", nil, effect("set", "", dict("x", "y")), false},
	} {
		door := newDoor()
		got, err := door.Reported("a", tt.step, []wire.Effect{tt.told})
		if admitted := len(names(got)) > 0; err != nil || admitted != tt.want || (len(door.warnings) == 0) != tt.want {
			t.Errorf("%s: admitted %v, %v, told %q", tt.name, admitted, err, door.warnings)
		}
	}
}

// protected are all variables that decide how hosts are reached, by the tables of those who reach them: a connection
// that is new is among them without a word here.
func protected(t *testing.T) []string {
	t.Helper()
	all := append((&connections.Settings{}).Names(), "hark_agent", "ansible_async_dir", "ansible_python_interpreter",
		"ansible_mine_exe", "ansible_ours_pass", "my_weird_var",
		"inventory_hostname", "group_names", "playbook_dir", "hostvars")
	for _, k := range plan.Keywords() {
		all = append(all, k.Variables("sudo")...)
		all = append(all, k.Variables("su")...)
	}
	if len(all) < 60 {
		t.Fatalf("%d names are too few", len(all))
	}
	return all
}

// No protected variable comes in by any way on which hosts speak, in any layer, whatever its value: effects of an
// agent's steps, facts in results of calls, facts that are delegated, facts of a cache, names that a template made of a
// host's words.
func TestNothingProtectedComesInByAnyWay(t *testing.T) {
	door := newDoor()
	door.Know([]string{"mine"}, []string{"ours"})
	loud := task("1", "command", dict())
	loud.Register = "r"
	computed := task("2", "set_fact", dict("{{ item.key }}", "{{ item.value }}"))
	for _, name := range protected(t) {
		for _, v := range []any{"x", map[string]any{"a": "b"}, []any{"x"}, true} {
			if _, isMap := v.(map[string]any); isMap && (name == "ansible_mine_exe" || name == "ansible_ours_pass") {
				continue // interfaces may be called as plug-ins of which the controller does not know the options
			}
			said := dict(name, v, "plain", "x")
			ways := map[string]Effects{
				"a result of a call":   door.Evaluated("a", loud, []wire.Effect{effect("facts", "", said)}),
				"a delegated fact":     door.Evaluated("a", loud, []wire.Effect{effect("facts", "b", said)}),
				"a name of a template": door.Evaluated("a", computed, []wire.Effect{effect("set", "", said)}),
				"a name of a cached fact": door.Evaluated("a", computed,
					[]wire.Effect{effect("facts", "", said), effect("set", "", said)}),
				"a step that is not known": door.Evaluated("a", nil, []wire.Effect{effect("set", "", said)}),
			}
			for _, layer := range []string{"facts", "set", "include"} {
				got, err := door.Reported("a", loud, []wire.Effect{effect(layer, "", said), effect(layer, "b", said)})
				if err != nil {
					t.Fatal(err)
				}
				ways["an event, "+layer] = got
			}
			for way, got := range ways {
				if slices.Contains(names(got), name) {
					t.Errorf("%s = %v comes in by %s", name, v, way)
				}
			}
			if !slices.Contains(names(ways["a result of a call"]), "plain") {
				t.Fatal("nothing comes in at all")
			}
			if kept := door.Cached("a", said).Dict(); kept.Has(name) || !kept.Has("plain") {
				t.Errorf("%s = %v comes in by a cache", name, v)
			}
		}
	}
}

// A playbook may set what no host may: by names that it writes, and by files of variables.
func TestPlaybooksSetWhatTheyWrite(t *testing.T) {
	door := newDoor()
	written := task("1", "set_fact", dict("ansible_host", "{{ address }}", "{{ name }}", "x"))
	registered := task("2", "command", dict())
	registered.Register = "ansible_user"
	defaults := task("3", "set_fact", dict())
	defaults.Defaults = []plan.Dict{{Dict: dict("ansible_port", 22)}}
	for _, tt := range []struct {
		step  *plan.Step
		layer string
		name  string
	}{
		{written, "set", "ansible_host"}, {registered, "set", "ansible_user"}, {defaults, "set", "ansible_port"},
		{task("4", "include_vars", dict()), "include", "ansible_connection"}, {written, "set", "app_x"},
	} {
		got := door.Evaluated("a", tt.step, []wire.Effect{effect(tt.layer, "", dict(tt.name, "x"))})
		if !slices.Equal(names(got), []string{tt.name}) || len(door.warnings) > 0 {
			t.Errorf("%s of step %s: %q, %q", tt.name, tt.step.ID, names(got), door.warnings)
		}
	}
}

// A result says what a module says, without marks by which the house goes, however they are spelled.
func TestResultsOfCallsHaveNoMarksOfTheHouse(t *testing.T) {
	door := newDoor()
	e := &wire.Exec{Host: "web1", Origin: "db1", Step: "1"}
	for in, want := range map[string]string{
		`{"rc": 0, "stdout": "_ansible_x"}`:                                   "",
		`{"_ansible_new_secrets":["changed","hello"],"a":{"_ansible_b":[1]}}`: `{"a":{"_ansible_b":[1]}}`,
		`{"_ansible_delegated_vars":{"ansible_delegated_host":"db2"},"a":1}`:  `{"a":1}`,
		`{"a":1,"\u005fansible_facts_cacheable":true,"_ansible_notify":[]}`:   `{"a":1}`,
		`{"_ansible_no_log":true,"_ansible_item_label":"x"}`:                  `{"_ansible_no_log":true}`,
		`not a result, _ansible_`:                                             "",
		`["_ansible_"]`:                                                       "",
		`{"_ansible_delegated_vars":{}, broken`:                               "",
	} {
		if want == "" {
			want = in
		}
		got, err := door.Result(e, json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s is taken as %s (%v)", in, got, err)
		}
	}
	if !slices.Equal(door.secrets["web1"], []string{"changed", "hello"}) || len(door.secrets) != 1 {
		t.Errorf("secrets are %v", door.secrets)
	}
}

// many are n values that take much more memory than they are long.
func many(n int) *value.List {
	l := value.NewList()
	for range n {
		l.Items = append(l.Items, value.NewList())
	}
	return l
}

// What one host says has a bound, by its own events and in results of calls, for its own steps and for those of others.
// What is over is forgotten, and nobody else has less for it.
func TestWhatOneHostSaysHasABound(t *testing.T) {
	setup := task("1", "setup", dict())
	told := func(door *heard, host, name string) bool {
		d := value.NewDict()
		d.Set(name, many(100_000))
		_, err := door.Reported(host, setup, []wire.Effect{effect("facts", "", d)})
		return err == nil
	}
	door := newDoor()
	for range 100 {
		if !told(door, "a", "same") {
			t.Fatal("one fact that is told again and again is too much")
		}
	}
	fits := func(one func(i int) bool) int {
		n := 0
		for n < 1000 && one(n) {
			n++
		}
		return n
	}
	if n := fits(func(i int) bool { return told(door, "a", string(rune('a'+i))) }); n < 5 || n > 100 {
		t.Errorf("%d facts of 3 MB each fit", n)
	}
	if !told(door, "b", "x") {
		t.Error("another host has no room")
	}
	raw := json.RawMessage(`{"ansible_facts":{"f":[` + strings.Repeat("[],", 500_000) + `[]]}}`)
	call := func(id plan.ID) bool {
		_, err := door.Result(&wire.Exec{Host: "web1", Origin: "db1", Step: id}, raw)
		return err == nil
	}
	n := fits(func(int) bool { return call("5") })
	if n < 2 || n > 20 {
		t.Errorf("%d results of 1.5 MB of text fit", n)
	}
	door.Done("db1", "5")
	if m := fits(func(int) bool { return call("6") }); m != n {
		t.Errorf("after a step is done %d fit and not %d", m, n)
	}
	door.End()
	// what becomes variables of others stays with who has said it
	for i := range 1000 {
		id := plan.ID(string(rune('a' + i)))
		if !call(id) {
			if i < 2 || i > 100 {
				t.Errorf("%d results that become facts of another host fit", i)
			}
			break
		}
		s := task(id, "setup", dict())
		d := value.NewDict()
		d.Set(string(id), many(500_000))
		door.Evaluated("db1", s, []wire.Effect{effect("facts", "", d)})
		door.Done("db1", id)
		if i == 999 {
			t.Error("facts of another host have no bound")
		}
	}
	if !told(door, "db1", "x") {
		t.Error("the host for which another has spoken has no room")
	}
}

// A result with as much output as is kept is within the bound, however many lines that has.
func TestMuchOutputIsWithinTheBound(t *testing.T) {
	text := value.UnsafeStr(strings.Repeat("hello\n", 20<<20/6))
	r, all := value.NewDict(), value.NewDict()
	r.Set("stdout", text)
	r.Set("stdout_lines", value.NewLines(text))
	all.Set("r", r)
	s := task("1", "command", dict())
	s.Register = "r"
	door := newDoor()
	if _, err := door.Reported("a", s, []wire.Effect{effect(string(vars.Set), "", all)}); err != nil {
		t.Error(err)
	}
	raw, err := json.Marshal(map[string]string{"stdout": string(text)})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := door.Result(&wire.Exec{Host: "a", Origin: "a", Step: "2"}, raw); err != nil {
			t.Error(err)
		}
	}
}
