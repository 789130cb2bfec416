// Package cli is the command line: a file for each command, the flags they share, and the exit codes. Called as
// ansible-playbook, ansible, ansible-inventory, ansible-vault, ansible-config, ansible-doc, ansible-pull,
// ansible-galaxy or ansible-console the program is that one command with Ansible's flags; called as hark it has them
// all, and its own. The commands read flags and settings and hand over to the packages that do the work.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hark/agent/version"
	"hark/controller/config"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play"
	"hark/controller/internal/ui/displayconfig"
	"hark/controller/internal/ui/hint"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

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
	// drive is set for a run of a keeper.
	drive *drive
}

// ThisSystem returns that of the process.
func ThisSystem() System {
	s := System{Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, World: config.ThisWorld()}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Terminal, s.Out = os.Stdout, terminal.Visible{W: os.Stdout}
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		s.Err = terminal.Visible{W: os.Stderr}
	}
	return s
}

// app is what all commands of one call of the program share.
type app struct {
	name    string // of the front end: ansible-playbook, hark, ...
	args    []string
	world   config.World
	detach  <-chan struct{}
	drive   *drive // nil but for a run of a keeper
	cfg     *config.Config
	term    *terminal.Console
	fleet   *fleet.Dialer
	screens *displayconfig.Screens
	// display is made when the verbosity is known; before that it is one that shows only warnings.
	display *view.Display
	// chosen is the level of the command line, "" if none was given.
	chosen string
	// hinted are the hints that were given, words what they are made of, nil before the first; playing is for what a
	// play knows.
	hinted  []string
	dirs    []string // of the playbooks
	words   *hint.Words
	playing *playing
	// core is the ansible-core of this machine, nil before it was looked for.
	core *ansiblePython
	// runs are those that were read, nil before; see allRuns.
	runs *fleet.Runs
	// python is the ansible-core of this machine, looked for once.
	python func() ansiblePython
	// atEnd is done when the command has ended.
	atEnd []func()
}

// newApp reads the settings.
func newApp(s System) (*app, error) {
	cfg, err := config.Load(s.World, "")
	if err != nil {
		return nil, err
	}
	a := &app{
		name: frontEnd(s.Args[0]), args: s.Args, world: s.World, detach: s.Detach, drive: s.drive, cfg: cfg,
		term: &terminal.Console{In: s.In, Out: s.Out, Err: s.Err, Terminal: s.Terminal, NoTTY: s.NoTTY, Getenv: cfg.Getenv},
	}
	a.python = sync.OnceValue(func() ansiblePython { return pythonOfAnsible(a) })
	a.fleet, a.screens = a.dialer(), &displayconfig.Screens{Settings: cfg, Console: a.term}
	a.display, err = a.screens.Open(0)
	return a, err
}

// dialer reaches brokers as the settings say.
func (a *app) dialer() *fleet.Dialer {
	return &fleet.Dialer{
		Home: a.cfg.Text("HARK_HOME"), OperatorKey: a.cfg.Text("HARK_OPERATOR_KEY"), CA: a.cfg.Text("HARK_CA"),
		Credentials: a.cfg.Text("HARK_CREDENTIALS"),
		Timeout:     time.Duration(a.cfg.Int("DEFAULT_TIMEOUT")) * time.Second, Name: "hark " + version.String(),
		Logger: a.logTo,
		Warn:   func(text string) { a.display.Warn(text) }, Say: func(text string) { a.display.Verbose(1, "", text) },
	}
}

// Main runs the command line and gives the exit code.
func Main(ctx context.Context, s System) int {
	out := &terminal.Outlet{W: s.Out}
	if s.Terminal == nil {
		s.Out = out
	}
	a, err := newApp(s)
	if err != nil {
		// Ansible has no display yet when its settings are bad, so this line looks different from all others.
		fmt.Fprintf(s.Err, "ERROR: %v\n", err)
		return exitOptions
	}
	for _, w := range a.cfg.Warnings {
		a.display.Warn(w)
	}
	root := a.root()
	if err := a.notACommand(root); err != nil {
		a.report(root, err)
		a.hintFor(root, err)
		return exitCode(err)
	}
	root.SetArgs(argparse.ExpandLong(root, impliedRole(a.name, s.Args[1:])))
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
	if lost := out.Lost(); lost != nil {
		a.display.Error(fmt.Sprintf("cannot write the output: %v", lost))
		return max(exitCode(err), exitError)
	}
	return exitCode(err)
}

// frontEnd returns the name that the program was called by, hark for every name that is not one of Ansible's.
func frontEnd(path string) string {
	name := filepath.Base(path)
	switch name {
	case "ansible", "ansible-playbook", "ansible-inventory", "ansible-vault", "ansible-config", "ansible-doc",
		"ansible-pull", "ansible-galaxy", "ansible-console":
		return name
	}
	return "hark"
}

// root is the command of the front end.
func (a *app) root() *cobra.Command {
	var cmd *cobra.Command
	switch a.name {
	case "ansible-playbook":
		cmd = newPlayCommand(a, a.name)
	case "ansible":
		cmd = newRunCommand(a, a.name)
	case "ansible-inventory":
		cmd = newInventoryCommand(a, a.name)
	case "ansible-doc":
		cmd = newDocCommand(a, a.name)
	case "ansible-vault":
		cmd = newVaultCommand(a, a.name)
	case "ansible-config":
		cmd = newConfigCommand(a, a.name)
	case "ansible-pull":
		cmd = newPullCommand(a, a.name)
	case "ansible-galaxy":
		cmd = newGalaxyCommand(a, a.name)
	case "ansible-console":
		cmd = newShellCommand(a, a.name)
	default:
		cmd = newHarkCommand(a)
	}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = a.name != "hark"
	cmd.SetFlagErrorFunc(argparse.FlagError)
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(a.term.Out, argparse.Help(c, a.term.Columns())) })
	versionFlag(a, cmd)
	return cmd
}

// newHarkCommand has all commands under it.
func newHarkCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hark",
		Short: "Run Ansible playbooks with agents that listen",
		Long: "Plays Ansible playbooks, roles and modules on hosts, by their agents or over ssh. " +
			"Commands that Ansible has too behave as Ansible's; the others are hark's own.",
		Args: cobra.ArbitraryArgs, // see notACommand
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.commands()...)
	argparse.StrictCompletion(cmd)
	return cmd
}

// commands returns those of hark that this call may be about: the one that its first word names, or all.
func (a *app) commands() []*cobra.Command {
	named := func(make func(*app, string) *cobra.Command, name string) func(*app) *cobra.Command {
		return func(a *app) *cobra.Command { return make(a, name) }
	}
	makers := []struct {
		name string
		make func(*app) *cobra.Command
	}{
		{"play", named(newPlayCommand, "play")}, {"run", named(newRunCommand, "run")}, {"inventory",
			named(newInventoryCommand, "inventory")},
		{"vault", named(newVaultCommand, "vault")}, {"config", named(newConfigCommand, "config")}, {"doc",
			named(newDocCommand, "doc")},
		{"pull", named(newPullCommand, "pull")}, {"galaxy", named(newGalaxyCommand, "galaxy")}, {"shell",
			named(newShellCommand, "shell")},
		{"broker", newBrokerCommand}, {"bootstrap", newBootstrapCommand}, {"agents", newAgentsCommand}, {"jobs",
			newJobsCommand}, {"runs", newRunsCommand},
		{"key", newKeyCommand}, {"console", newConsoleCommand}, {"doctor", newDoctorCommand}, {"version",
			newVersionCommand}, {"keeper", newKeeperCommand},
		{"duties", newDutiesCommand},
	}
	var all []*cobra.Command
	for _, m := range makers {
		if len(a.args) > 1 && a.args[1] == m.name {
			return []*cobra.Command{m.make(a)}
		}
	}
	if len(a.args) == 2 && a.args[1] == "--version" {
		return nil
	}
	for _, m := range makers {
		all = append(all, m.make(a))
	}
	return append(all, extraCommands()...)
}

// report prints an error as Ansible's commands do; as hark without the pages of usage and help, in which the error is
// lost.
func (a *app) report(cmd *cobra.Command, err error) {
	var (
		usage   *argparse.UsageError
		options argparse.OptionsError
		quiet   *quietError
	)
	switch {
	case errors.As(err, &quiet), errors.Is(err, play.ErrQuit):
	case errors.As(err, &usage):
		about := cmd
		if strings.HasPrefix(usage.Text, "unrecognized arguments") {
			about = argparse.ActionOf(cmd)
		}
		if a.name == "hark" {
			fmt.Fprintf(a.term.Err, "%s: error: %s\n", about.CommandPath(), usage.Text)
			return
		}
		fmt.Fprintf(a.term.Err, "%s%s: error: %s\n", argparse.Usage(about, a.term.Columns()), about.CommandPath(), usage.Text)
		if !usage.Short {
			fmt.Fprintf(a.term.Err, " \n%s", argparse.Help(argparse.ActionOf(cmd), a.term.Columns()))
		}
	case errors.As(err, &options):
		if a.name != "hark" {
			fmt.Fprint(a.term.Out, argparse.Help(argparse.ActionOf(cmd), a.term.Columns()))
		}
		a.display.Error(string(options))
	case errors.Is(err, context.Canceled):
		a.display.ErrorWrapped("User interrupted execution")
	default:
		a.display.Error(strings.TrimRight(err.Error(), "\n"))
	}
}
