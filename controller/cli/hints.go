package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/argparse"
	"hark/controller/internal/docs"
	"hark/controller/internal/hint"
	"hark/controller/internal/project"
	"hark/controller/internal/view"
	"hark/playbook/foreign"
	"hark/playbook/inventory"
)

// hint prints what was probably meant, once, on stderr. Under Ansible's names nothing is added to what Ansible says.
func (a *app) hint(text string) {
	if text == "" || a.name != "hark" || slices.Contains(a.hinted, text) {
		return
	}
	a.hinted = append(a.hinted, text)
	fmt.Fprintln(a.term.Err, "hint: "+text)
}

// knownWords are the names that hark knows without a project.
func knownWords(a *app) hint.Words {
	var w hint.Words
	if registry, err := project.Registry(a.cfg, a.display.Warn); err == nil {
		w.Modules = registry.Names()
		w.Arguments = func(module string) []string {
			m, ok := registry.Get(module)
			if !ok {
				return nil
			}
			var out []string
			for _, p := range m.Params() {
				out = append(append(out, p.Name), p.Aliases...)
			}
			return out
		}
	}
	for _, p := range docs.Plugins("") {
		switch p.Kind {
		case "keyword":
			w.Keywords = append(w.Keywords, p.Name)
		case "filter":
			w.Filters = append(w.Filters, p.Name)
		case "test":
			w.Tests = append(w.Tests, p.Name)
		case "lookup":
			w.Lookups = append(w.Lookups, p.Name)
		}
	}
	w.HasCollection = func(name string) bool { return hasCollection(a, name) }
	return w
}

// hasCollection tells whether a collection is installed, by this command or as a package of Python's, or lies beside the playbook.
func hasCollection(a *app, name string) bool {
	environ := func(name string) string { v, _ := a.cfg.Getenv(name); return v }
	roots := slices.Concat(a.cfg.List("COLLECTIONS_PATHS"), []string{a.cfg.Abs("collections")}, foreign.PythonDirs(environ, environ("HOME")))
	return slices.ContainsFunc(roots, func(root string) bool {
		return project.Exists(filepath.Join(root, "ansible_collections", strings.Replace(name, ".", "/", 1)))
	})
}

// hintFor is a hint for an error that ends the command.
func (a *app) hintFor(cmd *cobra.Command, err error) {
	if a.name != "hark" {
		return
	}
	var (
		usage   *argparse.UsageError
		options argparse.OptionsError
	)
	if !errors.As(err, &usage) && !errors.As(err, &options) {
		a.hint(knownWords(a).For(err.Error()))
		return
	}
	if name, ok := strings.CutPrefix(err.Error(), "unrecognized arguments: --"); ok {
		var flags []string
		for _, f := range argparse.InOrder(cmd) {
			flags = append(flags, f.Name)
		}
		if near := hint.Nearest(strings.Fields(name + " ")[0], flags); near != "" {
			a.hint("did you mean --" + near + "?")
			return
		}
	}
	if strings.Contains(err.Error(), "did you mean") {
		return
	}
	a.hint("`" + cmd.CommandPath() + " --help` shows what can be given")
}

// warnOf is Warn of the display with a hint, at the end of the command, where the inventory knows better: it cannot be asked while it warns.
func (p *run) warnOf(text string) {
	p.display.Warn(text)
	p.atEnd = append(p.atEnd, func() {
		if p.Project != nil {
			p.hint(hint.Words{Hosts: inventoryNames(p.Inventory)}.For(text))
		}
	})
}

func inventoryNames(inv *inventory.Inventory) []string {
	var out []string
	for _, h := range inv.Hosts() {
		out = append(out, h.Name)
	}
	for _, g := range inv.Groups() {
		out = append(out, g.Name)
	}
	return out
}

// hintView gives hints for tasks that fail, and for tags that no task has.
type hintView struct {
	view.Silent
	app   *app
	tags  []string
	tasks int
}

// hintViews are the views that give hints, none under Ansible's names.
func (p *run) hintViews() []view.View {
	if p.name != "hark" {
		return nil
	}
	return []view.View{&hintView{app: p.app, tags: project.Split(p.o.Tags.Only)}}
}

// TaskStart implements view.View.
func (v *hintView) TaskStart(view.Task) { v.tasks++ }

// Done implements view.View.
func (v *hintView) Done(r view.Result) { v.look(r) }

// ItemDone implements view.View.
func (v *hintView) ItemDone(r view.Result) { v.look(r) }

func (v *hintView) look(r view.Result) {
	if r.Outcome == nil || r.Outcome.NoLog || !strings.Contains(string(r.Outcome.Result), `"msg"`) {
		return
	}
	var said struct {
		Msg    any  `json:"msg"`
		Failed bool `json:"failed"`
	}
	if json.Unmarshal(r.Outcome.Result, &said) != nil || !said.Failed {
		return
	}
	v.app.hint(knownWords(v.app).For(fmt.Sprint(said.Msg)))
}

// Stats implements view.View.
func (v *hintView) Stats(view.Stats) {
	if v.tasks == 0 && len(v.tags) > 0 {
		v.app.hint("no task has the tags " + strings.Join(v.tags, ", ") + "; --list-tags shows those that there are")
	}
}
