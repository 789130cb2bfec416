package modules

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/shlex"
)

// Python returns the path of the host's Python interpreter, for facts and for modules written in Python; "" if there is
// none.
func (e *Env) Python() string {
	words := e.PythonCommand()
	if len(words) == 0 {
		return ""
	}
	return e.LookPath(words[0])
}

// PythonCommand returns the command of the host's Python: ansible_python_interpreter, whether that exists or not, with
// its arguments; else the first that is found. It is empty if there is none.
func (e *Env) PythonCommand() []string {
	named := strings.TrimSpace(e.Interpreter)
	if named != "" && !e.discovers(named) {
		words, err := shlex.Split(named)
		if err != nil || len(words) == 0 {
			words = []string{named}
		}
		words[0] = expandPath(words[0], e.Environ)
		if path := e.LookPath(words[0]); path != "" {
			words[0] = path
		}
		return words
	}
	for _, name := range e.pythons() {
		if path := e.LookPath(name); path != "" {
			return []string{path}
		}
	}
	return nil
}

// discovers reports whether a name of an interpreter means that it must be found.
func (e *Env) discovers(name string) bool {
	switch name {
	case "auto", "auto_silent":
		return true
	case "auto_legacy", "auto_legacy_silent":
		return !e.Release.Has(dialect.AutoLegacy)
	}
	return false
}

// pythons returns the names under which Ansible looks for a Python, in its order: the system's first, from 2.19 on the
// newest.
func (e *Env) pythons() []string {
	if e.Has(dialect.PythonOrder) {
		return []string{"python3.13", "python3.12", "python3.11", "python3.10", "python3.9", "python3.8", "/usr/bin/python3",
			"python3"}
	}
	return []string{"/usr/bin/python3", "/usr/libexec/platform-python", "python3", "python"}
}
