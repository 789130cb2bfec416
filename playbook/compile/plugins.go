package compile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/playbook/foreign"
	"hark/playbook/plan"
)

// PluginDirs adds the settings' directories of plug-ins in Python of a kind; see foreign.Finder.
func (p *Project) PluginDirs(kind string, dirs []string) { p.foreign.Configure(kind, dirs) }

// ShowAll has results come with all that there is of them, for views that hand them to others. It is called before
// the first Compile.
func (p *Project) ShowAll() { p.cfg.Invocation, p.cfg.Brief = true, false }

// Plugin returns where a plug-in in Python is looked for, and under which name; see foreign.Finder.
func (p *Project) Plugin(kind, name string) (short string, dirs []string) {
	if kind == "filter" || kind == "test" { // of others ansible-core tells itself
		if n := p.foreign.Deprecated(kind, name); n != nil {
			p.deprecate(*n)
		}
	}
	return p.foreign.Plugin(kind, name)
}

// NoPlugin says why there is no plug-in of a name, see foreign.Finder.
func (p *Project) NoPlugin(kind, name string) string { return p.foreign.NoPlugin(kind, name) }

// Places are the directories of playbooks and roles that were read, in which plug-ins may lie.
func (p *Project) Places() []string { return p.foreign.Added() }

// Books are the directories of the playbooks that were read.
func (p *Project) Books() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	dirs := make([]string, len(p.books))
	for i, dir := range p.books {
		dirs[i] = string(dir)
	}
	return dirs
}

// plugins are the filters and tests in Python of a play; nil if there is no place that one could come from.
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

// noStrategy is the error of a play whose strategy hark does not have: one in Python is not run.
func noStrategy(p *Play, name string) error {
	short, dirs := p.project.foreign.Plugin("strategy", name)
	for _, dir := range dirs {
		file := filepath.Join(dir, short+".py")
		if _, err := os.Stat(file); err == nil {
			return p.wrong(p.self.place, "the strategy plug-in %s is in Python (%s) and is not run: there are linear, free, host_pinned and debug", name, file)
		}
	}
	return p.wrong(p.self.place, "Invalid play strategy specified: %s", name)
}

// own are the plug-ins of a kind in the project's own directories.
func (p *Project) own(kind string) []string {
	_, dirs := p.foreign.Plugin(kind, "")
	var names []string
	for _, dir := range dirs {
		files, _ := os.ReadDir(dir) // one that cannot be read has none
		for _, file := range files {
			if name, ok := strings.CutSuffix(file.Name(), ".py"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// OwnWays are the names of the project's own plug-ins by which hosts are reached, and users become others.
func OwnWays(p *Project) (connections, becomes []string) { return p.own("connection"), p.own("become") }

// pluginNames are the project's own filters or tests, and those that short names from before there were collections
// lead to.
func (p *Project) pluginNames(kind string) []string {
	names := p.cfg.PluginNames(kind)
	for _, name := range p.foreign.Moved(kind) {
		if !slices.Contains(names, name) && p.cfg.Templates.Engine.Missing(kind, name) {
			names = append(names, name)
		}
	}
	return names
}

// hasCollections reports whether a collection may be there at all.
func (p *Project) hasCollections() bool {
	dirs := p.cfg.CollectionPaths
	for _, book := range p.Books() {
		dirs = append(dirs[:len(dirs):len(dirs)], filepath.Join(book, "collections"))
	}
	for _, dir := range dirs {
		for _, path := range []string{dir, filepath.Join(dir, "ansible_collections")} {
			if info, err := os.Stat(path); err == nil && info.IsDir() && filepath.Base(path) == "ansible_collections" {
				return true
			}
		}
	}
	return false
}

// action is an action's full name, or the name as written if it is unknown or holds a template; its file, if it is
// not native; and the plug-in that stands before it.
func (p *Project) action(name string, collections []string) (string, *plan.Foreign, *plan.ActionPlugin) {
	full, module := p.Module(name, collections)
	a, ok := p.actionPlugin(name, collections)
	if !ok {
		return full, module, nil
	}
	if module == nil || !strings.Contains(a.Name, ".") {
		full, module = a.Name, nil
	}
	return full, module, &plan.ActionPlugin{Name: a.Name, Path: a.Path, Collections: collections}
}

// actionPlugin finds the plug-in in Python that stands before a module, or that is all there is of a name. One in the
// project's own directories stands before a native module too.
func (p *Project) actionPlugin(name string, collections []string) (foreign.Action, bool) {
	if modules.ShortName(name) == "meta" {
		return foreign.Action{}, false
	}
	if a, ok := p.foreign.OwnAction(name); ok {
		return a, true
	}
	if _, ok := p.native(name, collections); ok {
		return foreign.Action{}, false
	}
	if a, ok := p.foreign.KeptAction(name); ok {
		return a, true
	}
	if m, ok := p.notNative(name, collections); ok {
		return p.foreign.ActionOf(m.Name)
	}
	return p.foreign.ActionIn(name, collections)
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
