package foreign

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hark/playbook/deprecation"
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

// routing is what a collection says of one of its plug-ins.
type routing struct {
	// to is the full name of the plug-in that it is now, "" if it did not move.
	to string
	// action is the full name of the action plug-in that stands before a module, "" for the one of its own name.
	action string
	// deprecated tells that it will go, removed that it is gone.
	deprecated, removed *deprecation.Notice
}

// routing reads meta/runtime.yml of a collection for a kind of plug-in, as it is called there. What cannot be read says nothing.
func (f *Finder) routing(kind, collection, dir string) map[string]routing {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := kind + " " + collection
	if r, ok := f.runtime[key]; ok {
		return r
	}
	r := readRouting(filepath.Join(dir, "meta", "runtime.yml"), collection, kind)
	f.runtime[key] = r
	return r
}

func readRouting(file, collection, kind string) map[string]routing {
	r := map[string]routing{}
	text, err := os.ReadFile(file)
	if err != nil {
		return r
	}
	doc, err := pyyaml.Load(text, pyyaml.Options{})
	if err != nil || doc == nil {
		return r
	}
	entries, _ := under(doc.Value, "plugin_routing", kind).(*value.Dict)
	if entries == nil {
		return r
	}
	entries.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		to, _ := value.Text(under(v, "redirect"))
		action, _ := value.Text(under(v, "action_plugin"))
		full := collection + "." + name
		r[name] = routing{
			to:         to,
			action:     action,
			deprecated: readNotice(under(v, "deprecation"), full+" has been deprecated.", collection),
			removed:    readNotice(under(v, "tombstone"), full+" has been removed.", collection),
		}
		return true
	})
	return r
}

// readNotice reads a deprecation or a tombstone; nil if there is none.
func readNotice(v value.Value, text, collection string) *deprecation.Notice {
	if d, ok := v.(*value.Dict); !ok || d.Len() == 0 {
		return nil
	}
	entry := func(key string) string {
		n := under(v, key)
		if n == nil || value.IsNone(n) {
			return ""
		}
		text, _ := value.ToStr(n)
		return text
	}
	if more := entry("warning_text"); more != "" {
		text += " " + more
	}
	return &deprecation.Notice{Text: text, Date: entry("removal_date"), Version: entry("removal_version"), Collection: collection}
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
