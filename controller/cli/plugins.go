package cli

import (
	"context"

	"hark/controller/internal/plugins"
	"hark/playbook/compile"
	"hark/playbook/jinja/templar"
)

// newPlugins makes what runs the filters, tests and lookups of the project that are written in Python.
func (p *project) newPlugins(cfg compile.Config) *plugins.Runner {
	return &plugins.Runner{
		Find:  func(kind, name string) (string, []string) { return p.compiler.Plugin(kind, name) },
		Books: func() []string { return p.compiler.Books() },
		Homes: cfg.PythonDirs, Collections: cfg.CollectionPaths,
	}
}

// pluginNames are the filters or tests (the kind) in the project's own directories. Where Python cannot be run, there are none.
func (p *project) pluginNames(kind string) []string {
	names, err := p.plugins.Names(context.Background(), kind)
	if err != nil {
		p.display.Warn(err.Error())
	}
	return names
}

// withPlugins are the templates that the controller renders for a run.
func (p *project) withPlugins() templar.Options {
	o := p.templates
	o.Plugins = o.Engine.WithPlugins(p.pluginNames("filter"), p.pluginNames("test"), true)
	return o
}
