// Package cli is the command line: a file for each command, the flags they share, and the exit codes. Called as
// ansible-playbook, ansible, ansible-inventory, ansible-vault, ansible-config, ansible-doc, ansible-pull or ansible-galaxy the program
// is that one command with Ansible's flags; called as hark it has them all, and its own. The commands read flags and settings
// and hand over to the packages that do the work.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hark/controller/config"
	"hark/controller/internal/play"
	"hark/controller/internal/view"
)

// Version is hark's own version, set when it is built.
var Version = "dev"

// System is what a process has of the world.
type System struct {
	Args     []string // with the program's name
	In       io.Reader
	Out, Err io.Writer
	// Terminal is the file behind Out if it is a terminal, else nil.
	Terminal *os.File
	// NoTTY keeps the program from asking for passwords at /dev/tty.
	NoTTY bool
	World config.World
	// Detach, when it is closed, ends a run at once and leaves the agents to finish what they are at. Nil is never.
	Detach <-chan struct{}
}

// ThisSystem is that of the process.
func ThisSystem() System {
	s := System{Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, World: config.ThisWorld()}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Terminal, s.Out = os.Stdout, visible{os.Stdout}
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		s.Err = visible{os.Stderr}
	}
	return s
}

// app is one call of the program.
type app struct {
	System
	name string // of the front end: ansible-playbook, hark, ...
	cfg  *config.Config
	// display is made when the verbosity is known; before that it is one that shows only warnings.
	display *view.Display
	// lines is stdin where it is read by lines, made by input.
	lines *bufio.Reader
	// log is the file of log_path, nil without one; opened by logger.
	log func(string)
	// hinted are the hints that were given.
	hinted []string
	// atEnd is done when the command has ended.
	atEnd []func()
}

// Main runs the command line and gives the exit code.
func Main(ctx context.Context, s System) int {
	out := &outlet{w: s.Out}
	if s.Terminal == nil {
		s.Out = out
	}
	a := &app{System: s, name: frontEnd(s.Args[0])}
	cfg, err := config.Load(s.World, "")
	if err != nil {
		// Ansible has no display yet when its settings are bad, so this line looks different from all others.
		fmt.Fprintf(s.Err, "ERROR: %v\n", err)
		return exitOptions
	}
	a.cfg = cfg
	if a.display, err = a.newDisplay(0); err != nil {
		fmt.Fprintf(s.Err, "ERROR: %v\n", err)
		return exitOptions
	}
	for _, w := range cfg.Warnings {
		a.display.Warn(w)
	}
	root := a.root()
	root.SetArgs(expandLong(root, impliedRole(a.name, s.Args[1:])))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.report(cmd, err)
		a.hintFor(cmd, err)
	}
	for _, f := range a.atEnd {
		f()
	}
	if lost := out.lost(); lost != nil {
		a.display.Error(fmt.Sprintf("cannot write the output: %v", lost))
		return max(exitCode(err), exitError)
	}
	return exitCode(err)
}

// frontEnd is the name that the program was called by, hark for every name that is not one of Ansible's.
func frontEnd(path string) string {
	name := filepath.Base(path)
	switch name {
	case "ansible", "ansible-playbook", "ansible-inventory", "ansible-vault", "ansible-config", "ansible-doc", "ansible-pull", "ansible-galaxy":
		return name
	}
	return "hark"
}

// root is the command of the front end.
func (a *app) root() *cobra.Command {
	var cmd *cobra.Command
	switch a.name {
	case "ansible-playbook":
		cmd = a.playCommand(a.name)
	case "ansible":
		cmd = a.runCommand(a.name)
	case "ansible-inventory":
		cmd = a.inventoryCommand(a.name)
	case "ansible-doc":
		cmd = a.docCommand(a.name)
	case "ansible-vault":
		cmd = a.vaultCommand(a.name)
	case "ansible-config":
		cmd = a.configCommand(a.name)
	case "ansible-pull":
		cmd = a.pullCommand(a.name)
	case "ansible-galaxy":
		cmd = a.galaxyCommand(a.name)
	default:
		cmd = a.harkCommand()
	}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = a.name != "hark"
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(a.Out, helpText(c, a.columns())) })
	a.versionFlag(cmd)
	return cmd
}

// harkCommand has all commands under it.
func (a *app) harkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hark",
		Short: "Run Ansible playbooks with agents that listen",
		Long: "hark runs Ansible playbooks, roles and modules on hosts that each have an agent.\n" +
			"The first commands behave as Ansible's of the same kind; the others are hark's own.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{text: fmt.Sprintf("there is no command %q%s", args[0], didYouMean(cmd, args[0]))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.playCommand("play"), a.runCommand("run"), a.inventoryCommand("inventory"), a.vaultCommand("vault"),
		a.configCommand("config"), a.docCommand("doc"), a.pullCommand("pull"), a.galaxyCommand("galaxy"), a.brokerCommand(), a.bootstrapCommand(), a.agentsCommand(), a.jobsCommand(), a.keyCommand(), a.doctorCommand(), a.versionCommand())
	cmd.AddCommand(a.extraCommands()...)
	strictCompletion(cmd)
	return cmd
}

// didYouMean names the commands that a word may have been meant for.
func didYouMean(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	names := cmd.SuggestionsFor(word)
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = "`" + cmd.CommandPath() + " " + name + "`"
	}
	return ": did you mean " + strings.Join(names, " or ") + "?"
}

// strictCompletion makes cobra's command for completions refuse what it does not know, as all others do.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = cobra.ArbitraryArgs, needCommand
		for _, shell := range c.Commands() {
			shell.Args = noArgs
		}
	}
}

// actionOf is the command of Ansible's that a command is an action of, or the command itself.
func actionOf(cmd *cobra.Command) *cobra.Command {
	for p := cmd.Parent(); p != nil && p.Annotations["commands"] != ""; p = p.Parent() {
		cmd = p
	}
	return cmd
}

// report prints an error as Ansible's commands do.
func (a *app) report(cmd *cobra.Command, err error) {
	var (
		usage   *usageError
		options *optionsError
		quiet   *quietError
	)
	switch {
	case errors.As(err, &quiet), errors.Is(err, play.ErrQuit):
	case errors.As(err, &usage):
		about := cmd
		if strings.HasPrefix(usage.text, "unrecognized arguments") {
			about = actionOf(cmd)
		}
		fmt.Fprintf(a.Err, "%s%s: error: %s\n", usageLine(about, a.columns()), about.CommandPath(), usage.text)
		if !usage.short {
			fmt.Fprintf(a.Err, " \n%s", helpText(actionOf(cmd), a.columns()))
		}
	case errors.As(err, &options):
		fmt.Fprint(a.Out, helpText(actionOf(cmd), a.columns()))
		a.display.Error(options.text)
	case errors.Is(err, context.Canceled):
		a.display.ErrorWrapped("User interrupted execution")
	default:
		a.display.Error(strings.TrimRight(err.Error(), "\n"))
	}
}
