package docs

import (
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Language returns the actions that are part of the language and no modules: what imports and includes, and meta.
// They are declared for their documentation only, nothing runs them.
func Language() []*modules.Module {
	return append(append(includesFiles(), includesRoles()...), meta())
}

func includesFiles() []*modules.Module {
	file := modules.Param{Name: "file", Type: "str", Doc: "The file; it may also stand with the action's name."}
	return []*modules.Module{
		{
			Name: plan.ImportPlaybook,
			Doc:  "Play another playbook here, read before anything runs.",
			Examples: `
- ansible.builtin.import_playbook: web.yml
- name: The same for another environment
  ansible.builtin.import_playbook: web.yml
  vars: {stage: test}`,
		},
		(&modules.Module{
			Name: plan.ImportTasks,
			Doc: "Put the tasks of a file here, read before anything runs; conditions and tags of the import are those of " +
				"each task.",
			Examples: `
- ansible.builtin.import_tasks: packages.yml
  when: manage_packages`,
		}).Takes(file),
		(&modules.Module{
			Name: plan.IncludeTasks,
			Doc: "Do the tasks of a file, found when a host comes to the include; conditions, loops and tags are those of " +
				"the include.",
			Examples: `
- ansible.builtin.include_tasks: "{{ ansible_os_family }}.yml"
- ansible.builtin.include_tasks:
    file: site.yml
    apply: {tags: [sites]}
  loop: "{{ sites }}"
  tags: [sites]`,
		}).Takes(applyParam(), file),
		{
			Name: plan.IncludeOld,
			Doc: "Import or include a file of tasks, whichever its arguments ask for. Deprecated: use include_tasks, " +
				"import_tasks or import_playbook.",
			Examples: `
- ansible.builtin.include: tasks.yml`,
		},
	}
}

func includesRoles() []*modules.Module {
	return []*modules.Module{
		(&modules.Module{
			Name: plan.ImportRole,
			Doc:  "Put the tasks of a role here, read before anything runs.",
			Examples: `
- ansible.builtin.import_role:
    name: web
    tasks_from: certificates`,
		}).Takes(roleParams()...),
		(&modules.Module{
			Name: plan.IncludeRole,
			Doc:  "Do the tasks of a role, found when a host comes to the include.",
			Examples: `
- ansible.builtin.include_role:
    name: "{{ item }}"
  loop: [web, db]`,
		}).Takes(append(roleParams(), applyParam(),
			modules.Param{Name: "public", Type: "bool", Default: value.Bool(false),
				Doc: "Whether tasks after the include see the role's vars and defaults."})...),
	}
}

func applyParam() modules.Param {
	return modules.Param{Name: "apply", Type: "dict",
		Doc: "Keywords for each of the tasks, where those of the include hold for the include only."}
}

func roleParams() []modules.Param {
	from := func(dir string) modules.Param {
		return modules.Param{Name: dir + "_from", Type: "str", Default: value.Str("main"), Doc: "The file in " + dir +
			"/ to begin with."}
	}
	return []modules.Param{
		{Name: "name", Type: "str", Required: true, Aliases: []string{"role"}, Doc: "The role."},
		{Name: "allow_duplicates", Type: "bool", Default: value.Bool(true),
			Doc: "Do the role again where it was done with the same parameters."},
		{Name: "rolespec_validate", Type: "bool", Default: value.Bool(true),
			Doc: "Hold the parameters against the role's argument specification, if it has one."},
		from("tasks"), from("vars"), from("defaults"), from("handlers"),
	}
}

func meta() *modules.Module {
	return (&modules.Module{
		Name: plan.MetaAction,
		Doc:  "Steer the run: what it does is named by the word that stands with it.",
		Examples: `
- name: Restart now what was notified, not at the end of the play
  ansible.builtin.meta: flush_handlers
- name: Leave hosts alone that are up to date
  ansible.builtin.meta: end_host
  when: version == wanted`,
	}).Takes(modules.Param{
		Name: "free_form", Type: "str", Required: true, Doc: "The word.",
		Choices: []string{
			"clear_facts", "clear_host_errors", "end_batch", "end_host", "end_play", "end_role", "flush_handlers", "noop",
			"refresh_inventory",
			"reset_connection",
		},
	})
}
