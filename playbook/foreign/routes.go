package foreign

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/jinja/pyyaml"
)

//go:embed routes.txt
var routesText string

// route is where a short name leads.
type route struct{ collection, name string }

// modulesKind is the kind of modules, which are most of those that lead elsewhere.
const modulesKind = "modules"

// moduleRoutes and pluginRoutes are the redirects of short names by kind and name, read on first use: every call asks
// for a plug-in, and few for a module that leads elsewhere.
var (
	moduleRoutes = sync.OnceValue(func() map[string]route { return readRoutes(true) })
	pluginRoutes = sync.OnceValue(func() map[string]route { return readRoutes(false) })
)

// routesOf returns those of a kind, with others.
func routesOf(kind string) map[string]route {
	if kind == modulesKind {
		return moduleRoutes()
	}
	return pluginRoutes()
}

func readRoutes(modules bool) map[string]route {
	m := map[string]route{}
	for line := range strings.Lines(routesText) {
		where, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, collection, ok := strings.Cut(where, " ")
		if !ok {
			kind, collection = modulesKind, where
		}
		if kind == modulesKind != modules {
			continue
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
}

// routed returns where a name from before there were collections leads.
func routed(kind, short string) (collection, name string, ok bool) {
	r, ok := routesOf(kind)[kind+" "+short]
	return r.collection, r.name, ok
}

// routing is what a collection says of one of its plug-ins.
type routing struct {
	// to is the full name of the plug-in that it is now, "" if it did not move.
	to string
	// action is the full name of the action plug-in that stands before a module, "" for the one of its own name.
	action string
	// deprecated says that it will go, removed that it is gone.
	deprecated, removed *deprecation.Notice
}

// routing reads meta/runtime.yml of a collection for a kind of plug-in, as it is called there. What cannot be read
// says nothing.
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
	entries, _ := value.Under(routingOf(string(text), kind), "plugin_routing", kind).(*value.Dict)
	if entries == nil {
		return r
	}
	entries.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		to, _ := value.Text(value.Under(v, "redirect"))
		action, _ := value.Text(value.Under(v, "action_plugin"))
		r[name] = routing{
			to:         to,
			action:     action,
			deprecated: readNotice(value.Under(v, "deprecation"), kind, collection, name, "deprecated"),
			removed:    readNotice(value.Under(v, "tombstone"), kind, collection, name, "removed"),
		}
		return true
	})
	return r
}

// routingOf reads what the file of a collection says of a kind: these files are long, and nobody wants to know the
// rest.
func routingOf(text, kind string) value.Value {
	if !strings.Contains(text, kind+":") {
		return nil
	}
	for _, part := range []string{section(text, kind), text} {
		if doc, err := pyyaml.Load([]byte(part), pyyaml.Options{}); err == nil && doc != nil && value.Under(doc.Value,
			"plugin_routing", kind) != nil {
			return doc.Value
		}
	}
	return nil
}

// section returns the lines about a kind, where the file is written as such files are.
func section(text, kind string) string {
	var out strings.Builder
	out.WriteString("plugin_routing:\n")
	depth := -1
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		switch {
		case depth < 0 && indent > 0 && strings.TrimSpace(words) == kind+":":
			depth = indent
			out.WriteString(line)
		case depth >= 0 && (indent > depth || strings.TrimSpace(words) == "" || words[0] == '#'):
			out.WriteString(line)
		case depth >= 0:
			return out.String()
		}
	}
	return out.String()
}

// readNotice reads a deprecation or a tombstone; nil if there is none.
func readNotice(v value.Value, kind, collection, name, event string) *deprecation.Notice {
	if d, ok := v.(*value.Dict); !ok || d.Len() == 0 {
		return nil
	}
	entry := func(key string) string {
		n := value.Under(v, key)
		if n == nil || value.IsNone(n) {
			return ""
		}
		text, _ := value.ToStr(n)
		return text
	}
	text, more := collection+"."+name+" has been "+event+".", entry("warning_text")
	switch {
	case kind == "module_utils": // of what will go Ansible says that it is gone, too
		text = "module_util " + utilName(collection, name) + " has been removed"
		if more != "" {
			text += " (" + more + ")"
		}
	case kind == "filter" || kind == "test":
		if text = more; text == "" {
			text = map[string]string{"deprecated": kind + ` "` + collection + "." + name + `" is deprecated`, "removed": kind +
				` "` + collection + "." + name + `" has been removed`}[event]
		}
	case more != "":
		text += " " + more
	}
	return &deprecation.Notice{Text: text, Date: entry("removal_date"), Version: entry("removal_version"),
		Collection: collection}
}

// utilName returns the dotted name of a module of module_utils.
func utilName(collection, name string) string {
	if collection == "ansible.builtin" {
		return "ansible.module_utils." + name
	}
	return "ansible_collections." + collection + ".plugins.module_utils." + name
}
