// Package foreign finds the modules that are not native to hark, where Ansible finds them on the controller: library
// directories, and collections on disk with their redirects. It packs them for the hosts, with the module_utils that
// they import.
package foreign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/playbook/deprecation"
)

// Module is a module on the controller's disk.
type Module struct {
	// Name is the full name: namespace.collection.name, or the name alone if it lies in a library directory.
	Name string
	// Path is its file; "" for a name that leads to a module of Ansible's own.
	Path string
	// Utils are directories that hold module_utils for it, nearest first.
	Utils []string
	// Deprecated are the names on the way to it that will go.
	Deprecated []deprecation.Notice
	// Removed says that it is gone, and Circle are names that lead to each other and to no module; nothing else is
	// known of such a module.
	Removed *deprecation.Notice
	Circle  []string
}

// Missing says why there is no such module, "" if there is one.
func (m Module) Missing() string {
	switch {
	case m.Removed != nil:
		return m.Removed.Removal()
	case m.Circle != nil:
		return "plugin redirect loop resolving " + m.Circle[0] + " (path: " + pyList(m.Circle) + ")"
	}
	return ""
}

// Collections knows collections on disk: their names, and where they are.
type Collections func(name string) (dir string, ok bool)

// Finder finds modules. It may be used by several goroutines.
type Finder struct {
	collections Collections
	options     options

	mu      sync.Mutex
	library places                        // guarded by mu
	utils   places                        // guarded by mu
	added   []string                      // guarded by mu
	plugins map[string]*places            // by kind; guarded by mu
	runtime map[string]map[string]routing // by kind and collection; guarded by mu
}

// NewFinder makes a Finder with the directories of the settings for modules and for their module_utils.
func NewFinder(library, utils []string, c Collections) *Finder {
	f := &Finder{collections: c, runtime: map[string]map[string]routing{}, plugins: map[string]*places{}}
	for kind := range pluginDirs {
		f.plugins[kind] = &places{}
	}
	f.library.configure(library)
	f.utils.configure(utils)
	return f
}

// Add looks also into library, module_utils and the directories of plug-ins of a directory: a playbook's, the modules
// of whose roles are then known too, or a role's.
func (f *Finder) Add(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.added, dir) {
		return
	}
	f.added = append(f.added, dir)
	for kind, name := range pluginDirs {
		f.plugins[kind].add(filepath.Join(dir, name))
	}
	f.library.add(filepath.Join(dir, "library"))
	f.utils.add(filepath.Join(dir, "module_utils"))
	roles, _ := filepath.Glob(filepath.Join(escape(dir), "roles", "*", "library"))
	for _, path := range roles {
		f.library.expect(path)
		f.utils.expect(filepath.Join(filepath.Dir(path), "module_utils"))
	}
}

// Added returns the directories of playbooks and roles, in the order in which they were read.
func (f *Finder) Added() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.added)
}

// InLibrary finds a module by its short name in the library directories. Such a module stands before a builtin one.
func (f *Finder) InLibrary(name string) (Module, bool) {
	name, ok := ownName(name)
	if !ok {
		return Module{}, false
	}
	f.mu.Lock()
	library, utils := f.library.dirs(), f.utils.dirs()
	f.mu.Unlock()
	for _, dir := range library {
		if path, ok := moduleFile(dir, name); ok {
			return Module{Name: name, Path: path, Utils: utils}, true
		}
	}
	return Module{}, false
}

// ownName returns the name of something in the project's own directories, without ansible.legacy before it.
func ownName(name string) (string, bool) {
	name = strings.TrimPrefix(name, "ansible.legacy.")
	return name, !strings.Contains(name, ".")
}

// InCollections finds a module by its full name, by its short one in the given collections, or by a short name of old
// times.
func (f *Finder) InCollections(name string, collections []string) (Module, bool) {
	if parts := strings.SplitN(name, ".", 3); len(parts) == 3 && !inAnsible(name) {
		return f.inCollection(parts[0]+"."+parts[1], parts[2], nil)
	}
	name = modules.ShortName(name)
	for _, c := range collections {
		if m, ok := f.inCollection(c, name, nil); ok {
			return m, true
		}
	}
	if collection, short, ok := routed("modules", name); ok {
		return f.inCollection(collection, short, nil)
	}
	return Module{}, false
}

// inAnsible reports whether a full name is that of something of Ansible's own.
func inAnsible(name string) bool {
	return strings.HasPrefix(name, "ansible.builtin.") || strings.HasPrefix(name, "ansible.legacy.")
}

// maxRedirects bounds a chain of redirects, which may lead in a circle.
const maxRedirects = 10

// inCollection finds a module of a collection that the names before led to.
func (f *Finder) inCollection(collection, name string, before []string) (Module, bool) {
	dir, ok := f.collections(collection)
	if !ok {
		return Module{}, false
	}
	full := collection + "." + name
	if slices.Contains(before, full) || len(before) > maxRedirects {
		return Module{Circle: before}, true
	}
	route := f.routing("modules", collection, dir)[name]
	m, ok := f.routed(route, collection, dir, name, append(before, full))
	if route.deprecated != nil {
		m.Deprecated = append([]deprecation.Notice{*route.deprecated}, m.Deprecated...)
	}
	return m, ok
}

// routed finds the module that a name of a collection stands for.
func (f *Finder) routed(route routing, collection, dir, name string, before []string) (Module, bool) {
	if route.removed != nil {
		return Module{Removed: route.removed}, true
	}
	if route.to != "" {
		parts := strings.SplitN(route.to, ".", 3)
		if len(parts) < 3 {
			return Module{}, false
		}
		if inAnsible(route.to) {
			return Module{Name: route.to}, true
		}
		return f.inCollection(parts[0]+"."+parts[1], parts[2], before)
	}
	rel := filepath.Join(strings.Split(name, ".")...)
	path, ok := moduleFile(filepath.Join(dir, "plugins", "modules"), rel)
	if !ok {
		return Module{}, false
	}
	return Module{Name: collection + "." + name, Path: path, Utils: f.utilDirs()}, true
}

// utilDirs returns the directories of module_utils beside Ansible's own.
func (f *Finder) utilDirs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.utils.dirs()
}

// moduleFile returns the file of a module in a directory, or in one below it: the extension is not part of the name.
func moduleFile(dir, name string) (string, bool) {
	if name == "" || filepath.Base(name) == "__init__" {
		return "", false
	}
	for _, pattern := range []string{name, name + ".*", "*/" + name, "*/" + name + ".*"} {
		found, _ := filepath.Glob(filepath.Join(escape(dir), pattern))
		for _, path := range found {
			if isFile(path) && !ignored[filepath.Ext(path)] {
				return path, true
			}
		}
	}
	return "", false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// escape takes the meaning of patterns from a path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// ignored are the extensions that no module has.
var ignored = map[string]bool{
	".pyc": true, ".pyo": true, ".swp": true, ".bak": true, "~": true, ".rpm": true, ".md": true, ".txt": true,
	".rst":  true,
	".yaml": true, ".yml": true, ".ini": true, ".json": true, ".ps1": true, ".cfg": true,
}
