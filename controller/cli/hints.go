package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/docs"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/hint"
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

// knownWords are the names that hark knows, and those of the play that is on.
func knownWords(a *app) hint.Words {
	if a.words == nil {
		w := ownWords(a)
		a.words = &w
	}
	w := *a.words
	if a.playing != nil {
		w.Handlers, w.Variables = a.playing.handlers, a.playing.variables
	}
	return w
}

// ownWords are those that hark knows without a project.
func ownWords(a *app) hint.Words {
	w := hint.Words{Entries: entries, Lines: lines}
	if registry, err := project.Registry(a.cfg, levelOf(a), a.display.Warn); err == nil {
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
		case "become":
			w.Becomes = append(w.Becomes, p.Name)
		case "callback":
			w.Callbacks = append(w.Callbacks, p.Name)
		}
	}
	w.HasCollection = func(name string) bool { return hasCollection(a, name) }
	return w
}

// hasCollection reports whether a collection is installed, by this command or as a package of Python's, or lies
// beside the playbook.
func hasCollection(a *app, name string) bool {
	environ := func(name string) string { v, _ := a.cfg.Getenv(name); return v }
	roots := slices.Concat(a.cfg.List("COLLECTIONS_PATHS"), []string{a.cfg.Abs("collections")})
	if a.cfg.Bool("COLLECTIONS_SCAN_SYS_PATH") {
		roots = append(roots, foreign.PythonDirs(environ, environ("HOME"))...)
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		return project.Exists(filepath.Join(root, "ansible_collections", strings.Replace(name, ".", "/", 1)))
	})
}

// entries are the names of what lies in a directory, nil if it cannot be read.
func entries(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// lines are those of a file, nil if it cannot be read.
func lines(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
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
	if text := knownWords(a).For(err.Error()); text != "" {
		a.hint(text)
		return
	}
	a.hint("`" + cmd.CommandPath() + " --help` shows what can be given")
}

// hintSettings says which entries of the settings' file nearly have the name of one that there is.
func (a *app) hintSettings() {
	if a.name != "hark" || len(a.cfg.Unknown) == 0 {
		return
	}
	var known []string
	for _, s := range config.Settings() {
		for _, key := range s.Keys {
			known = append(known, key.String())
		}
	}
	for _, entry := range a.cfg.Unknown {
		if near := hint.Nearest(entry, known); near != "" {
			a.hint(entry + " in " + a.cfg.File + " means nothing; did you mean " + near + "?")
		}
	}
}

// warnOf is Warn of the display with a hint, at the end of the command, where the inventory knows better: it cannot
// be asked while it warns.
func (p *run) warnOf(text string) {
	p.display.Warn(text)
	p.atEnd = append(p.atEnd, func() {
		if p.Project != nil {
			p.hint(hint.Words{Hosts: inventoryNames(p.Inventory), Entries: entries, Lines: lines}.For(text))
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
