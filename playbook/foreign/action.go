package foreign

import (
	"path/filepath"
	"slices"
	"strings"

	"hark/playbook/deprecation"
)

// Action is an action plug-in in Python on the controller's disk.
type Action struct {
	// Name is the full name, or the name alone if it lies in a directory of the project's own.
	Name string
	// Path is its file.
	Path string
	// Deprecated are the names on the way to it that will go.
	Deprecated []deprecation.Notice
}

// OwnAction finds an action plug-in in the project's own directories. It stands before a builtin one of its name.
func (f *Finder) OwnAction(name string) (Action, bool) {
	name, ok := ownName(name)
	if !ok {
		return Action{}, false
	}
	f.mu.Lock()
	dirs := f.plugins["action"].dirs()
	f.mu.Unlock()
	for _, dir := range dirs {
		if path := filepath.Join(dir, name+".py"); isFile(path) {
			return Action{Name: name, Path: path}, true
		}
	}
	return Action{}, false
}

// ActionOf finds the action plug-in of a collection that stands before the module of a full name, or that has no
// module.
func (f *Finder) ActionOf(full string) (Action, bool) {
	parts := strings.SplitN(full, ".", 3)
	if len(parts) < 3 {
		return Action{}, false
	}
	collection, name := parts[0]+"."+parts[1], parts[2]
	dir, ok := f.collections(collection)
	if ok {
		if other := f.routing("modules", collection, dir)[name].action; other != "" {
			return f.placedAction(other)
		}
	}
	a, found := f.placedAction(full)
	if family, _, _ := strings.Cut(name, "_"); !found && ok && slices.Contains(networkFamilies, family) {
		if _, isModule := moduleFile(filepath.Join(dir, "plugins", "modules"), name); isModule {
			return f.placedAction(collection + "." + family)
		}
	}
	return a, found
}

// networkFamilies are the first words of modules for network devices that have one action plug-in for all, the
// default of Ansible's network_group_modules.
var networkFamilies = []string{
	"eos", "nxos", "ios", "iosxr", "junos", "enos", "ce", "vyos", "sros", "dellos9", "dellos10", "dellos6", "asa", "aruba",
	"aireos",
	"bigip", "ironware", "onyx", "netconf", "exos", "voss", "slxos",
}

func (f *Finder) placedAction(full string) (Action, bool) {
	parts := strings.SplitN(full, ".", 3)
	if len(parts) < 3 {
		return Action{}, false
	}
	at, ok := f.pluginsOf("action", parts[0]+"."+parts[1], parts[2], 0)
	if !ok || !isFile(filepath.Join(at.dir, at.name+".py")) {
		return Action{}, false
	}
	return Action{Name: full, Path: filepath.Join(at.dir, at.name+".py")}, true
}

// ActionIn finds an action plug-in by its full name, or by its short one in the given collections.
func (f *Finder) ActionIn(name string, collections []string) (Action, bool) {
	if strings.Count(name, ".") >= 2 {
		return f.ActionOf(name)
	}
	if strings.Contains(name, ".") {
		return Action{}, false
	}
	for _, c := range collections {
		if a, ok := f.ActionOf(c + "." + name); ok {
			return a, true
		}
	}
	return Action{}, false
}
