package dialect

import "testing"

func TestLookupsSayWhereTheyAreEvaluated(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range Lookups() {
		if seen[l.FullName()] || l.Doc == "" {
			t.Errorf("%s is there twice, or has no words", l.FullName())
		}
		seen[l.FullName()] = true
		elsewhere := l.Traits.Has(ReadsController) || l.Traits.Has(ChangesController)
		if l.Traits.Has(Pure) == elsewhere {
			t.Errorf("%s: it is pure, or it needs the controller", l.FullName())
		}
		for _, name := range append(l.Others, l.FullName()) {
			if found, ok := LookupNamed(name); !ok || found.FullName() != l.FullName() {
				t.Errorf("%s is not found by %s", l.FullName(), name)
			}
		}
	}
	for name, want := range map[string]bool{
		"items": true, "ansible.legacy.items": true, "community.general.flattened": true, "filetree": true,
		"collection_version": false, "mine": false, "ansible.builtin.random_string": false, "": false,
	} {
		if _, ok := LookupNamed(name); ok != want {
			t.Errorf("%q is found: %v", name, ok)
		}
	}
}
