package builtin

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
)

// GroupBy puts the host into a group that a variable names.
var GroupBy = modules.Define("ansible.builtin.group_by", "Create Ansible groups based on facts.", runGroupBy,
	modules.InSession, modules.Is(modules.ChangesInventory|modules.AsksController|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.group_by: {key: \"os_{{ ansible_distribution }}\", parents: [linux]}\n"
	}))

type groupByArgs struct {
	Key     value.Value `arg:"key" doc:"The group's name; blanks become dashes."`
	Parents value.Value `arg:"parents" doc:"Groups that the group belongs to; default all."`
	Extra   *value.Dict `arg:"*"`
}

func runGroupBy(_ context.Context, env *modules.Env, a groupByArgs) (modules.Result, error) {
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	if a.Key == nil {
		return modules.Fail("the 'key' param is required when using group_by")
	}
	parents, ok := value.Items(a.Parents)
	if !ok {
		parents = []value.Value{first(a.Parents, value.UnsafeStr("all"))}
	}
	dashed := make([]string, len(parents))
	for i, p := range parents {
		dashed[i] = strings.ReplaceAll(modules.Str(p), " ", "-")
	}
	group := strings.ReplaceAll(modules.Str(a.Key), " ", "-")
	env.Asks.GroupBy(modules.Grouping{Group: group, Parents: dashed})
	return modules.Result{Data: value.DictOf("add_group", group, "parent_groups", dashed)}, nil
}
