// Package filters holds the filters, tests and global functions of Jinja and Ansible, each under its short name and, if
// Ansible has it, under its full name. Those of collections are beside it, and templar brings all together.
package filters

import (
	"slices"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Filters returns the filters by name.
func Filters() map[string]jinja.Filter {
	all := map[string]jinja.Filter{}
	takes := signatures("filter")
	for _, group := range []map[string]jinja.Filter{
		selecting(), textFilters(), lists(), numbers(), sequences(), arithmetic(), words(),
	} {
		for name, f := range group {
			f = checkedFilter(takes[name], f)
			all[name] = f
			all["ansible.builtin."+name] = f // since ansible-core 2.19
		}
	}
	for _, group := range []map[string]jinja.Filter{
		ansibleDicts(), ansibleJSON(), ansibleBase64(), ansibleRegex(), ansiblePaths(), ansibleMisc(), ansibleSets(), ansibleMaths(), ansibleRandom(),
		ansibleFormats(), ansibleDigests(), ansiblePasswords(), ansibleVaults(), ansibleNames(), ansibleTexts(), ansibleTimes(),
	} {
		for name, f := range group {
			f = checkedFilter(takes[name], f)
			all[name] = f
			all["ansible.builtin."+name] = f
			all["ansible.legacy."+name] = f
		}
	}
	return all
}

// Tests returns the tests by name.
func Tests() map[string]jinja.Test {
	all := map[string]jinja.Test{}
	takes := signatures("test")
	for _, group := range []map[string]jinja.Test{jinjaTests(), numberTests()} {
		for name, t := range group {
			t = checkedTest(takes[name], t)
			all[name] = t
			all["ansible.builtin."+name] = t // since ansible-core 2.19
		}
	}
	for _, group := range []map[string]jinja.Test{ansibleTests(), resultTests(), moreTests(), fileTests()} {
		for name, t := range group {
			t = checkedTest(takes[name], t)
			all[name] = t
			all["ansible.builtin."+name] = t
			all["ansible.legacy."+name] = t
		}
	}
	return all
}

// none is Python's None, as a default.
var none = value.None{}

// list makes a list of values.
func list(items []value.Value) value.Value { return &value.List{Items: items} }

// bindSome binds the parameters of a function that takes any number of other arguments, and gives the keyword
// arguments that are left over.
func bindSome(args *jinja.Args, fn string, params ...value.Param) ([]value.Value, []jinja.Kwarg, error) {
	own := &jinja.Args{Pos: args.Pos[:min(len(args.Pos), len(params))]}
	var rest []jinja.Kwarg
	for _, k := range args.Kw {
		if slices.ContainsFunc(params, func(p value.Param) bool { return p.Name == k.Name }) {
			own.Kw = append(own.Kw, k)
		} else {
			rest = append(rest, k)
		}
	}
	bound, err := own.Bind(fn, params...)
	return bound, rest, err
}
