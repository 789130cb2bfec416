package answer

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/plan"
)

// TestAPluginRunsForAHostWhosePlanSpeaksOfIt, and for no other.
func TestPluginsInPythonRunAsTheyAreCalled(t *testing.T) {
	var ran []plugins.Call
	cfg := Config{Plugin: func(_ context.Context, c plugins.Call) (json.RawMessage, error) {
		ran = append(ran, c)
		switch c.Name {
		case "gone":
			return nil, jinja.ErrNoPlugin
		case "raises":
			return nil, value.Errorf("AnsibleFilterError", "it raises")
		}
		return json.RawMessage(`"done"`), nil
	}}
	cfg.Mirror = NewMirror(fleet{"a": dict("mine", "{{ 1 | of_host }}"), "b": dict()}, false)
	step := task("1", "debug", dict("msg", "{{ x | acme.tools.wrap(2) }} {{ x is raises }} {{ x | gone }} {{ lookup('deep', 'sea') }}"))
	a, _ := begun(t, cfg, func(b *Batch) { b.Plan.Play.Plugins = &plan.Plugins{} }, step)
	wanted := func(kind, name, host string) wire.Ask {
		k := ask(wire.AskPlugin, host, "1")
		k.Dir, k.Name, k.Args = kind, name, plan.Lit(value.NewList(value.Str("in")))
		return k
	}
	for _, tc := range []struct {
		ask                wire.Ask
		result, err, class string
	}{
		{wanted("filter", "acme.tools.wrap", "a"), `"done"`, "", ""},
		{wanted("filter", "of_host", "a"), `"done"`, "", ""},
		{wanted("test", "raises", "a"), "", "it raises", "AnsibleFilterError"},
		{wanted("filter", "gone", "a"), "", "no such plug-in", wire.UnknownPlugin},
		{wanted("filter", "__import__('os')", "a"), "", "no such plug-in", wire.UnknownPlugin},
		{wanted("lookup", "deep", "a"), "", "refused: ", ""},
	} {
		got := a.Answer(context.Background(), tc.ask)
		if string(got.Result) != tc.result || !strings.HasPrefix(got.Err, tc.err) || got.ErrKind != tc.class {
			t.Errorf("%s %s: %s, %q, %q", tc.ask.Dir, tc.ask.Name, got.Result, got.Err, got.ErrKind)
		}
	}
	look := ask(wire.AskLookup, "a", "1")
	look.Name, look.Args = "deep", plan.Lit(value.NewList(value.Str("sea")))
	if got := a.Answer(context.Background(), look); got.Err != "" || got.Value.V != value.Str("done") {
		t.Errorf("the lookup: %+v", got)
	}
	if last := ran[len(ran)-1]; last.Kind != "lookup" || last.Vars.Len() == 0 {
		t.Errorf("the lookup ran as %+v", last)
	}
}

// TestALookupSeesTheVariablesOfItsStep, of the role and of the loop too, and nothing of them is rendered for it.
func TestALookupSeesTheVariablesOfItsStep(t *testing.T) {
	var call plugins.Call
	synced := false
	cfg := Config{Plugin: func(_ context.Context, c plugins.Call) (json.RawMessage, error) {
		call = c
		return json.RawMessage(`1`), nil
	}}
	cfg.Mirror = NewMirror(fleet{"a": dict("mine", "{{ shade }}"), "b": dict("color", "{{ shade }}")}, false)
	cfg.Sync = func(context.Context) error { synced = true; return nil }
	step := task("1", "debug", dict("msg", "{{ lookup('deep', 'sea') }}"))
	step.Role, step.Vars = "r", plan.Dict{Dict: dict("of_task", "{{ mine }}")}
	a, _ := begun(t, cfg, func(b *Batch) {
		b.Plan.Roles = map[string]*plan.Role{"r": {Name: "r", Path: "/roles/r", Defaults: plan.Dict{Dict: dict("of_role", "{{ mine }}")}}}
		b.Magic = func(name string) (value.Value, bool) { return value.Str("of " + name), true }
	}, step)
	look := ask(wire.AskLookup, "a", "1")
	look.Name, look.Args, look.Own = "deep", plan.Lit(value.NewList(value.Str("sea"))), plan.Dict{Dict: dict("local", dict("item", "{{ mine }}"))}
	if got := a.Answer(t.Context(), look); got.Err != "" || !synced {
		t.Fatalf("the lookup: %+v, synced %v", got, synced)
	}
	for name, want := range map[string]string{
		"mine": "{{ shade }}", "of_task": "{{ mine }}", "of_role": "{{ mine }}", "item": "{{ mine }}", "role_path": "/roles/r", "role_name": "r",
		"play_hosts": "of play_hosts", "environment": "[]", "omit": value.OmitText(),
	} {
		if v, ok := call.Vars.Get(name); !ok || value.Printed(v) != want {
			t.Errorf("%s is %v, want %s", name, v, want)
		}
	}
	if other, err := call.Hostvars("b"); err != nil || value.Printed(other) == "" {
		t.Errorf("of b: %v, %v", other, err)
	} else if v, _ := other.Get("color"); value.Printed(v) != "{{ shade }}" {
		t.Errorf("the color of b is %v", v)
	}
	if nobody, err := call.Hostvars("nobody"); nobody != nil || err != nil {
		t.Errorf("of nobody: %v, %v", nobody, err)
	}
}

// TestAPlayWithoutPluginsRunsNone, whatever is asked.
func TestAPlayWithoutPluginsRunsNone(t *testing.T) {
	cfg := Config{Plugin: func(context.Context, plugins.Call) (json.RawMessage, error) {
		t.Error("a plug-in ran")
		return nil, nil
	}}
	a, _ := begun(t, cfg, nil, task("1", "debug", dict("msg", "{{ x | wrap }}")))
	k := ask(wire.AskPlugin, "a", "1")
	k.Dir, k.Name = "filter", "wrap"
	if got := a.Answer(context.Background(), k); !strings.HasPrefix(got.Err, "refused: ") {
		t.Errorf("the answer is %+v", got)
	}
}

// TestFilesAreLookedAtOnTheController, where templates are about them.
func TestFilesAreLookedAtOnTheController(t *testing.T) {
	cfg := Config{Mirror: NewMirror(fleet{"a": dict("mine", "{{ '/etc/*.d' | fileglob }}")}, false)}
	a, _ := begun(t, cfg, nil, task("1", "debug", dict("msg", "{{ x is ansible.builtin.exists }}")))
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ kind, name, arg, result, err string }{
		{"test", "ansible.builtin.exists", name, "true", ""},
		{"test", "exists", name + "2", "false", ""},
		{"filter", "fileglob", name + "*", `["` + name + `"]`, ""},
		{"test", "link", name, "false", ""},
		{"filter", "exists", name, "", "refused: "},
	} {
		k := ask(wire.AskPlugin, "a", "1")
		k.Dir, k.Name, k.Args = tc.kind, tc.name, plan.Lit(value.NewList(value.Str(tc.arg)))
		got := a.Answer(context.Background(), k)
		if string(got.Result) != tc.result || !strings.HasPrefix(got.Err, tc.err) {
			t.Errorf("%s %s: %s, %q", tc.kind, tc.name, got.Result, got.Err)
		}
	}
}
