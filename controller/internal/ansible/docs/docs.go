// Package docs documents hark: its modules, from their declarations, and its other plug-ins, from
// the lines of plugins.txt, the tables of dialect, that of keywords and that of settings. It prints texts for
// people, data for programs, and the pages of docs/modules.
package docs

import (
	_ "embed"
	"slices"
	"strings"

	"hark/controller/config"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

//go:embed plugins.txt
var pluginLines string

// Plugin is one plug-in that is no module, or a keyword of playbooks.
type Plugin struct {
	Kind, Name string
	// Collection is where Ansible has it.
	Collection string
	Doc        string // one line
	// On are the things that a keyword stands on.
	On []string
}

// FullName returns the name with its collection. Keywords have none.
func (p Plugin) FullName() string {
	if p.Kind == "keyword" {
		return p.Name
	}
	return p.Collection + "." + p.Name
}

// callbackCollection returns where Ansible has a callback.
func callbackCollection(name string) string {
	switch name {
	case "default", "junit", "minimal", "oneline", "tree":
		return "ansible.builtin"
	case "debug", "json", "profile_roles", "profile_tasks", "skippy", "timer":
		return "ansible.posix"
	}
	return "community.general"
}

// Plugins returns those of a kind, of all kinds for "", in order.
func Plugins(kind string) []Plugin {
	var list []Plugin
	if kind == "" || kind == "keyword" {
		list = keywords()
	}
	if kind == "" || kind == "become" {
		list = append(list, becomes()...)
	}
	if kind == "" || kind == "lookup" {
		list = append(list, lookups()...)
	}
	if kind == "" || kind == "filter" {
		list = append(list, templating("filter", dialect.Filters())...)
	}
	if kind == "" || kind == "test" {
		list = append(list, templating("test", dialect.Tests())...)
	}
	section := ""
	for _, line := range strings.Split(pluginLines, "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case kind == "" || kind == section:
			list = append(list, parsePlugin(section, line))
		}
	}
	return list
}

// becomes returns the become methods with which an agent starts programs, by their names.
func becomes() []Plugin {
	var list []Plugin
	for _, m := range dialect.Methods() {
		if !m.Runs() {
			continue
		}
		collection, _ := strings.CutSuffix(m.FullName(), "."+m.Name)
		list = append(list, Plugin{Kind: "become", Name: m.Name, Collection: collection, Doc: m.Doc})
	}
	slices.SortFunc(list, func(a, b Plugin) int { return strings.Compare(a.FullName(), b.FullName()) })
	return list
}

// lookups returns those of the table, by their names.
func lookups() []Plugin {
	var list []Plugin
	for _, l := range dialect.Lookups() {
		collection := strings.TrimSuffix(l.FullName(), "."+l.Name)
		list = append(list, Plugin{Kind: "lookup", Name: l.Name, Collection: collection, Doc: l.Doc})
	}
	return list
}

// templating returns filters or tests.
func templating(kind string, rows []dialect.Plugin) []Plugin {
	var list []Plugin
	for _, row := range rows {
		collection := strings.TrimSuffix(row.FullName(), "."+row.Name)
		list = append(list, Plugin{Kind: kind, Name: row.Name, Collection: collection, Doc: row.Doc})
	}
	return list
}

func parsePlugin(kind, line string) Plugin {
	name, doc, _ := strings.Cut(line, ": ")
	p := Plugin{Kind: kind, Name: name, Doc: doc, Collection: "ansible.builtin"}
	if kind == "callback" {
		p.Collection = callbackCollection(name)
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		p.Collection, p.Name = name[:at], name[at+1:]
	}
	return p
}

// Options returns the settings that belong to the plug-in.
func (p Plugin) Options() []config.Setting {
	return slices.DeleteFunc(config.Settings(), func(s config.Setting) bool { return s.Plugin != p.Kind+"/"+p.Name })
}

// Find returns the plug-in of a kind with a short or a full name.
func Find(kind, name string) (Plugin, bool) {
	list := Plugins(kind)
	i := slices.IndexFunc(list, func(p Plugin) bool {
		return p.Name == name || p.FullName() == name || "ansible.legacy."+p.Name == name
	})
	if i < 0 {
		return Plugin{}, false
	}
	return list[i], true
}

// Text returns a plug-in's documentation for people.
func (p Plugin) Text() string {
	var b strings.Builder
	b.WriteString("> " + strings.ToUpper(p.FullName()) + "    (built into hark)\n\n        " + p.Doc + "\n")
	options := p.Options()
	if len(options) > 0 {
		b.WriteString("\nOPTIONS (= is mandatory):\n")
	}
	for _, s := range options {
		b.WriteString("\n- " + s.Name + "\n")
		if s.Doc != "" {
			b.WriteString("        " + s.Doc + "\n")
		}
		if !s.NoDefault {
			writeField(&b, "", "default", s.Default)
		}
		writeField(&b, "", "set by", p.setBy(s))
		writeField(&b, "", "type", s.Kind.String())
	}
	return b.String()
}

// setBy returns the variables of the environment and the entries of ansible.cfg that set an option.
func (p Plugin) setBy(s config.Setting) string {
	list := slices.Clone(s.Env)
	for _, k := range s.Keys {
		list = append(list, k.String())
	}
	return strings.Join(list, ", ")
}

// Value returns a plug-in's documentation for programs.
func (p Plugin) Value() *value.Dict {
	doc := value.NewDict()
	doc.Set("name", value.Str(p.Name))
	doc.Set("collection", value.Str(p.Collection))
	doc.Set("short_description", value.Str(p.Doc))
	doc.Set("description", value.NewList(value.Str(p.Doc)))
	options := value.NewDict()
	for _, s := range p.Options() {
		o := value.NewDict()
		o.Set("description", value.NewList(value.Str(s.Doc)))
		o.Set("type", value.Str(s.Kind.String()))
		if !s.NoDefault {
			o.Set("default", value.Str(s.Default))
		}
		options.Set(s.Name, o)
	}
	doc.Set("options", options)
	out := value.NewDict()
	out.Set("doc", doc)
	out.Set("examples", value.None{})
	out.Set("metadata", value.None{})
	out.Set("return", value.None{})
	return out
}
