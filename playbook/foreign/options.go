package foreign

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// optionless are the directories of a collection's plugins whose files have no options that variables set.
var optionless = []string{"modules", "module_utils", "filter", "test"}

// options are the variables that set options of plug-ins, by what has been looked at.
type options struct {
	mu    sync.Mutex
	seen  map[string]bool // directories; guarded by mu
	names map[string]bool // replaced when there are more; guarded by mu
}

// OptionVariables returns the names of the variables that set options of plug-ins, as the plug-ins' documentation lists
// them: of the project's own plug-ins, those of roles that lie in roles or beside a playbook, whether they are played
// or not, and those of collections: all below roots, each an ansible_collections, and the given ones. Nobody may change
// the map.
func (f *Finder) OptionVariables(roles, roots, collections []string) map[string]bool {
	f.mu.Lock()
	var dirs []string
	for kind, at := range f.plugins {
		if !slices.Contains(optionless, kind) {
			dirs = append(dirs, at.dirs()...)
		}
	}
	for _, dir := range f.added {
		roles = append(roles[:len(roles):len(roles)], filepath.Join(dir, "roles"))
	}
	f.mu.Unlock()
	o := &f.options
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	more := map[string]bool{}
	look := func(dir string, kinds ...string) {
		if o.seen[dir] {
			return
		}
		o.seen[dir] = true
		if len(kinds) > 0 {
			optionsIn(dir, kinds, more)
			return
		}
		optionsBelow(dir, more)
	}
	for _, dir := range dirs {
		look(dir)
	}
	for _, dir := range roles {
		look(dir, "*", "*_plugins")
	}
	for _, dir := range roots {
		look(dir, "*", "*", "plugins", "*")
	}
	for _, dir := range collections {
		look(dir, "plugins", "*")
	}
	if len(more) > 0 || o.names == nil {
		maps.Copy(more, o.names)
		o.names = more
	}
	return o.names
}

// optionsIn is optionsBelow for the directories that patterns match below a directory.
func optionsIn(dir string, patterns []string, found map[string]bool) {
	dirs, _ := filepath.Glob(filepath.Join(append([]string{escape(dir)}, patterns...)...))
	for _, dir := range dirs {
		if kind := strings.TrimSuffix(filepath.Base(dir), "_plugins"); !slices.Contains(optionless, kind) {
			optionsBelow(dir, found)
		}
	}
}

// optionsBelow adds the variables that files in a directory and below it document. A file that cannot be read is no
// plug-in.
func optionsBelow(dir string, found map[string]bool) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			optionsBelow(path, found)
			continue
		}
		if !slices.Contains([]string{".py", ".yml", ".yaml"}, filepath.Ext(path)) {
			continue
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("vars")) {
			documented(string(text), found)
		}
	}
}

var (
	// varsKey matches the key vars of an option, and what its line begins with.
	varsKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*(?:- +)*)["']?vars["']?[ \t]*:[ \t]*(?:#.*)?$`)
	})
	// varsFlow matches such a list in brackets.
	varsFlow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bvars["']?[ \t]*:\s*\[([^\]]*)\]`)
	})
	// nameKey matches the name in an element of such a list.
	nameKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[-{,\s])["']?name["']?[ \t]*:\s*["']?(\w+)`)
	})
)

// documented adds the variables of options in documentation, or in a fragment of it: the names of the elements of each
// list that is called vars. To parse the whole documentation of all plug-ins would take seconds.
func documented(text string, found map[string]bool) {
	for _, at := range varsKey().FindAllStringSubmatchIndex(text, -1) {
		names(block(text[at[1]:], at[3]-at[2]), found)
	}
	for _, flow := range varsFlow().FindAllStringSubmatch(text, -1) {
		names(flow[1], found)
	}
}

// block are the lines of a list that belongs to a key, which stands so far from the beginning of its line.
func block(text string, indent int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " \t")
		switch at := len(line) - len(words); {
		case strings.TrimSpace(words) == "" || words[0] == '#':
			continue
		case at < indent, out.Len() == 0 && words[0] != '-', at == indent && words[0] != '-':
			return out.String()
		}
		out.WriteString(line)
	}
	return out.String()
}

func names(list string, found map[string]bool) {
	for _, name := range nameKey().FindAllStringSubmatch(list, -1) {
		found[name[1]] = true
	}
}
