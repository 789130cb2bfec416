package cli

import (
	"cmp"
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
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/ui/hint"
	"hark/playbook/foreign"
	"hark/playbook/inventory"
)

// hint prints what was probably meant, once, on stderr. Under Ansible's names nothing is added to what Ansible says.
func (a *app) hint(text string) {
	if text == "" || a.name != "hark" || slices.Contains(a.hinted, text) {
		return
	}
	if at := strings.Index(text, "did you mean "); at >= 0 &&
		slices.ContainsFunc(a.hinted, func(told string) bool { return strings.HasSuffix(told, "; "+text[at:]) }) {
		return // told with its place, before the first task
	}
	a.hinted = append(a.hinted, text)
	fmt.Fprintln(a.term.Err, "hint: "+text)
}

// knownWords returns the names that hark knows, and those of the play that is on.
func knownWords(a *app) hint.Words {
	if a.words == nil {
		w := ownWords(a)
		a.words = &w
	}
	w := *a.words
	w.Dirs = a.dirs
	if a.playing != nil {
		w.Handlers, w.Variables = a.playing.handlers, a.playing.variables
	}
	return w
}

// ownWords returns those that hark knows without a project.
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

// entries returns the names of what lies in a directory, nil if it cannot be read.
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

// lines returns those of a file, nil if it cannot be read.
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
		a.hint(cmp.Or(a.misread(cmd, err.Error()), knownWords(a).For(err.Error())))
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
	if strings.Contains(err.Error(), "`") { // it says what to type
		return
	}
	if text := forgotten(cmd, err.Error()); text != "" {
		a.hint(text)
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
	if a.name != "hark" {
		return
	}
	a.hintEnvironment()
	if len(a.cfg.Unknown) == 0 {
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

// hintEnvironment says which variables of the environment look like settings and are none.
func (a *app) hintEnvironment() {
	var odd []string
	// and what is no setting
	known := []string{"ANSIBLE_CONFIG", "HARK_PROFILE", "HARK_JOB", "HARK_EVENT", "HARK_TEXT", "HARK_NOTIFY_SECRET"}
	for _, s := range config.Settings() {
		known = append(known, s.Env...)
	}
	if a.world.Names == nil {
		return
	}
	for _, name := range a.world.Names() {
		if (strings.HasPrefix(name, "HARK_") || strings.HasPrefix(name, "ANSIBLE_")) && !slices.Contains(known, name) {
			odd = append(odd, name)
		}
	}
	slices.Sort(odd)
	for _, name := range odd {
		if near := hint.Nearest(name, known); near != "" && hint.Close(name, near) {
			a.hint(name + " in the environment means nothing; did you mean " + near + "?")
		}
	}
}

// forgotten is for a command line without an option that most calls of the command have.
func forgotten(cmd *cobra.Command, message string) string {
	words := cmd.Flags().Args()
	if cmd.Name() == "bootstrap" && len(words) > 1 {
		return "several hosts are one pattern: " + strings.Join(words, ",")
	}
	if len(words) == 0 || cmd.Name() != "run" {
		return ""
	}
	path, text := cmd.CommandPath(), strings.Join(words[1:], " ")
	switch {
	case strings.HasPrefix(message, "unrecognized arguments: ") && len(words) > 1:
		if strings.ContainsAny(text, " ;|&$") {
			text = "'" + text + "'"
		}
		return "did you mean `" + path + " " + words[0] + " -a " + text + "`?"
	case strings.HasPrefix(message, "No argument passed to ") && cmd.Flags().Changed("module-name"):
		return "give the module its arguments with -a"
	case strings.HasPrefix(message, "No argument passed to "):
		return words[0] + " names the hosts; -a is the command to run on them: `" + path + " " + words[0] + " -a COMMAND`"
	}
	return ""
}

// misread is for a file that was taken for what it is not: an inventory or a list of tasks where a playbook is
// wanted.
func (a *app) misread(cmd *cobra.Command, message string) string {
	names := cmd.Flags().Args()
	if len(names) == 0 || cmd.Name() != "play" {
		return ""
	}
	if strings.Contains(message, "the field 'hosts' is required") {
		for _, name := range names {
			if text := hint.Hostless(name, lines(absolute(a, name))); text != "" {
				return text
			}
		}
		return ""
	}
	if first := names[0]; len(names) > 1 && hint.IsInventory(lines(absolute(a, first))) {
		return first + " looks like an inventory: did you mean `" + cmd.CommandPath() + " -i " + strings.Join(names, " ") +
			"`?"
	}
	return ""
}

// warnOf is Warn of the display with a hint, at the end of the command, where the inventory knows better: it cannot
// be asked while it warns.
func (p *run) warnOf(text string) {
	p.display.Warn(text)
	p.atEnd = append(p.atEnd, func() {
		if p.Project != nil {
			p.hint(hint.Words{Hosts: inventoryNames(p.Inventory), Entries: entries, Lines: lines,
				NoInventory: sourceless(p)}.For(text))
		}
	})
}

// sourceless reports whether no inventory was named or found.
func sourceless(p *run) bool {
	return len(p.o.Inventory.Sources) == 0 && !slices.ContainsFunc(p.cfg.List("DEFAULT_HOST_LIST"), project.Exists)
}

// hintVariables says which variables of hosts and groups nearly have the name of one that connections and become
// look at: nothing else would ever say that they mean nothing.
func hintVariables(p *run) {
	if p.name != "hark" {
		return
	}
	for _, text := range p.o.Extra {
		if word := strings.TrimSpace(text); word != "" && !strings.ContainsAny(word, "=@{[: ") {
			p.hint("-e " + word + " gives " + word + " no value: write -e " + word + "=VALUE, or -e @" + word + " for a file")
		}
	}
	known := connections.VariableNames()
	facts := hint.FactVariables()
	told := map[string]bool{}
	inventory.OwnVariables(p.Inventory, func(owner, name string) {
		if told[name] || !strings.HasPrefix(name, "ansible_") || slices.Contains(known, name) ||
			slices.Contains(facts, name) || strings.HasSuffix(name, "_interpreter") {
			return
		}
		told[name] = true
		if near := hint.Nearest(name, known); near != "" && hint.Close(name, near) {
			p.hint(name + " of " + owner + " means nothing; did you mean " + near + "?")
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
