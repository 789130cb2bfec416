package project

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/controller/internal/ansible/plugins"
	"hark/modules/dialect"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
)

// newPlugins makes what runs the filters, tests and lookups of the project that are written in Python.
func (p *Project) newPlugins(cfg compile.Config) *plugins.Runner {
	return &plugins.Runner{
		Find:  func(kind, name string) (string, []string) { return p.Compiler.Plugin(kind, name) },
		Books: func() []string { return p.Compiler.Books() }, Places: func() []string { return p.Compiler.Places() },
		Why:   func(kind, name string) string { return p.Compiler.NoPlugin(kind, name) },
		Homes: cfg.PythonDirs, Collections: cfg.CollectionPaths, Templates: p.Templates,
		Marked: p.Level.Has(dialect.TrustedTemplates),
	}
}

// varsPlugins returns the vars plug-ins in Python, nil if there can be none. book is the playbook's directory, "" for
// none.
func (p *Project) varsPlugins(book string) inventory.VarsPlugins {
	dirs := p.Settings.List("DEFAULT_VARS_PLUGIN_PATH")
	if book != "" {
		dirs = append([]string{filepath.Join(book, "vars_plugins")}, dirs...)
	}
	enabled := p.Settings.List("VARIABLE_PLUGINS_ENABLED")
	foreign := slices.ContainsFunc(enabled,
		func(name string) bool { return strings.Count(name, ".") >= 2 && !readsVarsFiles(name) })
	if !foreign && !HoldsPlugins(dirs) {
		return nil
	}
	return &plugins.Vars{Runner: p.Plugins.Second(), Dirs: dirs, Enabled: enabled,
		Stage: p.Settings.Text("RUN_VARS_PLUGINS"), Book: book}
}

// filesStage returns when group_vars and host_vars are read.
func (e Effective) filesStage() inventory.Stage {
	own, _ := e.Settings.Get("vars/host_group_vars.stage").V.(string)
	switch {
	case !slices.ContainsFunc(e.Settings.List("VARIABLE_PLUGINS_ENABLED"), readsVarsFiles):
		return inventory.NoStage
	case own != "":
		return inventory.Stage(own)
	case e.Settings.Text("RUN_VARS_PLUGINS") == "start":
		return inventory.AtInventory
	}
	return inventory.AtTasks
}

// readsVarsFiles reports whether a name is that of hark's own vars plug-in.
func readsVarsFiles(name string) bool {
	return strings.TrimPrefix(name, "ansible.builtin.") == "host_group_vars"
}

// pluginNames returns the filters or tests (the kind) in the project's own directories. Where Python cannot be run,
// there are none.
func (p *Project) pluginNames(kind string) []string {
	names, err := p.Plugins.Names(context.Background(), kind)
	if err != nil {
		p.Display.Warn(err.Error())
	}
	return names
}

// WithPlugins returns the templates that the controller renders for a run.
func (p *Project) WithPlugins() templar.Options {
	o := p.Templates
	o.Plugins = o.Engine.WithPlugins(p.pluginNames("filter"), p.pluginNames("test"), true)
	return o
}

// HoldsPlugins reports whether any of the directories has a file of Python.
func HoldsPlugins(dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		entries, _ := os.ReadDir(dir)
		return slices.ContainsFunc(entries,
			func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".py" && e.Name() != "__init__.py" })
	})
}
