package templar

import (
	"fmt"
	"maps"
	"strings"

	"hark/playbook/jinja"
)

// WithPlugins returns the engine's set of filters and tests for Options.Plugins: the named ones stand before the
// engine's own, full names of collections that the engine does not know are plug-ins, and if more is set, so are
// short ones. What was made for the same is given again, so that its compiled templates are found.
func (e *Engine) WithPlugins(filters, tests []string, more bool) *jinja.Env {
	key := fmt.Sprintf("%q %q %t", filters, tests, more)
	e.mu.Lock()
	defer e.mu.Unlock()
	if env := e.plugins[key]; env != nil {
		return env
	}
	env := *e.env
	env.Filters, env.Tests = maps.Clone(env.Filters), maps.Clone(env.Tests)
	env.IsPlugin = func(_, name string) bool {
		return more || strings.Count(name, ".") > 1 && !strings.HasPrefix(name, "ansible.builtin.")
	}
	for _, name := range filters {
		env.Filters[name] = jinja.PluginFilter
	}
	for _, name := range tests {
		env.Tests[name] = jinja.PluginTest
	}
	if e.plugins == nil || len(e.plugins) >= maxPluginSets {
		e.plugins = map[string]*jinja.Env{}
	}
	e.plugins[key] = &env
	return &env
}

// Missing reports whether the engine itself has no filter or test (the kind) of the name.
func (e *Engine) Missing(kind, name string) bool {
	if kind == "filter" {
		return e.env.Filters[name] == nil
	}
	return e.env.Tests[name] == nil
}

// maxPluginSets is how many projects with plug-ins an engine remembers at once.
const maxPluginSets = 16

// env returns what the Templar's texts are compiled with.
func (t *Templar) env() *jinja.Env {
	if t.o.Plugins != nil {
		return t.o.Plugins
	}
	return t.o.Engine.env
}
