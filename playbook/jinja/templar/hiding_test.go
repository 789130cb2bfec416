package templar

import "testing"

// TestFiltersThatHideAreOf222: by all their names, on controllers and on hosts; an older language does not know them.
func TestFiltersThatHideAreOf222(t *testing.T) {
	for _, e := range []*Engine{NewEngine(), NewRemoteEngine()} {
		for _, name := range []string{"register_secret", "ansible.builtin.register_secret", "ansible.legacy.mask_secrets", "mask_secrets"} {
			if !e.Missing("filter", name) || !e.Tagged().Missing("filter", name) || e.Hiding().Missing("filter", name) {
				t.Errorf("%s: at 2.14 %t, at 2.19 %t, at 2.22 %t", name, !e.Missing("filter", name), !e.Tagged().Missing("filter", name), !e.Hiding().Missing("filter", name))
			}
		}
		if h := e.Hiding(); h != e.Hiding() || h != h.Hiding() || h != h.Tagged() || h.remote != e.remote {
			t.Error("it is another engine each time")
		}
	}
}
