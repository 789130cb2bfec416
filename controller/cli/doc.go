package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/pyjson"
	"hark/modules"
	"hark/modules/all"
	"hark/playbook/jinja/value"
)

// docJob is one call of hark doc.
type docJob struct {
	*app
	o                         options
	list, snippet, json, file bool
	kind                      string
	names                     []string
	modules                   *modules.Registry
}

// docCommand is ansible-doc.
func (a *app) docCommand(name string) *cobra.Command {
	j := &docJob{app: a}
	cmd := &cobra.Command{
		Use:         name,
		Short:       "Show what modules do and which arguments they take",
		Example:     "  " + a.example(name) + " copy\n  " + a.example(name) + " -l",
		Annotations: map[string]string{"args": "[plugin ...]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &j.o)
	a.moduleFlags(fs, &j.o)
	fs.text(&j.o.baseDir, "playbook-dir", "", a.cfg.Text("PLAYBOOK_DIR"), "BASEDIR", "the directory that counts as the playbook's")
	fs.text(&j.kind, "type", "t", "module", "TYPE", "the kind of plug-in; hark documents its modules")
	fs.toggle(&j.json, "json", "j", false, "print JSON")
	fs.toggle(&j.list, "list", "l", false, "list the modules")
	fs.toggle(&j.file, "list_files", "F", false, "list the modules with where they are from")
	fs.toggle(&j.snippet, "snippet", "s", false, "show a task to copy into a playbook")
	cmd.RunE = j.run
	return cmd
}

func (j *docJob) run(cmd *cobra.Command, args []string) error {
	j.names = args
	if err := j.begin(cmd, &j.o); err != nil {
		return err
	}
	j.modules = modules.NewRegistry(all.Modules()...)
	if j.kind != "module" {
		return fmt.Errorf("hark documents modules only, there is nothing on plug-ins of type %s", j.kind)
	}
	switch {
	case j.list || j.file:
		return j.page(cmd.Context(), j.listText())
	case len(args) == 0:
		return &optionsError{"Missing name(s), incorrect options passed for detailed documentation."}
	}
	return j.describe(cmd.Context())
}

// listText is a line for each module, or those of the namespaces that were asked for.
func (j *docJob) listText() string {
	found := value.NewDict()
	var lines []string
	for _, name := range j.modules.Names() {
		if !wanted(name, j.names) {
			continue
		}
		m, _ := j.modules.Get(name)
		doc := m.Doc
		if j.file {
			doc = "built into hark"
		}
		found.Set(name, value.Str(doc))
		lines = append(lines, fmt.Sprintf("%-40s %s", name, doc))
	}
	if j.json {
		return pyjson.Dumps(found, pyjson.Options{Indent: 4, SortKeys: true})
	}
	return strings.Join(lines, "\n")
}

func wanted(name string, filters []string) bool {
	return len(filters) == 0 || slices.ContainsFunc(filters, func(f string) bool { return name == f || strings.HasPrefix(name, f+".") })
}

func (j *docJob) describe(ctx context.Context) error {
	var texts []string
	docs := value.NewDict()
	for _, name := range j.names {
		m, ok := j.modules.Get(name)
		if !ok {
			j.display.Warn(name + " was not found")
			continue
		}
		switch {
		case j.json:
			docs.Set(name, moduleValue(m))
		case j.snippet:
			texts = append(texts, snippet(m))
		default:
			texts = append(texts, moduleText(m))
		}
	}
	if j.json {
		return j.page(ctx, pyjson.Dumps(docs, pyjson.Options{Indent: 4, SortKeys: true}))
	}
	if len(texts) == 0 {
		return nil
	}
	return j.page(ctx, strings.Join(texts, "\n\n"))
}

// moduleText is a module's documentation for people.
func moduleText(m *modules.Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "> %s    (built into hark)\n\n        %s\n", strings.ToUpper(m.Name), m.Doc)
	if params := shownParams(m.Params); len(params) > 0 {
		b.WriteString("\nOPTIONS (= is mandatory):\n")
		for _, p := range params {
			writeParam(&b, p, "")
		}
	}
	if m.Examples != "" {
		b.WriteString("\nEXAMPLES:\n\n" + strings.Trim(m.Examples, "\n") + "\n")
	}
	if len(m.Returns) > 0 {
		b.WriteString("\nRETURN VALUES:\n")
		for _, r := range m.Returns {
			fmt.Fprintf(&b, "- %s\n        %s\n", r.Name, r.Doc)
			writeField(&b, "", "returned", r.When)
			writeField(&b, "", "type", r.Type)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// shownParams are the parameters that users may give, by name.
func shownParams(params []modules.Param) []modules.Param {
	out := slices.DeleteFunc(slices.Clone(params), func(p modules.Param) bool { return p.Hidden || p.Name == "*" })
	slices.SortFunc(out, func(a, b modules.Param) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func writeParam(b *strings.Builder, p modules.Param, indent string) {
	mark := "-"
	if p.Required {
		mark = "="
	}
	fmt.Fprintf(b, "\n%s%s %s\n", indent, mark, p.Name)
	if p.Doc != "" {
		fmt.Fprintf(b, "%s        %s\n", indent, p.Doc)
	}
	if len(p.Aliases) > 0 {
		writeField(b, indent, "aliases", "["+strings.Join(p.Aliases, ", ")+"]")
	}
	if len(p.Choices) > 0 {
		writeField(b, indent, "choices", "["+strings.Join(p.Choices, ", ")+"]")
	}
	if p.Default != nil {
		writeField(b, indent, "default", plainText(value.FromGo(p.Default, value.KindStr)))
	}
	writeField(b, indent, "elements", p.Elements)
	writeField(b, indent, "type", p.Type)
	for _, sub := range shownParams(p.Options) {
		writeParam(b, sub, indent+"    ")
	}
}

func writeField(b *strings.Builder, indent, name, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s        %s: %s\n", indent, name, text)
	}
}

// snippet is a task with every parameter, to be filled in.
func snippet(m *modules.Module) string {
	var b strings.Builder
	short := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
	fmt.Fprintf(&b, "- name: %s\n  %s:\n", m.Doc, short)
	for _, p := range shownParams(m.Params) {
		note := p.Doc
		if p.Required {
			note = "(required) " + note
		}
		fmt.Fprintf(&b, "      %-22s # %s\n", p.Name+":", strings.TrimSpace(note))
	}
	return strings.TrimRight(b.String(), "\n")
}

// moduleValue is a module's documentation for programs.
func moduleValue(m *modules.Module) *value.Dict {
	doc := value.NewDict()
	doc.Set("module", value.Str(m.Name[strings.LastIndexByte(m.Name, '.')+1:]))
	doc.Set("collection", value.Str(m.Name[:max(strings.LastIndexByte(m.Name, '.'), 0)]))
	doc.Set("short_description", value.Str(m.Doc))
	doc.Set("description", value.NewList(value.Str(m.Doc)))
	doc.Set("options", paramValues(m.Params))
	returns := value.NewDict()
	for _, r := range m.Returns {
		d := value.NewDict()
		d.Set("description", value.Str(r.Doc))
		d.Set("returned", value.Str(r.When))
		d.Set("type", value.Str(r.Type))
		returns.Set(r.Name, d)
	}
	out := value.NewDict()
	out.Set("doc", doc)
	out.Set("examples", value.Str(m.Examples))
	out.Set("metadata", value.None{})
	out.Set("return", returns)
	return out
}

func paramValues(params []modules.Param) *value.Dict {
	out := value.NewDict()
	for _, p := range shownParams(params) {
		d := value.NewDict()
		d.Set("description", value.NewList(value.Str(p.Doc)))
		d.Set("type", value.Str(p.Type))
		d.Set("required", value.Bool(p.Required))
		if p.Default != nil {
			d.Set("default", value.FromGo(p.Default, value.KindStr))
		}
		if p.Elements != "" {
			d.Set("elements", value.Str(p.Elements))
		}
		for name, list := range map[string][]string{"aliases": p.Aliases, "choices": p.Choices} {
			if len(list) > 0 {
				d.Set(name, goValue(list))
			}
		}
		if len(p.Options) > 0 {
			d.Set("suboptions", paramValues(p.Options))
		}
		out.Set(p.Name, d)
	}
	return out
}
