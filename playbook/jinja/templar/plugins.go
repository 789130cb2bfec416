package templar

import (
	"maps"
	"strings"

	"hark/playbook/jinja"
)

// WithPlugins is the engine's set of filters and tests for Options.Plugins: the named ones stand before the engine's own, and those
// that nobody else knows are called too. What was made for the same names is given again, so that its compiled templates are found.
func (e *Engine) WithPlugins(filters, tests []string) *jinja.Env {
	key := strings.Join(filters, " ") + "\n" + strings.Join(tests, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if env := e.plugins[key]; env != nil {
		return env
	}
	env := *e.env
	env.Plugins, env.Filters, env.Tests = true, maps.Clone(env.Filters), maps.Clone(env.Tests)
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

// maxPluginSets is how many projects with plug-ins an engine remembers at once.
const maxPluginSets = 16

// env is what the Templar's texts are compiled with.
func (t *Templar) env() *jinja.Env {
	if t.o.Plugins != nil {
		return t.o.Plugins
	}
	return t.o.Engine.env
}
