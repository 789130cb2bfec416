// Package control are the modules that steer a play and its variables. Most run inside the session: they
// touch no host.
package control

import (
	"sort"
	"strings"

	"hark/modules"
)

// All are the modules of this package.
func All() []*modules.Module {
	return []*modules.Module{
		AddHost, Assert, AsyncStatus, Debug, Fail, GroupBy, IncludeVars, Pause, Ping, Reboot, SetFact, SetStats,
		ValidateArgumentSpec, WaitForConnection,
	}
}

// validOptions refuses options that an action does not have, in the words of Ansible's actions.
func validOptions(env *modules.Env, extra map[string]any) error {
	if len(extra) == 0 {
		return nil
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	sort.Strings(names)
	return modules.ActionFail("", "Invalid options for %s: %s", env.Name, strings.Join(names, ","))
}

// identifier tells whether a name can be a variable's: Python's rules for ASCII, without its keywords.
func identifier(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	switch name {
	case "", "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
		"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
		"pass", "raise", "return", "try", "while", "with", "yield":
		return false
	}
	return true
}

const badName = "The variable name '%s' is not valid. Variables must start with a letter or underscore character, " +
	"and contain only letters, numbers and underscores."
