package compile

import (
	"strings"

	"hark/modules"
	"hark/playbook/foreign"
	"hark/playbook/plan"
)

// actions finds what the name of an action stands for: a native module, a file of a module, an action plug-in.
type actions struct {
	modules *modules.Registry
	foreign *foreign.Finder
}

// action returns an action's full name, or the name as written if it is unknown or holds a template; its file, if it is
// not native; and its action plug-in.
func (s *actions) action(name string, collections []string) (string, *plan.Foreign, *plan.ActionPlugin) {
	full, module := s.module(name, collections)
	a, ok := s.actionPlugin(name, collections)
	if !ok {
		return full, module, nil
	}
	if module == nil || !strings.Contains(a.Name, ".") {
		full, module = a.Name, nil
	}
	return full, module, &plan.ActionPlugin{Name: a.Name, Path: a.Path, Collections: collections}
}

// actionPlugin finds the action plug-in in Python of a name, with or without a module. One in the project's own
// directories comes before a native module too.
func (s *actions) actionPlugin(name string, collections []string) (foreign.Action, bool) {
	if modules.ShortName(name) == "meta" {
		return foreign.Action{}, false
	}
	if a, ok := s.foreign.OwnAction(name); ok {
		return a, true
	}
	if _, ok := s.native(name, collections); ok {
		return foreign.Action{}, false
	}
	if a, ok := s.foreign.KeptAction(name); ok {
		return a, true
	}
	if m, ok := s.notNative(name, collections); ok {
		return s.foreign.ActionOf(m.Name)
	}
	return s.foreign.ActionIn(name, collections)
}

// module returns a module's full name, or the name as written if it is unknown or holds a template; and its file, if it
// is not native.
func (s *actions) module(name string, collections []string) (string, *plan.Foreign) {
	if full, ok := s.native(name, collections); ok {
		return full, nil
	}
	if m, ok := s.notNative(name, collections); ok && m.Missing() == "" {
		if full, ok := s.leads(m); ok {
			return full, nil
		}
		return m.Name, &plan.Foreign{Path: m.Path, Utils: m.Utils}
	}
	return name, nil
}

// resolve returns an action's full name; false if there is no such action.
func (s *actions) resolve(name string, collections []string) (string, bool) {
	if a, ok := s.foreign.OwnAction(name); ok {
		return a.Name, true
	}
	if full, ok := s.native(name, collections); ok {
		return full, true
	}
	if a, ok := s.foreign.KeptAction(name); ok {
		return a.Name, true
	}
	if m, ok := s.notNative(name, collections); ok {
		if full, ok := s.leads(m); ok {
			return full, true
		}
		return m.Name, m.Missing() == ""
	}
	a, ok := s.foreign.ActionIn(name, collections)
	return a.Name, ok
}

// notNative finds a module on the disk.
func (s *actions) notNative(name string, collections []string) (foreign.Module, bool) {
	if m, ok := s.foreign.InLibrary(name); ok {
		return m, true
	}
	if m, ok := s.foreign.KeptModule(name); ok {
		return m, true
	}
	return s.foreign.InCollections(name, collections)
}

// leads returns the full name of the native module that a redirect names.
func (s *actions) leads(m foreign.Module) (string, bool) {
	if !strings.Contains(m.Name, ".") {
		return "", false
	}
	return s.native(m.Name, nil)
}

// native returns the full name of a native module. One in a library directory hides a builtin one of its name.
func (s *actions) native(name string, collections []string) (string, bool) {
	short := modules.ShortName(name)
	if short == "meta" {
		return plan.MetaAction, true
	}
	if !strings.Contains(name, ".") {
		for _, c := range collections {
			if c == "ansible.builtin" || c == "ansible.legacy" {
				break
			}
			if m, ok := s.modules.Get(c + "." + name); ok {
				return m.Name, true
			}
		}
	}
	m, ok := s.modules.Get(name)
	if !ok {
		return "", false
	}
	if _, hidden := s.foreign.InLibrary(name); hidden {
		return "", false
	}
	return m.Name, true
}
