package syntax

import (
	"maps"
	"slices"
	"strings"
)

// The keywords of ansible-core 2.14, by what may hold them.
var (
	baseKeywords = words("name connection port remote_user vars module_defaults environment no_log run_once ignore_errors " +
		"ignore_unreachable check_mode diff any_errors_fatal throttle timeout debugger become become_method become_user become_flags become_exe")

	playKeywords = words("hosts gather_facts gather_subset gather_timeout fact_path vars_files vars_prompt roles handlers pre_tasks " +
		"post_tasks tasks force_handlers max_fail_percentage serial strategy order tags collections").with(baseKeywords)

	blockKeywords = words("block rescue always notify delegate_to delegate_facts when tags collections").with(baseKeywords)

	taskKeywords = words("args action async async_val changed_when delay delegate_to delegate_facts failed_when loop loop_control " +
		"loop_with notify poll register retries until when tags collections").with(baseKeywords)

	handlerKeywords = words("listen").with(taskKeywords)

	roleKeywords = words("role delegate_to delegate_facts when tags collections").with(baseKeywords)

	importKeywords = words("import_playbook vars_val when tags").with(baseKeywords)

	// loop_control: break_when is of 2.18.
	loopKeywords = words("loop_var index_var label pause extended extended_allitems break_when")

	// includeKeywords are those that dynamic includes take.
	includeKeywords = words("action args collections debugger ignore_errors loop loop_control loop_with name no_log register " +
		"run_once tags timeout vars when")

	// textKeywords are refused early when they are given a list or a mapping.
	textKeywords = words("name connection remote_user debugger become_method become_user become_flags become_exe fact_path strategy " +
		"order delegate_to register action role import_playbook loop_with")
)

// CommonKeyword tells whether plays, blocks, tasks and roles may all hold a keyword.
func CommonKeyword(name string) bool { return baseKeywords[name] }

type wordSet map[string]bool

func words(list string) wordSet {
	s := wordSet{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

func (s wordSet) with(other wordSet) wordSet {
	for w := range other {
		s[w] = true
	}
	return s
}

// builtin gives every way to write the names of built-in actions.
func builtin(list string) wordSet {
	s := wordSet{}
	for _, w := range strings.Fields(list) {
		s[w] = true
		if !strings.Contains(w, ".") {
			s["ansible.builtin."+w] = true
			s["ansible.legacy."+w] = true
		}
	}
	return s
}

// Actions with a form of their own.
var (
	includeTasks   = builtin("include_tasks")
	importTasks    = builtin("import_tasks")
	includeOld     = builtin("include")
	includeRole    = builtin("include_role")
	importRole     = builtin("import_role")
	importPlaybook = builtin("import_playbook")
	withCmd        = builtin("command shell script")

	taskFiles = builtin("include include_tasks import_tasks")
	roleFiles = builtin("include_role import_role")

	// freeForm actions take text that is not key=value.
	freeForm = builtin("command win_command ansible.windows.win_command shell win_shell ansible.windows.win_shell raw script")

	// rawParams actions may have words beside their key=value pairs.
	rawParams = builtin("include include_vars include_tasks include_role import_tasks import_role add_host group_by set_fact meta").with(freeForm)

	// builtinTasks are actions that are no modules.
	builtinTasks = builtin("meta include include_tasks include_role import_tasks import_role")
)

// sorted gives the words in order, joined as in messages. Ansible's own order changes from run to run.
func (s wordSet) sorted() string { return strings.Join(slices.Sorted(maps.Keys(s)), ", ") }
