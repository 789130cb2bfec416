package inventory

import (
	"context"
	"testing"

	"hark/playbook/jinja/value"
)

func TestDefaultsYieldToEverythingElse(t *testing.T) {
	d := value.NewDict()
	d.Set("asked", value.YAMLStr("default"))
	inv, err := Load(context.Background(), Options{Sources: []string{"a,b"}, Defaults: d})
	if err != nil {
		t.Fatal(err)
	}
	inv.Host("b").set("asked", value.YAMLStr("own"), false)
	for name, want := range map[string]string{"a": "default", "b": "own"} {
		vars, err := inv.Vars(inv.Host(name))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := vars.Get("asked"); got != value.YAMLStr(want) {
			t.Errorf("%s has %v, want %s", name, got, want)
		}
	}
}
