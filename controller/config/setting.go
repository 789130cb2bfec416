// Package config knows every setting: one table with a row for each, what may set it and in which order (environment,
// ansible.cfg, default), and where a value came from. The command line's flags are above all of these
// and belong to package cli. The package decides nothing by a setting.
package config

import (
	"strings"

	"hark/modules/dialect"
)

// Kind is the type of a setting: how its text is read.
type Kind int

// The kinds. List is comma separated; Path, PathSpec (joined by colons) and PathList (by commas) are made absolute:
// in a configuration file relative to it, elsewhere to the working directory.
const (
	Text Kind = iota
	Bool
	Int
	Float
	List
	Path
	PathSpec
	PathList
	Seconds // a number of seconds, or one with its unit; its value is a float64
)

// String names the kind as Ansible's documentation does.
func (k Kind) String() string {
	return [...]string{"string", "boolean", "integer", "float", "list", "path", "pathspec", "pathlist", "float"}[k]
}

// Setting is a row of the table.
type Setting struct {
	// Name is Ansible's name, or HARK_ and ours.
	Name string
	Kind Kind
	// Default as it would stand in ansible.cfg; "@home" is the value of ANSIBLE_HOME, "@hark" that of HARK_HOME.
	Default string
	// Newer is the default since the change Renewed, "" for Default.
	Newer   string
	Renewed *dialect.Change
	// NoDefault: without a value the setting is None.
	NoDefault bool
	// Env are environment variables, the last one that is set wins; Keys are entries of ansible.cfg likewise.
	Env  []string
	Keys []Key
	// Choices, if any, are the only values.
	Choices []string
	// Plugin is whose setting it is in Ansible ("callback/default"), "" for a general one.
	Plugin string
	// Since is the change that brought it, nil for one that every level has: before, it does nothing and is not shown.
	Since *dialect.Change
	// Until is the change with which it went, nil for none: it does nothing and is not shown.
	Until *dialect.Change
	// Flag is the flag of the command line that overrides it.
	Flag string
	Doc  string
}

// Key is an entry of ansible.cfg.
type Key struct{ Section, Name string }

func (k Key) String() string { return "[" + k.Section + "]" + k.Name }

// Own reports whether a setting is hark's own.
func (s Setting) Own() bool { return strings.HasPrefix(s.Name, "HARK_") }

func names(list ...string) []string { return list }

// keys makes Keys of "section.name".
func keys(list ...string) []Key {
	var out []Key
	for _, text := range list {
		section, name, _ := strings.Cut(text, ".")
		out = append(out, Key{section, name})
	}
	return out
}

// Settings returns the table.
func Settings() []Setting {
	var all []Setting
	for _, part := range [][]Setting{
		harkSettings(), playSettings(), becomeSettings(), factSettings(), inventorySettings(), vaultSettings(),
		pathSettings(),
		connectionSettings(), screenSettings(), colorSettings(), callbackSettings(), pluginSettings(), placeSettings(),
		galaxySettings(), inertSettings(),
	} {
		all = append(all, part...)
	}
	return all
}
