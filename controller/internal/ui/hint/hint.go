// Package hint says what somebody probably meant: one line beside an error in Ansible's words, for those who call
// hark by its own name. It knows those words and lists of names; it decides nothing, and a hint that is missing
// changes nothing.
package hint

import (
	"slices"
	"strings"
)

// Words are the names that can be meant. A list that is not known may be nil.
type Words struct {
	Modules, Keywords, Filters, Tests, Lookups, Hosts []string
	Becomes, Callbacks                                []string
	// Handlers are those of the play, Variables those of the host.
	Handlers, Variables []string
	// Arguments are those of a module; nil knows none.
	Arguments func(module string) []string
	// HasCollection reports whether a collection (namespace.name) is on this machine; nil knows none.
	HasCollection func(name string) bool
	// NoInventory: no inventory was named or found.
	NoInventory bool
	// Dirs are the directories of the playbooks, and those of roles and tasks that are known.
	Dirs []string
	// Entries are the names of what lies in a directory, Lines the lines of a file; nil knows none, and so does a nil
	// answer.
	Entries, Lines func(path string) []string
}

// For returns the hint for a message, "" if there is none.
func (w Words) For(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	for _, r := range rules() {
		if m := r.find(message); m != nil {
			return r.say(w, m)
		}
	}
	return ""
}

// ModuleOption returns a hint for the arguments of a task that its module does not have, "" if none is nearly one
// that it has.
func (w Words) ModuleOption(module string, given []string) string {
	if w.Arguments == nil {
		return ""
	}
	known := w.Arguments(module)
	for _, name := range given {
		if slices.Contains(known, name) || strings.HasPrefix(name, "_") {
			continue
		}
		if near := Nearest(name, known); near != "" {
			return "'" + name + "' is no argument of this module; did you mean '" + near + "'?"
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

// Nearest returns the name that differs least from word, by letters that are missing, too many, others or swapped; ""
// if all differ by more than a third of it. Names with dots are compared by their last part too.
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

// distance returns that of Damerau and Levenshtein (neighbours may be swapped), most if it is not less.
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
