// Package hint says what somebody probably meant: one line beside an error in Ansible's words, for those who call hark by its own name.
// It knows those words and lists of names; it decides nothing, and a hint that is missing changes nothing.
package hint

import (
	"regexp"
	"slices"
	"strings"
)

// Words are the names that can be meant. A list that is not known may be nil.
type Words struct {
	Modules, Keywords, Filters, Tests, Lookups, Hosts []string
	// Arguments are those of a module; nil knows none.
	Arguments func(module string) []string
	// HasCollection tells whether a collection (namespace.name) is on this machine; nil knows none.
	HasCollection func(name string) bool
}

// rule makes a hint of a message that its expression matches.
type rule struct {
	message *regexp.Regexp
	say     func(w Words, m []string) string
}

func rules() []rule {
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
		on(`you probably need to set the interpreter`, func(Words, []string) string {
			return "this module is in Python, and the host has none that was found; `hark doc -l` lists the modules that need none"
		}),
	}
}

// For is the hint for a message, "" if there is none.
func (w Words) For(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	for _, r := range rules() {
		if m := r.message.FindStringSubmatch(message); m != nil {
			return r.say(w, m)
		}
	}
	return ""
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

// meant asks for the nearest of known names.
func meant(name string, among []string) string {
	if near := Nearest(name, among); near != "" {
		return "did you mean '" + near + "'?"
	}
	return ""
}

// Nearest is the name that differs least from word, by letters that are missing, too many, others or swapped; "" if all differ by more than
// a third of it. Names with dots are compared by their last part too.
func Nearest(word string, among []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, name := range among {
		if name == word {
			continue
		}
		n := distance(word, name, least+1)
		if cut := strings.LastIndexByte(name, '.'); cut >= 0 && !strings.Contains(word, ".") {
			n = min(n, distance(word, name[cut+1:], least+1))
		}
		if n < least || n == least && best != "" && name < best {
			best, least = name, n
		}
	}
	return best
}

// distance is that of Damerau and Levenshtein (neighbours may be swapped), most if it is not less.
func distance(a, b string, most int) int {
	if abs(len(a)-len(b)) >= most || a == "" || b == "" {
		return most
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return min(last[len(b)], most)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
