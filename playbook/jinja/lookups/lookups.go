// Package lookups holds the lookups that need nothing but their terms and the variables: those behind most with_
// loops. Lookups that read files, the environment or the inventory are the controller's.
package lookups

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// All returns the lookups by short name, and by full name under the collection that has them.
func All() map[string]jinja.Lookup {
	all := map[string]jinja.Lookup{}
	builtin := map[string]jinja.Lookup{
		"items":         items,
		"list":          listOf,
		"dict":          dict,
		"sequence":      sequence,
		"nested":        nested,
		"together":      together,
		"subelements":   subelements,
		"indexed_items": indexed,
		"random_choice": randomChoice,
		"vars":          vars,
		"varnames":      varNames,
	}
	for name, f := range builtin {
		all[name], all["ansible.builtin."+name], all["ansible.legacy."+name] = f, f, f
	}
	for name, f := range map[string]jinja.Lookup{"flattened": flattened, "cartesian": cartesian} {
		// Once Ansible's own: the old names lead to the collection.
		all[name], all["ansible.builtin."+name], all["ansible.legacy."+name] = f, f, f
		all["community.general."+name] = f
	}
	for name, f := range map[string]jinja.Lookup{"merge_variables": mergeVariables, "random_string": randomString} {
		all["community.general."+name] = f
	}
	return all
}

func failf(format string, args ...any) error { return value.Errorf("AnsibleError", format, args...) }
