package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/play"
	"hark/controller/internal/ui/displayconfig"
	"hark/controller/internal/ui/prompts"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
)

// views returns the views of a run: hark's own, and callbacks in Python, which the project contains or a setting
// names. screen is the one that has the screen, more are the others that are enabled; own loads the project's own.
func (p *run) views(ctx context.Context, screen string, more []string, own bool) (view.View, error) {
	var dirs []string
	if own {
		_, dirs = p.Compiler.Plugin("callback", "")
	}
	if !p.inPython(screen, dirs) && !slices.ContainsFunc(more, func(name string) bool { return !known(name) }) &&
		!project.HoldsPlugins(dirs) {
		return p.app.screens.Views(screen, shownOf(p.o), more, p.hintViews()...)
	}
	o := plugins.CallbackOptions{
		Command: p.o.Line, Enabled: more, Native: view.Names(), Dirs: dirs, Books: p.Compiler.Books(), Homes: p.Plugins.Homes,
		Collections: p.Plugins.Collections, Out: terminal.FileOf(p.term.Out), Err: terminal.FileOf(p.term.Err),
		Lend: p.display.Lend, Inventory: p.Inventory,
		Warn: p.display.Warn, Detach: p.detach,
	}
	if p.inPython(screen, dirs) {
		o.Stdout = screen
	}
	c, err := plugins.StartCallbacks(ctx, o)
	if errors.Is(err, plugins.ErrNoCore) {
		err = p.withoutCore(err, o)
	}
	var missing *plugins.MissingError
	switch {
	case errors.As(err, &missing):
		return nil, ansibleerror.Errorf("%s", missing)
	case err != nil && o.Stdout != "":
		return nil, err
	case err != nil:
		p.display.Warn(err.Error())
	}
	if c == nil {
		return p.app.screens.Views(screen, shownOf(p.o), more, p.hintViews()...)
	}
	p.callbacks = c
	p.Compiler.ShowAll()
	return p.inOrder(c, screen, o.Stdout != "")
}

// shownOf returns what the flags of a run say of its views.
func shownOf(o *project.Options) displayconfig.Run {
	return displayconfig.Run{Check: o.Mode.Check, Tree: o.Tree, Flags: o.Shown, Origin: o.Origin}
}

// withoutCore judges what was asked for where ansible-core cannot: only a callback that is there needs it. Of names
// that are found nowhere Ansible would have said so.
func (p *run) withoutCore(err error, o plugins.CallbackOptions) error {
	switch {
	case o.Stdout != "" && !p.isCallbackFile(o.Stdout):
		return &plugins.MissingError{Name: o.Stdout}
	case o.Stdout != "", project.HoldsPlugins(o.Dirs), slices.ContainsFunc(o.Enabled, p.isCallbackFile):
		return err
	}
	return nil
}

// isCallbackFile reports whether a callback is a file of Python where one of its name is looked for.
func (p *run) isCallbackFile(name string) bool {
	short, dirs := p.Compiler.Plugin("callback", name)
	return slices.ContainsFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, short+".py"))
		return err == nil
	})
}

// inOrder puts hark's own views and those in Python into the order in which Ansible would call them.
func (p *run) inOrder(c *plugins.Callbacks, screen string, foreign bool) (view.View, error) {
	vo := p.screens.Options(shownOf(p.o))
	first := c.Screen()
	if !foreign {
		var err error
		if first, err = view.New(screen, vo); err != nil {
			return nil, err
		}
		first = p.screens.OnScreen(first)
	}
	all := []view.View{first}
	for i, python := 0, 0; i < len(c.Order); i++ {
		if c.Order[i] != "" {
			all = append(all, p.screens.OtherViews(c.Order[i:i+1], vo)...)
			continue
		}
		start := i
		for i+1 < len(c.Order) && c.Order[i+1] == "" {
			i++
		}
		all = append(all, c.Beside(python, i+1-start))
		python += i + 1 - start
	}
	return view.All(append(all, closing{c: c})...), nil
}

// closing ends the callbacks after all views.
type closing struct {
	view.Silent
	c *plugins.Callbacks
}

func (v closing) Close() error { return v.c.Close() }

// inPython reports whether the callback for the screen is not one of hark's own, or one of the project's that hides it.
func (p *run) inPython(screen string, dirs []string) bool {
	own := slices.ContainsFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, screen+".py"))
		return err == nil
	})
	return own || !known(screen)
}

// known reports whether a callback is one of hark's own.
func known(name string) bool {
	return slices.Contains(view.Names(), name[strings.LastIndexByte(name, '.')+1:])
}

// commandLine returns the call as Ansible's own command has it.
func commandLine(cmd *cobra.Command) []string {
	out := []string{"ansible-playbook"}
	if name := cmd.Name(); name == "run" || name == "ansible" {
		out[0] = "ansible"
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch f.Value.Type() {
			case "bool":
				out = append(out, "--"+f.Name)
			case "count":
				n, _ := strconv.Atoi(v)
				out = append(out, slices.Repeat([]string{"--" + f.Name}, n)...)
			default:
				out = append(out, "--"+f.Name+"="+v)
			}
		}
	})
	return append(append(out, "--"), cmd.Flags().Args()...)
}

// prompter asks the user, with the callbacks' knowledge if there are any.
func (p *run) prompter() play.Prompter {
	if p.callbacks == nil {
		return p.asker()
	}
	return watched{p.asker(), p.callbacks}
}

// asker asks the person at the terminal.
func (p *run) asker() prompts.Prompter {
	return prompts.Prompter{Console: p.term, Display: p.display, Aborted: play.ErrAborted}
}

// watched asks for variables and lets the callbacks know before.
type watched struct {
	prompts.Prompter
	c *plugins.Callbacks
}

// Variable implements play.Prompter.
func (p watched) Variable(ctx context.Context, v play.VarPrompt) (string, error) {
	none := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	var def, size any
	if v.Default != nil {
		def = value.Plain(v.Default)
	}
	if v.SaltSize != 0 {
		size = v.SaltSize
	}
	p.c.VarsPrompt(v.Name, v.Private, v.Text, none(v.Encrypt), v.Confirm, size, none(v.Salt), def, v.Unsafe)
	return p.Prompter.Variable(ctx, v)
}
