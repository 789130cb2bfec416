package answer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/link"
	"hark/modules"
	"hark/modules/connection"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/plan/keywordtest"
)

// stageFor is an Answerer of a plan whose first step has an action plug-in, delegated to b, and whose second has
// none. run is the plug-in.
func stageFor(t *testing.T, run func(plugins.Action) (plugins.Acted, error)) (a *Answerer, calls *[]wire.Exec) {
	t.Helper()
	calls = &[]wire.Exec{}
	native := func(context.Context, *modules.Env, struct{}) (modules.Result, error) { return modules.Result{}, nil }
	copies := func(context.Context, *modules.Env, struct {
		RemoteSrc bool `arg:"remote_src"`
	}) (modules.Result, error) {
		return modules.Result{}, nil
	}
	resolves := modules.WithResolve(func(context.Context, *modules.Env, *value.Dict) error { return nil })
	cfg := Config{
		Mirror: NewMirror(fleet{"a": dict("color", "{{ shade }}", "shade", "red"), "b": dict("color", "blue")}, false),
		Pack:   func(*plan.Step) ([]byte, error) { return []byte("pack"), nil },
		Exec: func(_ context.Context, e wire.Exec) ([]byte, error) {
			*calls = append(*calls, e)
			if e.Call.Name == "gone" {
				return nil, &link.AbsentError{Host: e.Host, Reason: "b is not there"}
			}
			return []byte(`{"changed": true}`), nil
		},
		Actions: Actions{
			Run:   func(_ context.Context, p plugins.Action) (plugins.Acted, error) { return run(p) },
			Dirs:  func() []string { return nil },
			Books: func() []string { return nil },
			Module: func(name string, _ []string) (string, *plan.Foreign) {
				if name == "packed" {
					return "acme.tools.packed", &plan.Foreign{Path: "/packed.py"}
				}
				return "ansible.builtin." + name, nil
			},
			Modules: modules.NewRegistry(modules.Define("ansible.builtin.stat", "", native), modules.Define("ansible.builtin.gone", "", native),
				modules.Define("ansible.builtin.copy", "", copies, resolves), modules.Define("ansible.builtin.debug", "", native, modules.InSession),
				modules.Define("ansible.builtin.ask", "", native, modules.With(func(m *modules.Module) { m.NoCheck = true }))),
		},
	}
	step := task("1", "bend", dict("x", "{{ y }}", "z", "here"))
	step.Environment = []plan.Expr{plan.Lit(dict("A", "1"))}
	step.Plugin = &plan.ActionPlugin{Name: "acme.tools.bend", Path: "/bend.py"}
	step.DelegateTo = plan.Lit(value.SourceText("b"))
	named := func(b *Batch) {
		b.Plan.Play.Name, b.Plan.Play.Magic = "play {{ pw }}", plan.Dict{Dict: dict("ansible_play_name", "play one")}
	}
	a, _ = begun(t, cfg, named, step, task("2", "debug", dict()))
	return a, calls
}

func actionAsk(step plan.ID, host string, kw *value.Dict) wire.Ask {
	k := ask(wire.AskAction, "a", step)
	k.Name, k.Kw = host, plan.Dict{Dict: kw}
	k.Call = &wire.Call{Name: "bend", User: wire.RunAs{User: "joe"}, Environment: map[string]string{"A": "1"}, Async: 5, Poll: 3}
	return k
}

func TestAnActionPluginRunsForItsStepAlone(t *testing.T) {
	ran := 0
	a, _ := stageFor(t, func(plugins.Action) (plugins.Acted, error) { ran++; return plugins.Acted{Result: []byte(`{}`)}, nil })
	without := actionAsk("1", "a", dict())
	without.Call = nil
	args := func(kv ...any) *value.Dict { return dict("task", map[string]any{"args": dict(kv...)}) }
	for name, k := range map[string]wire.Ask{
		"a step without":  actionAsk("2", "a", dict()),
		"without a call":  without,
		"a step of no ID": actionAsk("7", "a", dict()),
	} {
		if got := a.Answer(t.Context(), k); !strings.HasPrefix(got.Err, "refused: ") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, host := range []string{"a", "b"} {
		if got := a.Answer(t.Context(), actionAsk("1", host, args("x", "any", "z", "here"))); got.Err != "" || string(got.Result) != "{}" {
			t.Errorf("for %s: %+v", host, got)
		}
	}
	if ran != 2 {
		t.Errorf("it ran %d times", ran)
	}
}

// The name of the play in the plan is for logs of hosts, see plan.Play.
func TestActionPluginsSeeTheNameOfThePlayAsItIsRendered(t *testing.T) {
	seen := ""
	a, _ := stageFor(t, func(p plugins.Action) (plugins.Acted, error) {
		seen = p.About.Text("play")
		return plugins.Acted{Result: []byte(`{}`)}, nil
	})
	a.Answer(t.Context(), actionAsk("1", "a", dict("task", map[string]any{"args": dict("x", "any", "z", "here")})))
	if seen != "play one" {
		t.Errorf("it sees %q", seen)
	}
}

// TestTasksOverConnectionPluginsAreAnsibles: a step without an action plug-in is run by ansible-core where the way to
// its host is a plug-in in Python, and nowhere else.
func TestTasksOverConnectionPluginsAreAnsibles(t *testing.T) {
	var direct []string
	a, _ := stageFor(t, func(p plugins.Action) (plugins.Acted, error) {
		text, _ := p.About.Get("direct")
		name, _ := value.Text(text)
		direct = append(direct, name)
		return plugins.Acted{Result: []byte(`{}`)}, nil
	})
	for _, tc := range []struct {
		step    plan.ID
		by, err string
	}{{"2", "winrm", ""}, {"2", "acme.tools.tunnel", ""}, {"2", "ssh", "refused: "}, {"2", "smart", "refused: "}, {"2", "community.docker.docker", "refused: "}, {"1", "network_cli", ""}, {"1", "ssh", ""}} {
		k := actionAsk(tc.step, "a", dict())
		k.Call.Reach = map[string]string{"ansible_connection": tc.by}
		if got := a.Answer(t.Context(), k); !strings.HasPrefix(got.Err, tc.err) || (got.Err == "") != (tc.err == "") {
			t.Errorf("step %s over %s: %+v", tc.step, tc.by, got)
		}
	}
	if want := []string{"winrm", "acme.tools.tunnel", "network_cli", ""}; !slices.Equal(direct, want) {
		t.Errorf("ansible-core was to open %q, want %q", direct, want)
	}
}

func TestHowActionPluginsComeOut(t *testing.T) {
	var out plugins.Acted
	var err error
	a, _ := stageFor(t, func(plugins.Action) (plugins.Acted, error) { return out, err })
	for _, tc := range []struct {
		out             plugins.Acted
		err             error
		text, kind, res string
	}{
		{plugins.Acted{Result: []byte(`{"a": 1}`)}, nil, "", "", `{"a": 1}`},
		{plugins.Acted{Result: []byte(`{"a": 1}`), Ended: true}, nil, "", wire.ActionEnded, `{"a": 1}`},
		{plugins.Acted{Unreachable: "away"}, nil, "away", "unreachable", ""},
		{plugins.Acted{Error: "wrong"}, nil, "wrong", "", ""},
		{plugins.Acted{Error: "'x'", Class: "KeyError"}, nil, "'x'", "KeyError", ""},
		{plugins.Acted{}, errors.New("no Python"), "no Python", "", ""},
	} {
		out, err = tc.out, tc.err
		if got := a.Answer(t.Context(), actionAsk("1", "a", dict())); got.Err != tc.text || got.ErrKind != tc.kind || string(got.Result) != tc.res {
			t.Errorf("%+v, %v: %+v", tc.out, tc.err, got)
		}
	}
}

// What a plug-in returns comes in by the door of results, as what its host has said: too much of it fails the task,
// and marks of the house go.
func TestWhatActionPluginsReturnComesInByTheDoor(t *testing.T) {
	var out plugins.Acted
	a, _ := stageFor(t, func(plugins.Action) (plugins.Acted, error) { return out, nil })
	secrets := map[string][]string{}
	door := admit.New(admit.Config{Secrets: func(host string, texts []string) { secrets[host] = texts }})
	a.Said = door.Result
	for _, ended := range []bool{false, true} {
		out = plugins.Acted{Ended: ended, Result: []byte(
			`{"a":1,"_ansible_notify":["h"],"_ansible_delegated_vars":{"x":1},"_ansible_new_secrets":["sesame"]}`)}
		if got := a.Answer(t.Context(), actionAsk("1", "b", dict())); string(got.Result) != `{"a":1}` || got.Err != "" {
			t.Errorf("marks: %+v", got)
		}
		out.Result = []byte(`{"f":[` + strings.Repeat("[],", admit.MostVariables/20) + `0]}`)
		got := a.Answer(t.Context(), actionAsk("1", "b", dict()))
		if got.Result != nil || !strings.Contains(got.Err, "what b says takes more than") {
			t.Errorf("a flood: %d bytes, %s", len(got.Result), got.Err)
		}
	}
	if len(secrets) != 1 || !slices.Equal(secrets["b"], []string{"sesame"}) {
		t.Errorf("secrets: %v", secrets)
	}
}

func TestWhatActionPluginsWantOfTheirHost(t *testing.T) {
	ops := []struct{ op, about, answer, err string }{
		{"module", `{"name": "stat", "args": {"path": "/x"}, "check": true, "environment": {"B": "2"}}`, `{"changed": true}`, ""},
		{"module", `{"name": "packed", "args": {"n": 1}, "job": true}`, `{"changed": true}`, ""},
		{"module", `{"name": "copy", "args": {"src": "/tmp/x", "dest": "/x"}}`, `{"changed": true}`, ""},
		{"module", `{"name": "copy", "args": {"content": "x", "dest": "/x"}}`, `null`, ""},
		{"module", `{"name": "debug", "args": {}}`, `null`, ""},
		{"module", `{"name": "none", "args": {}}`, `null`, ""},
		{"module", `{"name": "ask", "args": {}, "check": true}`, `{"msg":"remote module (ask) does not support check mode","skipped":true}`, ""},
		{"module", `{"name": "gone", "args": {}}`, ``, "b is not there"},
		{"exec", `{"cmd": "id", "become": true}`, `{"changed": true}`, ""},
		{"exec", `{"cmd": "id"}`, `{"changed": true}`, ""},
		{"put", `{"path": "/x", "data": "eA=="}`, `{"changed": true}`, ""},
		{"hostvars", `{"host": "a"}`, `"color":"{{ shade }}"`, ""},
		{"hostvars", `{"host": "c"}`, `null`, ""},
		{"shout", `{}`, ``, `internal error: the action plug-in asks for "shout"`},
	}
	a, calls := stageFor(t, func(p plugins.Action) (plugins.Acted, error) {
		for _, tc := range ops {
			v, err := p.Ask(t.Context(), tc.op, json.RawMessage(tc.about))
			raw, _ := json.Marshal(v)
			if err != nil {
				raw = nil
			}
			if said := errText(err); !strings.Contains(string(raw), strings.ReplaceAll(tc.answer, `": `, `":`)) || said != tc.err {
				t.Errorf("%s %s: %s, %q", tc.op, tc.about, raw, said)
			}
		}
		return plugins.Acted{Result: []byte(`{}`)}, nil
	})
	if got := a.Answer(t.Context(), actionAsk("1", "b", dict("login", "ann"))); got.Err != "" {
		t.Fatalf("%+v", got)
	}
	want := []struct {
		module, user, env, has string
		check                  bool
		async                  int
	}{
		{"ansible.builtin.stat", "joe", "2", `"path":"/x"`, true, 0},
		{foreign.Name, "joe", "", `"hark_args":"{\"n\": 1}"`, false, 5},
		{"ansible.builtin.copy", "joe", "", `"remote_src":true`, false, 0},
		{"ansible.builtin.gone", "joe", "", ``, false, 0},
		{connection.Name, "joe", "", `"cmd":"id"`, false, 0},
		{connection.Name, "ann", "", `"cmd":"id"`, false, 0},
		{connection.Name, "ann", "", `"do":"put"`, false, 0},
	}
	if len(*calls) != len(want) {
		t.Fatalf("%d calls: %+v", len(*calls), *calls)
	}
	for i, e := range *calls {
		w, c := want[i], e.Call
		if e.Host != "b" || e.Origin != "a" || c.Module != w.module || c.User.User != w.user || c.Environment["B"] != w.env || c.Environment["A"] != "" ||
			!strings.Contains(string(c.Args), w.has) || c.Check != w.check || int(c.Async) != w.async || c.Poll != 0 {
			t.Errorf("call %d: %+v", i, e)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// An action plug-in sees all keywords of its task: what the host has rendered, and what is judged later as it is
// written.
func TestActionPluginsSeeEveryKeyword(t *testing.T) {
	said := value.NewDict()
	said.Set("become_flags", value.Str("-H"))
	p := &acting{step: &plan.Step{Register: "r", Until: []plan.Expr{plan.Lit(value.SourceText("done"))}}, plugin: &plan.ActionPlugin{}, ask: wire.Ask{Call: &wire.Call{}}}
	d := p.task(said)
	for _, w := range keywordtest.Words(t) {
		if _, ok := d.Get(w.Name); !ok && w.Stands("task") && w.Name != "loop_control" && w.Name != "async" { // async is async_val there
			t.Errorf("%s is missing", w.Name)
		}
	}
	for name, want := range map[string]string{"become_flags": "-H", "register": "r", "until": "['done']"} {
		if v, _ := d.Get(name); value.Printed(v) != want {
			t.Errorf("%s is %v", name, v)
		}
	}
}
