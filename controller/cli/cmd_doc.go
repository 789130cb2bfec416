package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/docs"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/hint"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/py/value"
)

// docJob is one call of hark doc.
type docJob struct {
	*app
	o                               project.Options
	list, snippet, json, file, dump bool
	lenient                         bool
	kind, rolesPath, entry          string
	names                           []string
	modules                         *modules.Registry
}

// docKinds returns what --type may be.
func docKinds() []string {
	return []string{"become", "cache", "callback", "cliconf", "connection", "httpapi", "inventory", "lookup", "netconf",
		"shell", "vars",
		"module", "strategy", "test", "filter", "role", "keyword"}
}

// newDocCommand is ansible-doc.
func newDocCommand(a *app, name string) *cobra.Command {
	j := &docJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Show what modules and other plug-ins do and which arguments they take",
		Example: "  " + a.example(name) + " copy\n  " + a.example(name) + " -l\n  " + a.example(name) +
			" -t filter combine",
		Annotations: map[string]string{"args": "[plugin ...]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.modules(&j.o.ModulePath)
	fs.Text(&j.o.BaseDir, "playbook-dir", "", a.cfg.Text("PLAYBOOK_DIR"), "BASEDIR",
		"the directory that counts as the playbook's")
	fs.Text(&j.kind, "type", "t", "module", "{"+strings.Join(docKinds(), ",")+"}", "the kind of plug-in")
	fs.Toggle(&j.json, "json", "j", false, "print JSON")
	fs.Text(&j.rolesPath, "roles-path", "r", "", "ROLES_PATH",
		"where roles lie, separated by colons (with ansible-core on this machine)")
	fs.Text(&j.entry, "entry-point", "e", "", "ENTRY_POINT", "the entry point of a role")
	fs.Toggle(&j.snippet, "snippet", "s", false, "show a task to copy into a playbook")
	fs.Toggle(&j.file, "list_files", "F", false, "list the plug-ins with where they are from")
	fs.Toggle(&j.list, "list", "l", false, "list the plug-ins")
	fs.Toggle(&j.dump, "metadata-dump", "", false, "print the documentation of everything as JSON")
	fs.Exclusive("entry-point", "snippet", "list_files", "list", "metadata-dump")
	fs.Toggle(&j.lenient, "no-fail-on-errors", "", false, "with --metadata-dump: go on after errors")
	fs.completeFlag("type", func(*completion) []string { return docKinds() })
	a.completeArgs(cmd, 0, func(c *completion) []string { return c.documented() })
	cmd.RunE = j.run
	return cmd
}

func (j *docJob) run(cmd *cobra.Command, args []string) error {
	if err := argparse.CheckExclusive(cmd); err != nil {
		return err
	}
	if kinds := docKinds(); !slices.Contains(kinds, j.kind) {
		return argparse.BadChoice(cmd, "type", j.kind, kinds)
	}
	j.names = args
	native := slices.DeleteFunc(all.Modules(), func(m *modules.Module) bool { return m.Foreign })
	j.modules = modules.NewRegistry(append(native, docs.Language()...)...)
	if python := pythonOfAnsible(j.app); python.ansible != "" && j.beyondHark(python) {
		err := j.askAnsible(cmd.Context(), python)
		return cmp.Or(err, j.hintNames(python))
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	switch {
	case j.dump:
		return j.term.Page(cmd.Context(), j.everything())
	case j.list || j.file:
		return j.term.Page(cmd.Context(), j.listText())
	case len(args) == 0:
		return argparse.OptionsError("Missing name(s), incorrect options passed for detailed documentation.")
	case j.kind == "module":
		err := j.describeModules(cmd.Context())
		return cmp.Or(err, j.hintNames(ansiblePython{}))
	case j.kind == "keyword":
		return j.describeKeywords(cmd.Context())
	}
	err := j.describePlugins(cmd.Context())
	return cmp.Or(err, j.hintNames(ansiblePython{}))
}

// hintNames says which plug-ins were probably meant by names that there are not. As hark a call that found none of
// them fails.
func (j *docJob) hintNames(python ansiblePython) error {
	if j.name != "hark" || j.list || j.file || j.dump {
		return nil
	}
	var known []string
	for _, l := range j.lines() {
		known = append(known, l.name)
	}
	missing := 0
	for _, name := range j.names {
		if slices.ContainsFunc(known, func(k string) bool { return k == name || modules.ShortName(k) == name }) ||
			python.ansible != "" && project.Exists(filepath.Join(python.ansible, "modules", name+".py")) {
			continue
		}
		near := hint.Nearest(name, known)
		if near != "" && !strings.Contains(name, ".") {
			j.hint("did you mean '" + strings.TrimPrefix(near, "ansible.builtin.") + "'?")
		}
		// Of a name that is like none of hark's it is known of modules alone that Ansible has none either.
		if near != "" || python.ansible == "" || j.kind == "module" && !strings.Contains(name, ".") {
			missing++
		}
	}
	if missing > 0 && missing == len(j.names) {
		return &quietError{exitError}
	}
	return nil
}

// line is a plug-in in a list.
type docLine struct{ name, doc string }

func (j *docJob) lines() []docLine {
	var out []docLine
	if j.kind != "module" {
		for _, p := range docs.Plugins(j.kind) {
			out = append(out, docLine{p.FullName(), p.Doc})
		}
		slices.SortFunc(out, func(a, b docLine) int { return strings.Compare(a.name, b.name) })
		return out
	}
	for _, name := range j.modules.Names() {
		m, _ := j.modules.Get(name)
		out = append(out, docLine{name, m.Doc})
	}
	return out
}

// listText returns a line for each plug-in, or for those of the namespaces that were asked for.
func (j *docJob) listText() string {
	lines := slices.DeleteFunc(j.lines(), func(l docLine) bool { return !wanted(l.name, j.names) })
	found, width := value.NewDict(), 0
	for i := range lines {
		if j.file {
			lines[i].doc = "built into hark"
		}
		found.Set(lines[i].name, value.Str(lines[i].doc))
		width = max(width, len(lines[i].name))
	}
	if j.json {
		return value.JSONText(found, value.JSONOptions{Lines: true, Indent: "    ", Sorted: true})
	}
	var b strings.Builder
	for _, l := range lines {
		if j.kind == "keyword" {
			fmt.Fprintf(&b, "%s: %s\n", l.name, l.doc)
			continue
		}
		fmt.Fprintf(&b, "%-*s %s\n", width, l.name, l.doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func wanted(name string, filters []string) bool {
	return len(filters) == 0 || slices.ContainsFunc(filters,
		func(f string) bool { return name == f || strings.HasPrefix(name, f+".") })
}

func (j *docJob) describeModules(ctx context.Context) error {
	var texts []string
	all := value.NewDict()
	for _, name := range j.names {
		m, ok := j.modules.Get(name)
		switch {
		case !ok:
			j.display.Warn(name + " was not found")
		case j.json:
			all.Set(name, docs.Value(m))
		case j.snippet:
			texts = append(texts, docs.Snippet(m))
		default:
			texts = append(texts, docs.Text(m))
		}
	}
	return j.show(ctx, all, texts)
}

func (j *docJob) describePlugins(ctx context.Context) error {
	var texts []string
	all := value.NewDict()
	for _, name := range j.names {
		p, ok := docs.Find(j.kind, name)
		switch {
		case !ok:
			j.display.Warn(name + " was not found")
		case j.json:
			all.Set(name, p.Value())
		case j.snippet && j.kind == "lookup":
			texts = append(texts, "lookup('"+p.Name+"', < _terms >)")
		case j.snippet:
			return argparse.OptionsError("Snippets are only available for the following plugin types: inventory, lookup, module")
		default:
			texts = append(texts, p.Text())
		}
	}
	return j.show(ctx, all, texts)
}

func (j *docJob) describeKeywords(ctx context.Context) error {
	all := value.NewDict()
	var texts []string
	for _, name := range j.names {
		p, ok := docs.Find("keyword", name)
		if !ok {
			j.display.Warn("Skipping Invalid keyword '" + name + "' specified: '" + name + "'")
			continue
		}
		all.Set(name, p.Keyword())
	}
	if !j.json && all.Len() > 0 {
		text, err := yamlText(all)
		if err != nil {
			return err
		}
		texts = []string{text}
	}
	return j.show(ctx, all, texts)
}

// show prints what was found.
func (j *docJob) show(ctx context.Context, all *value.Dict, texts []string) error {
	switch {
	case j.json:
		return j.term.Page(ctx, value.JSONText(all, value.JSONOptions{Lines: true, Indent: "    ", Sorted: true}))
	case len(texts) == 0:
		return nil
	}
	return j.term.Page(ctx, strings.Join(texts, "\n\n"))
}

// everything returns the documentation of all modules and plug-ins as JSON.
func (j *docJob) everything() string {
	all := value.NewDict()
	kind := child(all, "module")
	for _, name := range j.modules.Names() {
		m, _ := j.modules.Get(name)
		kind.Set(name, docs.Value(m))
	}
	for _, p := range docs.Plugins("") {
		if p.Kind == "keyword" {
			child(all, "keyword").Set(p.Name, p.Keyword())
			continue
		}
		child(all, p.Kind).Set(p.FullName(), p.Value())
	}
	top := value.NewDict()
	top.Set("all", all)
	return value.JSONText(top, value.JSONOptions{Lines: true, Indent: "    ", Sorted: true})
}
