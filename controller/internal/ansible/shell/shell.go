// Package shell is the loop of ansible-console: a person types lines, which change where and how tasks run, or are
// tasks themselves. It runs nothing and reads no terminal itself; the caller passes both in.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"hark/modules/nss"
)

// State is where and how the next task runs.
type State struct {
	// Pattern are the hosts.
	Pattern string
	// RemoteUser is "" for whoever the person is.
	RemoteUser               string
	Become, Check, Diff      bool
	BecomeUser, BecomeMethod string
	// Forks is how many hosts are at the task at once; Timeout what it may take in seconds, 0 for no limit.
	Forks, Verbosity, Timeout int
}

// Task is one task that was typed.
type Task struct {
	State
	Module, Args string
}

// Module is what the console shows of a module.
type Module struct {
	Name   string // in full
	Short  string // what it does, in a sentence
	Params []Param
}

// Param is an argument of a module.
type Param struct{ Name, Doc string }

// Lines gives what is typed, without the end of the line. io.EOF ends the console.
type Lines interface {
	Line(prompt string) (string, error)
}

// Shell is one conversation. Its methods belong to one goroutine.
type Shell struct {
	State
	Lines Lines
	// Hosts are the names of the hosts of a pattern, Groups those of all groups.
	Hosts  func(pattern string) ([]string, error)
	Groups func() []string
	// Modules are those that are listed and completed. Known reports whether there is another one of a name.
	Modules []Module
	Known   func(name string) bool
	// Run runs a task and shows what comes of it. Its error is shown, and ends nothing.
	Run func(ctx context.Context, t Task) error
	// Say prints a line; Error prints one as an error.
	Say, Error func(text string)

	selected []string
	search   []string // collections in which short names are looked for first
}

// ErrNoHosts says that the pattern that the console begins with has no hosts, of an inventory that has some.
var ErrNoHosts = errors.New(
	//lint:ignore ST1005 the words that users see
	"Specified inventory, host pattern and/or --limit leaves us with no hosts to target.")

// Loop begins with the state and answers lines until there are no more.
func (c *Shell) Loop(ctx context.Context) error {
	var err error
	if c.selected, err = c.Hosts(c.Pattern); err != nil {
		return err
	}
	if len(c.selected) == 0 {
		if all, err := c.Hosts("all"); err != nil || len(all) > 0 {
			return ErrNoHosts
		}
	}
	c.Say("Welcome to the ansible console. Type help or ? to list commands.")
	c.Say("")
	for ctx.Err() == nil {
		line, err := c.Lines.Line(c.prompt())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if c.answer(ctx, strings.TrimSpace(line)) {
			break
		}
	}
	c.Say("\nAnsible-console was exited.")
	return nil
}

// prompt is user@pattern (hosts)[f:forks] and the sign of who it is: # is whoever becomes root.
func (c *Shell) prompt() string {
	name := c.RemoteUser
	if name == "" {
		if me, err := nss.Current(); err == nil {
			name = me.Name
		}
	}
	sign := "$ "
	if c.Become && (c.BecomeUser == "" || c.BecomeUser == "root") {
		sign = "# "
	}
	return fmt.Sprintf("%s@%s (%d)[f:%d]%s", name, c.Pattern, len(c.selected), c.Forks, sign)
}

// answer does what a line says, and reports whether it was the last.
func (c *Shell) answer(ctx context.Context, line string) (last bool) {
	if line == "" || strings.HasPrefix(line, "#") {
		return false
	}
	if command, ok := strings.CutPrefix(line, "!"); ok {
		c.run(ctx, "shell", strings.TrimSpace(command))
		return false
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if line[0] == '?' {
		word, rest = "help", strings.TrimSpace(line[1:])
	}
	if word == "exit" || word == "EOF" {
		return true
	}
	if cmd, ok := find(word); ok {
		cmd.do(c, rest)
		return false
	}
	if name, ok := c.named(word); ok {
		c.run(ctx, name, rest)
	} else {
		c.run(ctx, "shell", line)
	}
	return false
}

// named returns the module that a word means: of the collections that are searched, else of its own name.
func (c *Shell) named(word string) (string, bool) {
	if !strings.Contains(word, ".") {
		for _, collection := range c.search {
			if full := collection + "." + word; c.isModule(full) {
				return full, true
			}
		}
	}
	return word, c.isModule(word)
}

func (c *Shell) run(ctx context.Context, module, args string) {
	if err := c.Run(ctx, Task{State: c.State, Module: module, Args: args}); err != nil {
		c.Error(err.Error())
	}
}

func (c *Shell) isModule(name string) bool {
	_, ok := c.module(name)
	return ok || c.Known != nil && c.Known(name)
}

// module finds a module by its full name, or the short one that is Ansible's own.
func (c *Shell) module(name string) (Module, bool) {
	for _, m := range c.Modules {
		if m.Name == name || strings.TrimPrefix(m.Name, builtin) == name {
			return m, true
		}
	}
	return Module{}, false
}

const builtin = "ansible.builtin."
