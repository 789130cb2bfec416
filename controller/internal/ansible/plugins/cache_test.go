package plugins

import (
	"testing"

	"hark/modules/py/value"
)

// TestAFactCache loads what the plug-in has, as text that is no template, stores and forgets; what it raises is an
// error or a warning.
func TestAFactCache(t *testing.T) {
	r := fake(t, `while read -r line; do case $line in
*'"full":"a.b.gone"'*) echo '{"error": "there is none", "class": "RuntimeError"}' ;;
*'"args":["open","",null]'*) echo '{"value": null}' ;;
*'"args":["load","h1",null]'*) echo '{"value": {"a": "{{ x }}"}}' ;;
*'"args":["load","h2",null]'*) echo '{"value": null}' ;;
*'"args":["store","h1",{"a":1}]'*'"dirs":["/own"]'* | *'"dirs":["/own"]'*'"args":["store","h1",{"a":1}]'*) echo '{"value": null}' ;;
*'"args":["store","h2",{}]'*) echo '{"value": null}' ;;
*'"args":["forget","h1",null]'*) echo '{"value": null}' ;;
*) echo '{"error": "it is broken", "class": "OSError"}' ;;
esac; done`)
	var told []string
	c := &Cache{Runner: r, Name: "a.b.c", Dirs: []string{"/own"}, Warn: func(text string) { told = append(told, text) }}
	if err := c.Open(); err != nil {
		t.Error(err)
	}
	facts, ok := c.Load("h1")
	if a, _ := facts.Get("a"); !ok || a != value.UnsafeStr("{{ x }}") {
		t.Errorf("h1 has %v, %v", facts, ok)
	}
	if facts, ok := c.Load("h2"); ok || len(told) > 0 {
		t.Errorf("h2 has %v; %q", facts, told)
	}
	if _, ok := c.Load("h3"); ok || len(told) != 1 || told[0] != "cannot read the facts of h3: it is broken" {
		t.Errorf("h3: %v, %q", ok, told)
	}
	one := value.NewDict()
	one.Set("a", value.Int(1))
	for name, err := range map[string]error{"store": c.Store("h1", one), "store nothing": c.Store("h2", nil), "forget": c.Forget("h1")} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Store("h3", one); err == nil || err.Error() != "it is broken" {
		t.Errorf("a store that fails: %v", err)
	}
	if err := (&Cache{Runner: r, Name: "a.b.gone"}).Open(); err == nil || err.Error() != "there is none" {
		t.Errorf("no such cache: %v", err)
	}
}
