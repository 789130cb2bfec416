package filters

import (
	"context"
	"maps"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Machine are the filters and tests whose answers depend on the machine that they run on: on its files, users and
// environment. For Ansible that is always the controller.
func Machine() (filters map[string]jinja.Filter, tests map[string]jinja.Test) {
	names := ansibleNames()
	filters = map[string]jinja.Filter{}
	for _, name := range []string{"expanduser", "expandvars", "fileglob", "realpath", "relpath"} {
		named(filters, name, names[name])
	}
	tests = map[string]jinja.Test{}
	for name, t := range fileTests() {
		if name != "abs" && name != "is_abs" {
			named(tests, name, t)
		}
	}
	return filters, tests
}

// named puts a plug-in of Ansible's own under all its names.
func named[P any](all map[string]P, name string, p P) {
	for _, prefix := range []string{"", "ansible.builtin.", "ansible.legacy."} {
		all[prefix+name] = p
	}
}

// MachineNames are the short names of both.
func MachineNames() []string {
	filters, tests := Machine()
	var names []string
	for _, name := range slices.Concat(slices.Collect(maps.Keys(filters)), slices.Collect(maps.Keys(tests))) {
		if !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// OnMachine runs one of them here, for templates of other machines. args begins with the value that it is applied to.
// The error is jinja.ErrNoPlugin if it is none of them.
func OnMachine(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
	filters, tests := Machine()
	filter, test := filters[name], tests[name]
	if kind != "filter" {
		filter = nil
	}
	if kind != "test" {
		test = nil
	}
	if filter == nil && test == nil || len(args) == 0 {
		return nil, jinja.ErrNoPlugin
	}
	c, rest := &jinja.Call{Ctx: ctx, Name: name}, &jinja.Args{Pos: args[1:]}
	for i := range kw.Len() {
		k, v := kw.At(i)
		keyword, _ := value.Text(k)
		rest.Kw = append(rest.Kw, jinja.Kwarg{Name: keyword, V: v})
	}
	if filter != nil {
		return filter(c, args[0], rest)
	}
	ok, err := test(c, args[0], rest)
	return value.Bool(ok), err
}
