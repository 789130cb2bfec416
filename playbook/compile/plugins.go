package compile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/playbook/plan"
)

// PluginDirs adds the settings' directories of plug-ins in Python of a kind; see foreign.Finder.
func (p *Project) PluginDirs(kind string, dirs []string) { p.foreign.Configure(kind, dirs) }

// ShowAll makes results complete, for views that pass them on. It is called before the first Compile.
func (p *Project) ShowAll() { p.cfg.Invocation, p.cfg.Brief = true, false }

// Plugin returns where a plug-in in Python is searched, and its short name; see foreign.Finder.
func (p *Project) Plugin(kind, name string) (short string, dirs []string) {
	if kind == "filter" || kind == "test" { // ansible-core reports others itself
		if n := p.foreign.Deprecated(kind, name); n != nil {
			p.deprecate(*n)
		}
	}
	return p.foreign.Plugin(kind, name)
}

// NoPlugin returns why there is no plug-in with a name, see foreign.Finder.
func (p *Project) NoPlugin(kind, name string) string { return p.foreign.NoPlugin(kind, name) }

// Places returns the directories of playbooks and roles that were read, which may hold plug-ins.
func (p *Project) Places() []string { return p.foreign.Added() }

// Books returns the directories of the playbooks that were read.
func (p *Project) Books() []string { return p.collections.playbooks() }

// plugins returns the filters and tests in Python of a play; nil if there is no directory for one.
func (p *Project) plugins() *plan.Plugins {
	if p.cfg.PluginNames == nil {
		return nil
	}
	var out plan.Plugins
	_, filters := p.foreign.Plugin("filter", "")
	_, tests := p.foreign.Plugin("test", "")
	if len(filters)+len(tests) == 0 && !p.hasCollections() {
		return nil
	}
	out.More = len(filters)+len(tests) > 0
	out.Filters, out.Tests = p.pluginNames("filter"), p.pluginNames("test")
	return &out
}

// noStrategy returns the error of a play whose strategy hark does not have: one in Python is not run.
func noStrategy(p *Play, name string) error {
	short, dirs := p.project.foreign.Plugin("strategy", name)
	for _, dir := range dirs {
		file := filepath.Join(dir, short+".py")
		if _, err := os.Stat(file); err == nil {
			return p.wrong(p.self.place,
				"the strategy plug-in %s is in Python (%s) and is not run: there are linear, free, host_pinned and debug", name,
				file)
		}
	}
	return p.wrong(p.self.place, "Invalid play strategy specified: %s", name)
}

// own returns the plug-ins of a kind in the project's own directories.
func (p *Project) own(kind string) []string {
	_, dirs := p.foreign.Plugin(kind, "")
	var names []string
	for _, dir := range dirs {
		files, _ := os.ReadDir(dir) // a directory that cannot be read has none
		for _, file := range files {
			if name, ok := strings.CutSuffix(file.Name(), ".py"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// OwnWays returns the names of the project's own connection and become plug-ins.
func OwnWays(p *Project) (connections, becomes []string) { return p.own("connection"), p.own("become") }

// OptionVariables returns the names of variables that set options of plug-ins which plays may load, as their
// documentation says: of the project's own, those of collections that lie beside a playbook or in a configured
// directory, and those of other collections of which something was used. Nobody may change the map.
func OptionVariables(p *Project) map[string]bool {
	packages := map[string]bool{}
	for _, dir := range p.cfg.PythonDirs {
		packages[dir] = true
	}
	var roots []string
	for _, dir := range collectionRoots(p) {
		if !packages[filepath.Dir(dir)] { // the options of those that come with Ansible are known: vars.Protected
			roots = append(roots, dir)
		}
	}
	return p.foreign.OptionVariables(p.cfg.RolePaths, roots, p.collections.inUse())
}

// collectionRoots returns where ansible_collections may lie.
func collectionRoots(p *Project) []string {
	dirs := p.cfg.CollectionPaths
	for _, book := range p.Books() {
		dirs = append(dirs[:len(dirs):len(dirs)], filepath.Join(book, "collections"))
	}
	var roots []string
	for _, dir := range dirs {
		if filepath.Base(dir) != "ansible_collections" {
			dir = filepath.Join(dir, "ansible_collections")
		}
		roots = append(roots, dir)
	}
	return roots
}

// pluginNames returns the project's own filters or tests, and those to which short names from before collections lead.
func (p *Project) pluginNames(kind string) []string {
	names := p.cfg.PluginNames(kind)
	for _, name := range p.foreign.Moved(kind) {
		if !slices.Contains(names, name) && p.cfg.Templates.Engine.Missing(kind, name) {
			names = append(names, name)
		}
	}
	return names
}

// hasCollections reports whether there may be any collection.
func (p *Project) hasCollections() bool {
	for _, dir := range collectionRoots(p) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// isLookup reports whether with_<name> is a loop.
func (p *Project) isLookup(name string) bool {
	if p.cfg.Lookups == nil || p.cfg.Lookups(name) {
		return true
	}
	short, dirs := p.foreign.Plugin("lookup", name)
	for _, file := range []string{short + ".py", "_" + short + ".py"} {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				return true
			}
		}
	}
	return false
}
