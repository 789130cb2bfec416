package syntax

import (
	"maps"
	"slices"
	"strings"

	"hark/playbook/plan"
)

// The keywords, by what may hold them.
var (
	playKeywords    = keywordsOn(plan.OnPlay)
	blockKeywords   = keywordsOn(plan.OnBlock)
	taskKeywords    = keywordsOn(plan.OnTask)
	handlerKeywords = keywordsOn(plan.OnTask | plan.OnHandler)
	roleKeywords    = keywordsOn(plan.OnRole)
	importKeywords  = keywordsOn(plan.OnImport)
	loopKeywords    = keywordsOn(plan.OnLoopControl)
	// includeKeywords are those that dynamic includes take.
	includeKeywords = keywordsOn(plan.OnInclude)
)

// keywordsOn returns the names of the keywords that may be there.
func keywordsOn(on plan.Where) wordSet {
	s := wordSet{}
	for _, k := range plan.Keywords() {
		if k.On.Has(on) {
			s[k.Name], s[k.AnsibleName()] = true, true
		}
	}
	return s
}

// lacks reports whether the level of the loader's files does not have a keyword yet.
func (l *Loader) lacks(name string) bool {
	k, ok := plan.KeywordNamed(name)
	return ok && k.Since != nil && !l.Level.Has(k.Since)
}

// isText reports whether a list or a mapping is rejected early as the value of a keyword.
func isText(name string) bool {
	k, ok := plan.KeywordNamed(name)
	return ok && k.Is == plan.IsText
}

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

// builtin returns every way to write the names of built-in actions.
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
	freeForm = builtin("command win_command ansible.windows.win_command shell win_shell ansible.windows.win_shell raw " +
		"script")

	// rawParams actions may have words beside their key=value pairs.
	rawParams = builtin("include include_vars include_tasks include_role import_tasks import_role add_host group_by " +
		"set_fact meta").with(freeForm)

	// builtinTasks are actions that are no modules.
	builtinTasks = builtin("meta include include_tasks include_role import_tasks import_role")
)

// sorted returns the words in order, joined as in messages. Ansible's own order changes from run to run.
func (s wordSet) sorted() string { return strings.Join(slices.Sorted(maps.Keys(s)), ", ") }
