package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/play"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/vars"
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

// keptFacts returns what knows the facts that the cache has of hosts, for the inventory of a project. They come in by
// the same rule as those that a play reads: they are data, and decide nothing that no host may decide.
func keptFacts(p *run, of *project.Project) func(host string) *value.Dict {
	p.Project = of
	type source struct {
		cache     play.FactCache
		protected vars.Protected
	}
	open := sync.OnceValue(func() source {
		ways := p.ways()
		return source{p.factCache(),
			vars.Protected{Options: ways.Names(), Documented: compile.OptionVariables(of.Compiler)}}
	})
	return func(host string) *value.Dict {
		s := open()
		if s.cache == nil {
			return nil
		}
		facts, ok := s.cache.Load(host)
		if !ok {
			return nil
		}
		clean, _ := s.protected.Facts(facts)
		return clean
	}
}

// cacheDirs returns where the project keeps fact cache plug-ins in Python.
func (p *run) cacheDirs() []string {
	var dirs []string
	for _, book := range p.Compiler.Books() {
		dirs = append(dirs, filepath.Join(book, "cache_plugins"))
	}
	return append(dirs, p.cfg.List("DEFAULT_CACHE_PLUGIN_PATH")...)
}
