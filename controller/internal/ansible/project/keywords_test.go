package project

import (
	"testing"

	"hark/controller/config"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Each setting of the table of keywords is one, and holds for its keyword once somebody has set it.
func TestSettingsHoldForTheirKeywords(t *testing.T) {
	texts := map[plan.Isa]string{plan.IsBool: "true", plan.IsInt: "7", plan.IsList: "a,b", plan.IsText: "word"}
	env, want := map[string]string{}, map[string]string{}
	for _, k := range plan.Keywords() {
		if k.Setting == "" {
			continue
		}
		for _, s := range config.Settings() {
			if s.Name == k.Setting && len(s.Env) > 0 {
				env[s.Env[0]] = texts[k.Is]
				want[k.Name] = map[plan.Isa]string{plan.IsBool: "True", plan.IsInt: "7", plan.IsList: "['a', 'b']", plan.IsText: "word"}[k.Is]
			}
		}
		if want[k.Name] == "" {
			t.Errorf("%s, said to be the setting of %s, is none", k.Setting, k.Name)
		}
	}
	read := func(env map[string]string) *value.Dict { return settingsOfKeywords(settingsOf(t, env)) }
	if got := read(nil); got.Len() != 0 {
		t.Errorf("nobody has set anything: %s", value.Printed(got))
	}
	got := read(env)
	for name, text := range want {
		if v, _ := got.Get(name); v == nil || value.Printed(v) != text {
			t.Errorf("%s is %v, want %s", name, v, text)
		}
	}
}
