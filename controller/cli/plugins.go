package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"hark/controller/internal/plugins"
	"hark/playbook/compile"
	"hark/playbook/inventory"
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

// varsPlugins are the vars plug-ins in Python, nil if there can be none. book is the playbook's directory, "" for none.
func (p *project) varsPlugins(book string) inventory.VarsPlugins {
	dirs := p.cfg.List("DEFAULT_VARS_PLUGIN_PATH")
	if book != "" {
		dirs = append([]string{filepath.Join(book, "vars_plugins")}, dirs...)
	}
	enabled := p.cfg.List("VARIABLE_PLUGINS_ENABLED")
	foreign := slices.ContainsFunc(enabled, func(name string) bool { return strings.Count(name, ".") >= 2 && !readsVarsFiles(name) })
	if !foreign && !holdsPlugins(dirs) {
		return nil
	}
	return &plugins.Vars{Runner: p.plugins, Dirs: dirs, Enabled: enabled, Stage: p.cfg.Text("RUN_VARS_PLUGINS"), Book: book}
}

// filesStage is when group_vars and host_vars are read.
func (p *project) filesStage() inventory.Stage {
	own, _ := p.cfg.Get("vars/host_group_vars.stage").V.(string)
	switch {
	case !slices.ContainsFunc(p.cfg.List("VARIABLE_PLUGINS_ENABLED"), readsVarsFiles):
		return inventory.NoStage
	case own != "":
		return inventory.Stage(own)
	case p.cfg.Text("RUN_VARS_PLUGINS") == "start":
		return inventory.AtInventory
	}
	return inventory.AtTasks
}

// readsVarsFiles tells hark's own vars plug-in by its name.
func readsVarsFiles(name string) bool {
	return strings.TrimPrefix(name, "ansible.builtin.") == "host_group_vars"
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
