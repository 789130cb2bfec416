package hint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/dialect"
)

// rule makes a hint for a message. find returns what was found first and then the message's arguments, nil if the text
// has no such message.
type rule struct {
	find func(text string) []string
	say  func(w Words, m []string) string
}

// rules are all of them, made when the first message comes.
var rules = sync.OnceValue(makeRules)

func makeRules() []rule {
	// on is for texts that others write: libraries, Python, and messages with an end that is of interest.
	on := func(pattern string, say func(Words, []string) string) rule {
		return rule{regexp.MustCompile(pattern).FindStringSubmatch, say}
	}
	// of is for hark's own messages.
	of := func(m dialect.Message, say func(Words, []string) string) rule {
		return rule{func(text string) []string {
			args, found := m.Find(text)
			if !found {
				return nil
			}
			return append([]string{text}, args...)
		}, say}
	}
	return []rule{
		of(dialect.ActionNotFound, func(w Words, m []string) string { return w.plugin("module", m[1], w.Modules) }),
		of(dialect.ModuleNotFound, func(w Words, m []string) string { return w.plugin("module", m[1], w.Modules) }),
		of(dialect.RoleNotFound, missingRole),
		of(dialect.InvalidAttribute, attribute),
		of(dialect.ConflictingActions, conflicting),
		of(dialect.UnsupportedOptions, func(w Words, m []string) string { return argument(w, m[1:]) }),
		of(dialect.InvalidOptions, func(w Words, m []string) string {
			if known := includeArguments()[strings.TrimPrefix(m[1], "ansible.builtin.")]; known != nil {
				return argument(w, []string{"", m[2], strings.Join(known, ", ")})
			}
			if w.Arguments == nil {
				return ""
			}
			return argument(w, []string{"", m[2], strings.Join(w.Arguments(m[1]), ", ")})
		}),
		of(dialect.NoSuchPlugin, func(w Words, m []string) string {
			if m[1] == "test" {
				return w.plugin(m[1], m[2], w.Tests)
			}
			return w.plugin(m[1], m[2], w.Filters)
		}),
		of(dialect.PluginNotFound,
			func(w Words, m []string) string { return w.plugin("filter", m[1], slices.Concat(w.Filters, w.Tests)) }),
		of(dialect.LookupNotFound, func(w Words, m []string) string { return w.plugin("lookup", m[1], w.Lookups) }),
		of(dialect.NoHostMatches, unmatched),
		on(`(?:^|[^.\w])'(\w+)' is undefined`, undefined),
		on(`ansible_facts.* has no attribute '(\w+)'`, missingFact),
		on(`has no attribute '(\w+)'.*ansible_facts`, missingFact),
		on(`Invalid variable name in 'register' specified: '([^']*)'`,
			func(_ Words, m []string) string { return RegisterName(m[1]) }),
		on(`[Ii]nvalid meta action requested: (\S+)`, func(_ Words, m []string) string { return meant(m[1], Metas()) }),
		on(`has an invalid value \((\S+)\), and could not be converted to an? bool`, func(_ Words, m []string) string {
			return meant(m[1], []string{"yes", "no", "true", "false", "on", "off"})
		}),
		on(`Could not find specified file in role: (\S+)`, roleFile),
		on(`vars file (\S+) was not found`, nearPlaybook),
		on(`'name' is a required field for (import_role|include_role)`,
			always("the role is named by `name:`, as in `import_role: {name: web}`; see that it is spelt so")),
		on(`there are no hosts to put agents on`,
			always("`hark bootstrap -i FILE` takes the hosts of an inventory, and `-i web1,` a host by its name")),
		of(dialect.HandlerNotFound, func(w Words, m []string) string { return meant(m[1], w.Handlers) }),
		of(dialect.BecomeNotFound, func(w Words, m []string) string { return meant(m[1], w.Becomes) }),
		of(dialect.CallbackNotFound, callback),
		of(dialect.InvalidChoice, choice),
		of(dialect.NoSuchChoice, func(_ Words, m []string) string { return meant(m[3], strings.Split(m[2], ", ")) }),
		of(dialect.FileNotFound, missingFile),
		of(dialect.PlaybookNotFound, func(w Words, m []string) string { return missingFile(w, []string{"", m[1]}) }),
		of(dialect.LookupFileNotFound, missingLookup),
		on(`Failed to parse (\S+) with ini plugin: not enough values to unpack`, openSection),
		of(dialect.SectionUnknown,
			func(_ Words, m []string) string { return meant(m[3], []string{"children", "vars", "hosts"}) }),
		of(dialect.InventoryNotParsed, missingInventory),
		of(dialect.PlaybookNotAList, always("a playbook is a list: its first play begins with `- hosts: ...`")),
		on(`did not find expected '-' indicator`,
			always(
				"that line stands further left than the items of its list, and yet not where the list began: indent it as its "+
					"neighbours are")),
		on(`expected token 'end of statement block', got '='`, always("two values are compared by ==")),
		of(dialect.LoopNeedsAList,
			always("loop wants a list, as in `loop: [5]`; `loop: \"{{ range(5) }}\"` goes through numbers")),
		of(dialect.ActionNeedsText, func(_ Words, m []string) string {
			if !strings.Contains(m[1], "Sequence") {
				return ""
			}
			return "a module's arguments are no list: a command is one text, or its words stand below `argv:`"
		}),
		of(dialect.VaultNoPassword, always("give the vault's password: --ask-vault-password, or --vault-password-file FILE")),
		of(dialect.VaultPasswordNotTyped,
			always("there is nobody to ask for the vault's password: give --vault-password-file FILE")),
		of(dialect.VaultNotOpened,
			always("none of the given passwords opens it; more than one can be given: --vault-id LABEL@FILE, again and again")),
		of(dialect.VaultNotEncrypted, always("it is no vault but plain: `hark vault encrypt FILE` makes one of it")),
		on(`Expecting property name enclosed in double quotes: .* The error appears to be in '<string>'`,
			always("-e wants name=value, a whole mapping in braces, or @FILE")),
		of(dialect.InterpreterNeeded, func(Words, []string) string {
			return "this module is in Python, and the host has none that was found; `hark doc -l` lists the modules that need " +
				"none"
		}),
	}
}

// plugin is for the name of a plug-in that was not found: its collection is not here, or the name is another's.
func (w Words) plugin(kind, name string, among []string) string {
	if parts := strings.Split(name, "."); len(parts) >= 3 && parts[0] != "ansible" {
		collection := parts[0] + "." + parts[1]
		if w.HasCollection != nil && !w.HasCollection(collection) {
			return "the collection " + collection + " is not installed: ansible-galaxy collection install " + collection
		}
		return ""
	}
	return meant(name, among)
}

func missingRole(w Words, m []string) string {
	name := m[1]
	if parts := strings.Split(name, "."); len(parts) == 3 {
		return w.plugin("role", name, nil)
	}
	if strings.Contains(name, ".") {
		return "roles of Galaxy come by: ansible-galaxy role install " + name
	}
	return "roles come by ansible-galaxy install -r requirements.yml, if the project has such a file"
}

// attribute is for a word that is no keyword where it stands.
func attribute(w Words, m []string) string {
	lookup, with := strings.CutPrefix(m[1], "with_")
	if !with {
		return meant(m[1], w.Keywords)
	}
	if near := Nearest(lookup, w.Lookups); near != "" {
		return "did you mean 'with_" + strings.TrimPrefix(near, "ansible.builtin.") + "'?"
	}
	return ""
}

// conflicting is for a task with two actions, one of which is often a keyword with a mistake in it.
func conflicting(w Words, m []string) string {
	for _, word := range []string{m[2], m[1]} {
		if slices.Contains(w.Modules, word) {
			continue
		}
		if near := Nearest(word, w.Keywords); near != "" {
			return "'" + word + "' is no keyword of tasks; did you mean '" + near + "'?"
		}
	}
	return ""
}

// argument is for arguments that a module does not have: it names those that it has.
func argument(_ Words, m []string) string {
	var known []string
	for _, name := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(",() ", r) }) {
		known = append(known, strings.TrimSuffix(name, "."))
	}
	for _, name := range strings.Split(m[1], ", ") {
		if near := Nearest(strings.TrimSpace(name), known); near != "" {
			return "'" + strings.TrimSpace(name) + "' is no argument of this module; did you mean '" + near + "'?"
		}
	}
	return ""
}

// always returns a hint that goes by the message only.
func always(text string) func(Words, []string) string {
	return func(Words, []string) string { return text }
}

// callback is for a callback that there is not: the nearest, or else all.
func callback(w Words, m []string) string {
	if near := meant(m[1], w.Callbacks); near != "" || len(w.Callbacks) == 0 {
		return near
	}
	return "there are " + strings.Join(w.Callbacks, ", ")
}

// choice is for a word that is none of those that can be given.
func choice(_ Words, m []string) string {
	var among []string
	for _, word := range strings.Split(m[3], ", ") {
		among = append(among, strings.Trim(word, "'"))
	}
	return meant(m[2], among)
}

// missingFile is for a file that was looked for in directories: one of them may have another of nearly that name.
func missingFile(w Words, m []string) string {
	if w.Entries == nil {
		return ""
	}
	places := []string{m[1]}
	if searched, found := dialect.FileSearched.Find(m[0]); found {
		places = strings.Fields(searched[0])
	}
	name := path.Base(m[1])
	for _, place := range places {
		if near := Nearest(name, w.Entries(path.Dir(place))); near != "" {
			return "did you mean '" + path.Join(path.Dir(m[1]), near) + "'?"
		}
	}
	for _, place := range places {
		if dir := path.Dir(place); w.Entries(dir) == nil {
			return "there is no directory " + dir
		}
	}
	return ""
}

// missingLookup is for a file of a lookup, whose message does not say where it was looked for.
func missingLookup(w Words, m []string) string {
	name := strings.TrimSuffix(m[1], ".")
	for _, place := range []string{"files/" + name, name} {
		if near := missingFile(w, []string{"", place}); strings.HasPrefix(near, "did") {
			return near
		}
	}
	return "it is looked for in files/ beside the playbook or in the role, and beside the playbook itself"
}

// missingInventory is for one that could not be read because it is not there.
func missingInventory(w Words, m []string) string {
	if w.Entries == nil || !path.IsAbs(m[1]) || slices.Contains(w.Entries(path.Dir(m[1])), path.Base(m[1])) {
		return ""
	}
	if near := missingFile(w, []string{"", m[1]}); near != "" {
		return near
	}
	return "there is no file " + m[1] + "; hosts can be named too, with a comma: -i web1,"
}

// openSection is for a section of an INI inventory whose bracket is not closed.
func openSection(w Words, m []string) string {
	if w.Lines == nil {
		return ""
	}
	for i, line := range w.Lines(m[1]) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") && !strings.Contains(line, "]") {
			return fmt.Sprintf("%s:%d: %q has no closing bracket", m[1], i+1, line)
		}
	}
	return ""
}
