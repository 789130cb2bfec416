package templar

import (
	"hark/playbook/jinja"
	"hark/playbook/jinja/ansible/utils"
	"hark/playbook/jinja/community/general"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/lookups"
)

// Filters returns all filters that playbooks can name: Ansible's and Jinja's, and those of the collections that hark
// has.
func Filters() map[string]jinja.Filter {
	all := filters.Filters()
	for name, f := range utils.Filters() {
		all["ansible.utils."+name] = f
		if utils.OnceBuiltin(name) {
			moved(all, "ansible.netcommon", name, f)
		}
	}
	for name, f := range general.Filters() {
		all["community.general."+name] = f
		if name == "json_query" || name == "random_mac" {
			moved(all, "community.general", name, f)
		}
	}
	return all
}

// moved names a filter that was Ansible's own once and went to a collection: the old names lead there.
func moved(all map[string]jinja.Filter, collection, name string, f jinja.Filter) {
	builtin(all, name, f)
	all[collection+"."+name] = f
}

// builtin names a filter that is Ansible's own.
func builtin(all map[string]jinja.Filter, name string, f jinja.Filter) {
	for _, prefix := range []string{"", "ansible.builtin.", "ansible.legacy."} {
		all[prefix+name] = f
	}
}

// Tests returns all tests.
func Tests() map[string]jinja.Test {
	all := filters.Tests()
	for name, t := range utils.Tests() {
		all["ansible.utils."+name] = t
	}
	return all
}

// Lookups returns all lookups that need nothing but their terms and the variables.
func Lookups() map[string]jinja.Lookup {
	all := lookups.All()
	for name, f := range utils.Lookups() {
		all["ansible.utils."+name] = f
	}
	return all
}
