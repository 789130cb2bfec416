package foreign

import (
	"path/filepath"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/deprecation"
)

// pluginDirs are the directories beside a playbook or in a role that hold plug-ins, by their kind.
var pluginDirs = map[string]string{
	"filter": "filter_plugins", "test": "test_plugins", "lookup": "lookup_plugins", "callback": "callback_plugins",
	"vars":   "vars_plugins",
	"action": "action_plugins", "connection": "connection_plugins", "become": "become_plugins",
	"strategy": "strategy_plugins",
	// Of these only the documentation of options is read.
	"shell": "shell_plugins", "cache": "cache_plugins", "inventory": "inventory_plugins", "terminal": "terminal_plugins",
	"httpapi": "httpapi_plugins", "cliconf": "cliconf_plugins", "netconf": "netconf_plugins",
	"doc_fragments": "doc_fragments",
}

// Configure adds directories of the settings for plug-ins of a kind. Those of playbooks and roles are looked into
// first.
func (f *Finder) Configure(kind string, dirs []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plugins[kind].configure(dirs)
}

// Plugin returns where a plug-in of a kind (filter, test, lookup, callback, vars) is looked for, nearest first, and
// the short name that it has there: in the project's own directories, and in the collection that its full name, or
// its name from before there were collections, leads to. No name gives the project's own directories.
func (f *Finder) Plugin(kind, name string) (short string, dirs []string) {
	parts := strings.SplitN(name, ".", 3)
	switch {
	case len(parts) < 3 || strings.HasPrefix(name, "ansible.legacy."):
		short = parts[len(parts)-1]
		f.mu.Lock()
		dirs = f.plugins[kind].dirs()
		f.mu.Unlock()
		if collection, name, ok := routed(kind, short); ok {
			if at, ok := f.pluginsOf(kind, collection, name, 0); ok {
				dirs = append(dirs, at.dir)
			}
		}
		return short, dirs
	case strings.HasPrefix(name, "ansible.builtin."):
		return parts[2], nil
	}
	if at, ok := f.pluginsOf(kind, parts[0]+"."+parts[1], parts[2], 0); ok {
		return at.name, []string{at.dir}
	}
	return parts[2], nil
}

// NoPlugin says why a collection that is there has no plug-in of a kind under a full name, in Ansible's words; "" if
// there is no such collection.
func (f *Finder) NoPlugin(kind, name string) string {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 || inAnsible(name) {
		return ""
	}
	collection := parts[0] + "." + parts[1]
	dir, ok := f.collections(collection)
	if !ok {
		return ""
	}
	if removed := f.routing(kind, collection, dir)[parts[2]].removed; removed != nil {
		return removed.Removal()
	}
	return value.ReprText(name)
}

// Deprecated returns the notice of a plug-in of a collection that will go, nil if none was given.
func (f *Finder) Deprecated(kind, name string) *deprecation.Notice {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 || inAnsible(name) {
		return nil
	}
	collection := parts[0] + "." + parts[1]
	if dir, ok := f.collections(collection); ok {
		return f.routing(kind, collection, dir)[parts[2]].deprecated
	}
	return nil
}

// Moved returns the short names of plug-ins of a kind that led to a collection which is on the disk, sorted.
func (f *Finder) Moved(kind string) []string {
	var names []string
	for key, to := range routesOf(kind) {
		if name, ok := strings.CutPrefix(key, kind+" "); ok {
			if _, ok := f.collections(to.collection); ok {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// placed is a name in a directory of a collection.
type placed struct{ dir, name string }

// pluginsOf finds the plug-ins of a collection, over its redirects.
func (f *Finder) pluginsOf(kind, collection, name string, depth int) (placed, bool) {
	dir, ok := f.collections(collection)
	if !ok || depth > maxRedirects {
		return placed{}, false
	}
	route := f.routing(kind, collection, dir)[name]
	if route.removed != nil && (kind == "filter" || kind == "test") { // of others ansible-core tells itself
		return placed{}, false
	}
	if to := route.to; to != "" {
		parts := strings.SplitN(to, ".", 3)
		if len(parts) < 3 {
			return placed{}, false
		}
		return f.pluginsOf(kind, parts[0]+"."+parts[1], parts[2], depth+1)
	}
	at := filepath.Join(append([]string{dir, "plugins", kind}, strings.Split(name, ".")...)...)
	return placed{filepath.Dir(at), filepath.Base(at)}, true
}
