package templar

import (
	"context"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// OnController reports whether the answers of a filter or test depend on the machine that it runs on: on its files,
// users, environment and resolver. For Ansible that is always the controller. kind is "filter" or "test".
func OnController(kind, name string) bool {
	find := dialect.FilterNamed
	if kind == "test" {
		find = dialect.TestNamed
	}
	row, ok := find(name)
	return ok && row.Traits.Has(dialect.ReadsController)
}

// filtersHere and testsHere are what OnController runs.
var (
	filtersHere = sync.OnceValue(Filters)
	testsHere   = sync.OnceValue(Tests)
)

// OnMachine runs one of them here, for templates of other machines. args begins with the value that it is applied to.
// The error is jinja.ErrNoPlugin if it is none of them.
func OnMachine(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
	if kind != "filter" && kind != "test" || !OnController(kind, name) || len(args) == 0 {
		return nil, jinja.ErrNoPlugin
	}
	c, rest := &jinja.Call{Ctx: ctx, Name: name}, &jinja.Args{Pos: args[1:]}
	for i := range kw.Len() {
		k, v := kw.At(i)
		keyword, _ := value.Text(k)
		rest.Kw = append(rest.Kw, jinja.Kwarg{Name: keyword, V: v})
	}
	if kind == "filter" {
		return filtersHere()[name](c, args[0], rest)
	}
	ok, err := testsHere()[name](c, args[0], rest)
	return value.Bool(ok), err
}
