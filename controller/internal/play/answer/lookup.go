package answer

import (
	"context"
	"fmt"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/search"
)

// lookupCall is one lookup with everything rendered.
type lookupCall struct {
	ctx   context.Context
	terms []value.Value
	kw    *value.Dict
	// paths are where the step looks for files, nearest first; dir is the playbook's directory.
	paths []string
	dir   search.Dir
	// sub is the kind of file that a loop looks for: files, templates, vars.
	sub string
	// overrides go with the answer.
	overrides []wire.Override
}

// lookup gives what Ansible's plug-in gives: a list.
type lookup func(a *Answerer, c *lookupCall) ([]value.Value, error)

// lookups returns those that need the controller's world. Lookups that are computed from their arguments and
// variables alone run in the agent.
func lookups() map[string]lookup {
	return map[string]lookup{
		"collection_version":  lookupCollectionVersion,
		"config":              lookupConfig,
		"csvfile":             lookupCSV,
		"env":                 lookupEnv,
		"file":                lookupFile,
		"fileglob":            lookupGlob,
		"filetree":            lookupTree,
		"first_found":         lookupFirstFound,
		"ini":                 lookupINI,
		"inventory_hostnames": lookupHosts,
		"lines":               lookupLines,
		"password":            lookupPassword,
		"pipe":                lookupPipe,
		"unvault":             lookupUnvault,
		"url":                 lookupURL,
	}
}

// inCollection are the lookups of community.general among them. Filetree was Ansible's own once, and keeps its old
// names.
func inCollection(short string) bool { return short == "collection_version" || short == "filetree" }

// lookupNamed returns the short name of a lookup that is served here; "" if there is none of that name.
func lookupNamed(name string) string {
	short := name[strings.LastIndexByte(name, '.')+1:]
	if lookups()[short] == nil {
		return ""
	}
	switch strings.TrimSuffix(name, short) {
	case "", "ansible.builtin.", "ansible.legacy.":
		if short != "collection_version" {
			return short
		}
	case "community.general.":
		if inCollection(short) {
			return short
		}
	}
	return ""
}

// LookupNames returns the short names of the lookups that are served here.
func LookupNames() []string {
	var names []string
	for name := range lookups() {
		names = append(names, name)
	}
	return names
}

// lookupError is an error of a lookup with the class that Ansible raises for it, which is part of the message
// that users see.
type lookupError struct{ class, text string }

func (e *lookupError) Error() string { return e.text }

func failLookup(class, format string, args ...any) error {
	return &lookupError{class, fmt.Sprintf(format, args...)}
}

// texts returns the terms as text.
func (c *lookupCall) texts() []string {
	out := make([]string, 0, len(c.terms))
	for _, t := range c.terms {
		out = append(out, textOf(t))
	}
	return out
}

// find looks for a file where the step looks; "" is not found.
func (c *lookupCall) find(sub, name string) string {
	found, _, ok := c.dir.Stack(c.paths, sub, name)
	if !ok {
		return ""
	}
	return found
}

// find is c.find, with the warning that Ansible gives where there is nothing.
func (a *Answerer) find(c *lookupCall, sub, name string) string {
	found := c.found(a, sub, name)
	if found == "" {
		a.warn("Unable to find '" + name + "' in expected paths (use -vvvvv to see paths)")
	}
	return found
}

// found is c.find, but for files that are hark's own.
func (c *lookupCall) found(a *Answerer, sub, name string) string {
	found := c.find(sub, name)
	if a.Private.holds(found) {
		return ""
	}
	return found
}

func (c *lookupCall) text(name, otherwise string) string {
	v, ok := c.kw.Get(name)
	if !ok || value.IsNone(v) {
		return otherwise
	}
	return textOf(v)
}

func (c *lookupCall) bool(name string, otherwise bool) bool {
	v, ok := c.kw.Get(name)
	if !ok || value.IsNone(v) {
		return otherwise
	}
	return value.SaysYes(v)
}

// textOf returns a value as Python prints it.
func textOf(v value.Value) string {
	s, err := value.ToStr(v)
	if err != nil {
		return ""
	}
	return s
}

func strs(list ...string) []value.Value {
	out := make([]value.Value, 0, len(list))
	for _, s := range list {
		out = append(out, value.Str(s))
	}
	return out
}

func (a *Answerer) lookup(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	name := lookupNamed(ask.Name)
	run := a.lookups[name]
	if run == nil {
		return a.foreignLookup(ctx, b, step, ask)
	}
	c := &lookupCall{ctx: ctx, kw: ask.Kw.Dict, paths: searchPaths(b, step), dir: b.Dir, sub: ask.Dir}
	if c.kw == nil {
		c.kw = value.NewDict()
	}
	if l, ok := ask.Args.V.(*value.List); ok {
		c.terms = l.Items
	}
	list, err := run(a, c)
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Value: plan.Lit(value.NewList(list...)), Overrides: c.overrides}, nil
}

// searchPaths is ansible_search_path of a step: its own directories and that of the playbook.
func searchPaths(b *batch, step *plan.Step) []string {
	for _, p := range step.Search {
		if p == string(b.Dir) {
			return step.Search
		}
	}
	return append(step.Search[:len(step.Search):len(step.Search)], string(b.Dir))
}
