package hint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rule makes a hint of a message that its expression matches.
type rule struct {
	message *regexp.Regexp
	say     func(w Words, m []string) string
}

// rules are all of them, made when the first message comes.
var rules = sync.OnceValue(makeRules)

func makeRules() []rule {
	on := func(pattern string, say func(Words, []string) string) rule {
		return rule{regexp.MustCompile(pattern), say}
	}
	return []rule{
		on(`couldn't resolve module/action '([^']+)'`, func(w Words, m []string) string { return w.plugin("module", m[1], w.Modules) }),
		on(`The module (\S+) was not found in configured module paths`, func(w Words, m []string) string { return w.plugin("module", m[1], w.Modules) }),
		on(`the role '([^']+)' was not found`, missingRole),
		on(`'([^']+)' is not a valid attribute for a `, func(w Words, m []string) string { return meant(m[1], w.Keywords) }),
		on(`conflicting action statements: ([^,]+), (\S+)`, conflicting),
		on(`Unsupported parameters for \([^)]+\) module: ([^.]+)\. Supported parameters include: ([^\n]+)`, argument),
		on(`Invalid options for (\S+): (\S+)`, func(w Words, m []string) string {
			if w.Arguments == nil {
				return ""
			}
			return argument(w, []string{"", m[2], strings.Join(w.Arguments(m[1]), ", ")})
		}),
		on(`No filter named '([^']+)'`, func(w Words, m []string) string { return w.plugin("filter", m[1], w.Filters) }),
		on(`Could not load "([^"]+)": '[^']+'`, func(w Words, m []string) string { return w.plugin("filter", m[1], slices.Concat(w.Filters, w.Tests)) }),
		on(`No test named '([^']+)'`, func(w Words, m []string) string { return w.plugin("test", m[1], w.Tests) }),
		on(`lookup plugin \(([^)]+)\) not found`, func(w Words, m []string) string { return w.plugin("lookup", m[1], w.Lookups) }),
		on(`Could not match supplied host pattern, ignoring: (\S+)`, func(w Words, m []string) string { return meant(m[1], w.Hosts) }),
		on(`(?:^|[^.\w])'(\w+)' is undefined`, func(w Words, m []string) string { return meant(m[1], w.Variables) }),
		on(`The requested handler '([^']+)' was not found`, func(w Words, m []string) string { return meant(m[1], w.Handlers) }),
		on(`Invalid become method specified, could not find matching plugin: '([^']+)'`, func(w Words, m []string) string { return meant(m[1], w.Becomes) }),
		on(`Invalid callback for stdout specified: (\S+)`, callback),
		on(`invalid choice: '([^']*)' \(choose from ([^)]*)\)`, choice),
		on(`Could not find or access '([^']+)'(?: Searched in: (.*) on the Ansible Controller)?`, missingFile),
		on(`the playbook: (\S+) could not be found`, func(w Words, m []string) string { return missingFile(w, []string{"", m[1], ""}) }),
		on(`could not locate file in lookup: (\S+?)\.?(?: |$)`, missingLookup),
		on(`Failed to parse (\S+) with ini plugin: not enough values to unpack`, openSection),
		on(`has unknown type: (\w+)`, func(_ Words, m []string) string { return meant(m[1], []string{"children", "vars", "hosts"}) }),
		on(`Unable to parse (/\S+) as an inventory source`, missingInventory),
		on(`A playbook must be a list of plays`, always("a playbook is a list: its first play begins with `- hosts: ...`")),
		on(`did not find expected '-' indicator`, always("that line stands further left than the items of its list, and yet not where the list began: indent it as its neighbours are")),
		on(`expected token 'end of statement block', got '='`, always("two values are compared by ==")),
		on(`Invalid data passed to 'loop', it requires a list`, always("loop wants a list, as in `loop: [5]`; `loop: \"{{ range(5) }}\"` goes through numbers")),
		on(`unexpected parameter type in action: .*Sequence`, always("a module's arguments are no list: a command is one text, or its words stand below `argv:`")),
		on(`Attempting to decrypt but no vault secrets found`, always("give the vault's password: --ask-vault-password, or --vault-password-file FILE")),
		on(`EOFError \(ctrl-d\) on prompt for`, always("there is nobody to ask for the vault's password: give --vault-password-file FILE")),
		on(`no vault secrets were found that could decrypt`, always("none of the given passwords opens it; more than one can be given: --vault-id LABEL@FILE, again and again")),
		on(`input is not vault encrypted data`, always("it is no vault but plain: `hark vault encrypt FILE` makes one of it")),
		on(`Expecting property name enclosed in double quotes: .* The error appears to be in '<string>'`, always("-e wants name=value, a whole mapping in braces, or @FILE")),
		on(`you probably need to set the interpreter`, func(Words, []string) string {
			return "this module is in Python, and the host has none that was found; `hark doc -l` lists the modules that need none"
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

// always is a hint that goes by the message alone.
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
	for _, word := range strings.Split(m[2], ", ") {
		among = append(among, strings.Trim(word, "'"))
	}
	return meant(m[1], among)
}

// missingFile is for a file that was looked for in directories: one of them may have another of nearly that name.
func missingFile(w Words, m []string) string {
	if w.Entries == nil {
		return ""
	}
	places := strings.Fields(m[2])
	if len(places) == 0 {
		places = []string{m[1]}
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
	if near := missingFile(w, []string{"", m[1], "files/" + m[1] + " " + m[1]}); strings.HasPrefix(near, "did") {
		return near
	}
	return "it is looked for in files/ beside the playbook or in the role, and beside the playbook itself"
}

// missingInventory is for one that could not be read because it is not there.
func missingInventory(w Words, m []string) string {
	if w.Entries == nil || slices.Contains(w.Entries(path.Dir(m[1])), path.Base(m[1])) {
		return ""
	}
	if near := missingFile(w, []string{"", m[1], ""}); near != "" {
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
