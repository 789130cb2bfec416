package templar

import (
	"context"
	"maps"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
)

// Machine returns the filters and tests whose answers depend on the machine that they run on: on its files, users,
// environment and resolver. For Ansible that is always the controller.
func Machine() (map[string]jinja.Filter, map[string]jinja.Test) {
	ofFilters, ofTests := filters.Machine()
	const resolvable = "ansible.utils.resolvable"
	ofTests[resolvable] = Tests()[resolvable]
	return ofFilters, ofTests
}

// MachineNames returns the short names of both.
func MachineNames() []string {
	ofFilters, ofTests := Machine()
	var names []string
	for _, name := range slices.Concat(slices.Collect(maps.Keys(ofFilters)), slices.Collect(maps.Keys(ofTests))) {
		names = append(names, name[strings.LastIndexByte(name, '.')+1:])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OnMachine runs one of them here, for templates of other machines. args begins with the value that it is applied to.
// The error is jinja.ErrNoPlugin if it is none of them.
func OnMachine(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
	ofFilters, ofTests := Machine()
	filter, test := ofFilters[name], ofTests[name]
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
