// Package filters holds the filters, tests and global functions of Jinja and Ansible, each under its short name and, if
// Ansible has it, under its full name.
package filters

import (
	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// Filters are all filters by name.
func Filters() map[string]jinja.Filter {
	all := map[string]jinja.Filter{}
	for _, group := range []map[string]jinja.Filter{
		selecting(), texts(), lists(), numbers(), sequences(), arithmetic(), words(),
	} {
		for name, f := range group {
			all[name] = f
		}
	}
	for _, group := range []map[string]jinja.Filter{
		ansibleDicts(), ansibleData(), ansibleRegex(), ansiblePaths(), ansibleMisc(), ansibleSets(), ansibleMaths(), ansibleRandom(),
		ansibleFormats(), ansibleDigests(), ansiblePasswords(), ansibleVaults(), ansibleNames(), ansibleTexts(), ansibleTimes(),
	} {
		for name, f := range group {
			all[name] = f
			all["ansible.builtin."+name] = f
			all["ansible.legacy."+name] = f
		}
	}
	return all
}

// Tests are all tests by name.
func Tests() map[string]jinja.Test {
	all := map[string]jinja.Test{}
	for _, group := range []map[string]jinja.Test{jinjaTests(), numberTests()} {
		for name, t := range group {
			all[name] = t
		}
	}
	for _, group := range []map[string]jinja.Test{ansibleTests(), resultTests(), moreTests(), fileTests()} {
		for name, t := range group {
			all[name] = t
			all["ansible.builtin."+name] = t
			all["ansible.legacy."+name] = t
		}
	}
	return all
}

// none is Python's None, as a default.
var none = value.None{}

// textArg is an argument printed as text.
func textArg(v value.Value) (string, error) { return value.ToStr(v) }

// truthArg is an argument as a bool.
func truthArg(v value.Value) (bool, error) { return value.Truth(v) }

// list makes a list of values.
func list(items []value.Value) value.Value { return &value.List{Items: items} }
