package foreign

import (
	"os"
	"strings"

	"hark/playbook/deprecation"
)

// KeptModule finds a module that is kept for old playbooks: _name in a library directory, where nothing is called
// name only.
func (f *Finder) KeptModule(name string) (Module, bool) {
	short, ok := ownName(name)
	if !ok || strings.HasPrefix(short, "_") {
		return Module{}, false
	}
	m, ok := f.InLibrary("_" + short)
	m.Deprecated = kept(short, m.Path)
	return m, ok
}

// KeptAction is KeptModule for the project's own action plug-ins.
func (f *Finder) KeptAction(name string) (Action, bool) {
	short, ok := ownName(name)
	if !ok || strings.HasPrefix(short, "_") {
		return Action{}, false
	}
	a, ok := f.OwnAction("_" + short)
	a.Deprecated = kept(short, a.Path)
	return a, ok
}

// kept says that something is kept for old playbooks; a link is another name that nobody is warned of.
func kept(name, path string) []deprecation.Notice {
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
		return nil
	}
	return []deprecation.Notice{{
		Text: name + " is kept for backwards compatibility but usage is discouraged. " +
			"The module documentation details page may explain more about this rationale.",
	}}
}
