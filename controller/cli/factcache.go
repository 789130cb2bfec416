package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/play"
	"hark/modules"
)

// factCache keeps facts between runs where the settings ask for it.
func (p *run) factCache() play.FactCache {
	name := p.cfg.Text("CACHE_PLUGIN")
	dirs := p.cacheDirs()
	own := slices.ContainsFunc(dirs, func(dir string) bool { return project.Exists(filepath.Join(dir, name+".py")) })
	switch {
	case own:
	case strings.TrimPrefix(modules.ShortName(name), "community.general.") == "jsonfile":
		return &factcache.JSONFiles{
			Dir: p.cfg.Abs(p.cfg.Text("CACHE_PLUGIN_CONNECTION")), Prefix: p.cfg.Text("cache/jsonfile._prefix"),
			Timeout: time.Duration(p.cfg.Int("CACHE_PLUGIN_TIMEOUT")) * time.Second, Now: time.Now,
		}
	case modules.ShortName(name) == "memory":
		return nil
	}
	c := &plugins.Cache{Runner: p.Plugins, Name: name, Dirs: dirs, Warn: p.display.Warn}
	if err := c.Open(); err != nil {
		p.display.Warn(err.Error())
		return nil
	}
	return c
}

// cacheDirs are where the project keeps fact cache plug-ins in Python.
func (p *run) cacheDirs() []string {
	var dirs []string
	for _, book := range p.Compiler.Books() {
		dirs = append(dirs, filepath.Join(book, "cache_plugins"))
	}
	return append(dirs, p.cfg.List("DEFAULT_CACHE_PLUGIN_PATH")...)
}
