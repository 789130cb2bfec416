package foreign

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

//go:embed routes.txt
var routesText string

// route is where a short name leads.
type route struct{ collection, name string }

// routes are the redirects of short names, read on first use.
var routes = sync.OnceValue(func() map[string]route {
	m := map[string]route{}
	for line := range strings.Lines(routesText) {
		collection, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(names) {
			short, name, renamed := strings.Cut(word, "=")
			if !renamed {
				name = short
			}
			m[short] = route{collection, name}
		}
	}
	return m
})

// routed tells where a name from before there were collections leads.
func routed(short string) (collection, name string, ok bool) {
	r, ok := routes()[short]
	return r.collection, r.name, ok
}

// redirect are the modules of a collection that moved, by name: full names.
type redirect map[string]string

// redirects reads meta/runtime.yml of a collection. What cannot be read redirects nothing.
func (f *Finder) redirects(collection, dir string) redirect {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.runtime[collection]; ok {
		return r
	}
	r := readRedirects(filepath.Join(dir, "meta", "runtime.yml"))
	f.runtime[collection] = r
	return r
}

func readRedirects(file string) redirect {
	r := redirect{}
	text, err := os.ReadFile(file)
	if err != nil {
		return r
	}
	doc, err := pyyaml.Load(text, pyyaml.Options{})
	if err != nil || doc == nil {
		return r
	}
	modules, _ := under(doc.Value, "plugin_routing", "modules").(*value.Dict)
	if modules == nil {
		return r
	}
	modules.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		if to, ok := value.Text(under(v, "redirect")); ok {
			r[name] = to
		}
		return true
	})
	return r
}

// under goes down through mappings; nil if there is nothing.
func under(v value.Value, keys ...string) value.Value {
	for _, key := range keys {
		d, ok := v.(*value.Dict)
		if !ok {
			return nil
		}
		v, _ = d.Get(key)
	}
	return v
}
