package plan

// The actions that are part of the language and no modules.
const (
	IncludeTasks   = "ansible.builtin.include_tasks"
	IncludeRole    = "ansible.builtin.include_role"
	IncludeOld     = "ansible.builtin.include"
	ImportTasks    = "ansible.builtin.import_tasks"
	ImportRole     = "ansible.builtin.import_role"
	ImportPlaybook = "ansible.builtin.import_playbook"
	MetaAction     = "ansible.builtin.meta"
)
