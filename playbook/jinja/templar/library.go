package templar

import (
	"maps"

	"hark/modules/dialect"
	"hark/playbook/jinja"
	"hark/playbook/jinja/ansible/utils"
	"hark/playbook/jinja/community/general"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/lookups"
)

// Filters returns all filters that playbooks of every level can name: Ansible's and Jinja's, and those of the
// collections that hark has.
func Filters() map[string]jinja.Filter {
	all := filters.Filters()
	rows := dialect.Filters()
	maps.Copy(all, filters.Declared("ansible.utils", rows, utils.Filters(), filters.CheckedFilter))
	maps.Copy(all, filters.Declared("community.general", rows, general.Filters(), filters.CheckedFilter))
	return all
}

// Tests returns all tests.
func Tests() map[string]jinja.Test {
	all := filters.Tests()
	maps.Copy(all, filters.Declared("ansible.utils", dialect.Tests(), utils.Tests(), filters.CheckedTest))
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
