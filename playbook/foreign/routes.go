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

// routes are the redirects of short names by kind and name, read on first use.
var routes = sync.OnceValue(func() map[string]route {
	m := map[string]route{}
	for line := range strings.Lines(routesText) {
		where, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, collection, ok := strings.Cut(where, " ")
		if !ok {
			kind, collection = "modules", where
		}
		for _, word := range strings.Fields(names) {
			short, name, renamed := strings.Cut(word, "=")
			if !renamed {
				name = short
			}
			m[kind+" "+short] = route{collection, name}
		}
	}
	return m
})

// routed tells where a name from before there were collections leads.
func routed(kind, short string) (collection, name string, ok bool) {
	r, ok := routes()[kind+" "+short]
	return r.collection, r.name, ok
}

// redirect are the plug-ins of a kind that moved out of a collection, by name: full names.
type redirect map[string]string

// redirects reads meta/runtime.yml of a collection for a kind of plug-in, as it is called there. What cannot be read redirects nothing.
func (f *Finder) redirects(kind, collection, dir string) redirect {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := kind + " " + collection
	if r, ok := f.runtime[key]; ok {
		return r
	}
	r := readRedirects(filepath.Join(dir, "meta", "runtime.yml"), kind)
	f.runtime[key] = r
	return r
}

func readRedirects(file, kind string) redirect {
	r := redirect{}
	text, err := os.ReadFile(file)
	if err != nil {
		return r
	}
	doc, err := pyyaml.Load(text, pyyaml.Options{})
	if err != nil || doc == nil {
		return r
	}
	moved, _ := under(doc.Value, "plugin_routing", kind).(*value.Dict)
	if moved == nil {
		return r
	}
	moved.Each(func(k, v value.Value) bool {
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
