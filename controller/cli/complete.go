package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/playbook/compile"
)

// completion is one question of a shell for the words that may stand where the cursor is.
type completion struct {
	*app
	cmd  *cobra.Command
	args []string // those before the word
	word string   // its beginning
}

// completeFlag has the shells complete the value of a flag.
func (f flags) completeFlag(name string, words func(*completion) []string) {
	_ = f.cmd.RegisterFlagCompletionFunc(name, f.app.completer(words)) // the flag was just declared
}

// completeArgs has the shells complete the arguments of a command, at most so many; 0 is any number.
func (a *app) completeArgs(cmd *cobra.Command, most int, words func(*completion) []string) {
	complete := a.completer(words)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// completer returns the words that begin as the one at the cursor does. Nothing that goes wrong is told: it is no
// time for messages.
func (a *app) completer(words func(*completion) []string) func(*cobra.Command, []string,
	string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		errs := a.term.Err
		a.term.Err = io.Discard
		defer func() { a.term.Err = errs }()
		if quiet, err := view.NewDisplay(view.DisplayOptions{Out: io.Discard, Err: io.Discard}); err == nil {
			a.display = quiet
		}
		found := slices.DeleteFunc(words(&completion{a, cmd, args, word}),
			func(w string) bool { return !strings.HasPrefix(w, word) })
		slices.Sort(found)
		return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
	}
}

// completionLimit is how long a shell may wait.
const completionLimit = 3 * time.Second

// open reads the inventory of the command line, or that of the settings, and the projects's files beside it.
func (c *completion) open() *run {
	ctx, cancel := context.WithTimeout(c.ctx(), completionLimit)
	defer cancel()
	o := &project.Options{}
	o.Inventory.Sources, _ = c.cmd.Flags().GetStringArray("inventory")
	if len(c.args) > 0 && c.cmd.Name() == "play" {
		o.BaseDir = filepath.Dir(absolute(c.app, c.args[0]))
	}
	ownAgents(c.app, o)
	p, err := c.app.open(ctx, o, o.BaseDir)
	if err != nil {
		return nil
	}
	return p
}

func (c *completion) ctx() context.Context {
	if ctx := c.cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// hosts returns those of the inventory, groups its groups.
func (c *completion) hosts() []string {
	p := c.open()
	if p == nil {
		return nil
	}
	defer p.Plugins.Close()
	var out []string
	for _, h := range p.Inventory.Hosts() {
		out = append(out, h.Name)
	}
	return out
}

// patterns are hosts and groups, behind what of a pattern stands there already: web:!db.
func (c *completion) patterns() []string {
	p := c.open()
	if p == nil {
		return nil
	}
	defer p.Plugins.Close()
	before := ""
	if at := strings.LastIndexAny(c.word, ":,&!"); at >= 0 {
		before = c.word[:at+1]
	}
	var out []string
	for _, name := range append(inventoryNames(p.Inventory), "all") {
		out = append(out, before+name)
	}
	return out
}

// tags returns those of the playbooks on the command line, behind those that stand there already.
func (c *completion) tags() []string {
	p := c.open()
	if p == nil {
		return nil
	}
	defer p.Plugins.Close()
	books, err := p.Playbooks(absolutes(c.app, c.args))
	if err != nil {
		return nil
	}
	before := c.word[:strings.LastIndexByte(c.word, ',')+1]
	out := []string{before + "all", before + "tagged", before + "untagged"}
	for _, b := range books {
		for _, one := range b.Plays {
			tasks, err := p.Compiler.List(c.ctx(), one, compile.World{})
			if err != nil {
				continue
			}
			for _, t := range tasks {
				for _, tag := range t.Tags {
					out = append(out, before+tag)
				}
			}
		}
	}
	return out
}

// taskNames returns those of the playbooks on the command line.
func (c *completion) taskNames() []string {
	p := c.open()
	if p == nil {
		return nil
	}
	defer p.Plugins.Close()
	books, err := p.Playbooks(absolutes(c.app, c.args))
	if err != nil {
		return nil
	}
	var out []string
	for _, b := range books {
		for _, one := range b.Plays {
			out = append(out, slices.Concat(one.Outline()...)...)
		}
	}
	return out
}

// modules returns the names of modules, those of ansible.builtin without their collection too.
func (c *completion) modules() []string {
	var out []string
	for _, name := range knownWords(c.app).Modules {
		out = append(out, name)
		if strings.HasPrefix(name, "ansible.builtin.") {
			out = append(out, modules.ShortName(name))
		}
	}
	return out
}

// documented returns what hark doc can be asked for.
func (c *completion) documented() []string {
	words := knownWords(c.app)
	switch kind, _ := c.cmd.Flags().GetString("type"); kind {
	case "filter":
		return words.Filters
	case "test":
		return words.Tests
	case "lookup":
		return words.Lookups
	case "become":
		return words.Becomes
	case "callback":
		return words.Callbacks
	case "keyword":
		return words.Keywords
	}
	return c.modules()
}

// agents returns those that this operator's record knows: no broker is asked, so that the shell need not wait.
func (c *completion) agents() []string {
	known, err := trust.OpenKnown(c.fleet.Home, nil)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(known.Names(), func(name string) bool { return slices.Contains(c.args, name) })
}

// recorded returns the ids of the runs on record, the newest first.
func (c *completion) recorded() []string {
	ctx, cancel := context.WithTimeout(c.ctx(), completionLimit)
	defer cancel()
	found, err := allRuns(c.app).List(ctx, record.Filter{Limit: 50})
	if err != nil {
		return nil
	}
	out := []string{"last"}
	for _, e := range found.Entries {
		out = append(out, e.Head.Run)
	}
	return out
}

// settings returns the names of settings.
func (c *completion) settings() []string {
	var out []string
	for _, s := range config.Settings() {
		if s.Plugin == "" {
			out = append(out, s.Name)
		}
	}
	return out
}

// playbooks leaves playbooks to the shell, which knows files.
func playbooks(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt
}
