package dialect

import (
	"slices"
	"strings"
	"testing"
)

func TestPluginsAreDeclaredOnce(t *testing.T) {
	for kind, rows := range map[string][]Plugin{"filter": Filters(), "test": Tests()} {
		seen := map[string]bool{}
		for i := range rows {
			p := &rows[i]
			if p.Doc == "" || p.Traits.Has(OfJinja) && p.Collection != "" {
				t.Errorf("%s %s has no words, or is Jinja's and a collection's", kind, p.FullName())
			}
			for _, name := range p.Names() {
				if seen[name] {
					t.Errorf("two rows are the %s %s", kind, name)
				}
				seen[name] = true
			}
		}
	}
}

func TestPluginsAreFoundByAllTheirNames(t *testing.T) {
	for name, want := range map[string]string{
		"ipaddr":                     "ansible.utils.ipaddr, ansible.builtin.ipaddr, ansible.netcommon.ipaddr, ipaddr, ansible.legacy.ipaddr",
		"ansible.netcommon.hwaddr":   "ansible.utils.hwaddr, ansible.builtin.hwaddr, ansible.netcommon.hwaddr, hwaddr, ansible.legacy.hwaddr",
		"ansible.utils.usable_range": "ansible.utils.usable_range",
		"json_query": "community.general.json_query, ansible.builtin.json_query, json_query, " +
			"ansible.legacy.json_query",
		"upper":          "ansible.builtin.upper, upper",
		"to_json":        "ansible.builtin.to_json, to_json, ansible.legacy.to_json",
		"usable_range":   "",
		"mine.own.upper": "",
	} {
		p, ok := FilterNamed(name)
		if got := strings.Join(p.Names(), ", "); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	if p, ok := TestNamed("ansible.legacy.exists"); !ok || !p.Traits.Has(ReadsController) || !slices.Contains(p.Names(), "exists") {
		t.Error(p, ok)
	}
	if _, ok := TestNamed("to_json"); ok {
		t.Error("a filter is taken for a test")
	}
}
