package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ansible/shell"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

// shellJob is one call of hark shell.
type shellJob struct {
	*app
	o   project.Options
	p   *run
	cmd *cobra.Command
}

// newShellCommand is ansible-console.
func newShellCommand(a *app, name string) *cobra.Command {
	j := &shellJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Run tasks one by one, as they are typed",
		Long: "Reads lines from a person: modules with their arguments, which run on the chosen hosts, and commands that " +
			"say where and how.",
		Example: "  " + a.example(name) + " -i inventory web\n  echo 'service name=nginx state=restarted' | " +
			a.example(name) + " -i inventory web -b",
		Annotations: map[string]string{"args": "[pattern]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.become(&j.o.Become)
	fs.inventory(&j.o.Inventory)
	fs.connect(&j.o.Connect)
	fs.mode(&j.o.Mode)
	fs.extra(&j.o.Extra)
	fs.vault(&j.o.Vault)
	fs.forks(&j.o.Forks)
	fs.modules(&j.o.ModulePath)
	fs.Text(&j.o.BaseDir, "playbook-dir", "", a.cfg.Text("PLAYBOOK_DIR"), "BASEDIR",
		"the directory that counts as the playbook's")
	fs.Number(&j.o.TaskTimeout, "task-timeout", "", a.cfg.Int("TASK_TIMEOUT"), "TASK_TIMEOUT",
		"seconds that a task may take")
	fs.broker(&j.o.Broker)
	fs.ephemeral(&j.o)
	cmd.RunE = j.run
	return cmd
}

func (j *shellJob) run(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
	}
	if err := checkCommon(j.app, cmd, &j.o); err != nil {
		return err
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	ownAgents(j.app, &j.o)
	ctx := cmd.Context()
	j.cmd = cmd
	if err := j.askPasswords(ctx, &j.o); err != nil {
		return err
	}
	j.o.AdHoc, j.o.Line = true, commandLine(cmd)
	var err error
	if j.p, err = j.open(ctx, &j.o, baseDir(j.app, &j.o)); err != nil {
		return err
	}
	pattern := strings.Join(append(args, "all")[:1], "")
	hosts, err := j.p.Limit(pattern)
	if err != nil {
		return err
	}
	if j.o.Inventory.ListHosts {
		(&runJob{app: j.app}).list(hosts)
		return nil
	}
	c := j.shell(ctx, pattern)
	err = c.Loop(ctx)
	if errors.Is(err, shell.ErrNoHosts) {
		return project.ErrNoHosts
	}
	return err
}

// shell returns the loop, with what it runs and reads.
func (j *shellJob) shell(ctx context.Context, pattern string) *shell.Shell {
	c := &shell.Shell{
		State: shell.State{
			Pattern: pattern, RemoteUser: j.o.Connect.User, Become: j.o.Become.On, BecomeUser: j.o.Become.User,
			BecomeMethod: j.o.Become.Method,
			Check:        j.o.Mode.Check, Diff: j.o.Mode.Diff, Forks: j.o.Forks.Number, Verbosity: j.o.Verbosity,
			Timeout: j.o.TaskTimeout,
		},
		Hosts: func(pattern string) ([]string, error) { return j.hosts(pattern) }, Groups: j.groups,
		Known: j.p.Compiler.HasModule, Run: j.task,
		Say:   func(text string) { j.display.Print(view.NoColor, text) },
		Error: func(text string) { j.display.ErrorWrapped(text) },
	}
	for _, name := range j.p.Modules.Names() {
		m, _ := j.p.Modules.Get(name)
		if m.Foreign {
			continue
		}
		x := shell.Module{Name: m.Name, Short: m.Doc}
		for _, p := range m.Params() {
			if !p.Hidden {
				x.Params = append(x.Params, shell.Param{Name: p.Name, Doc: p.Doc})
			}
		}
		c.Modules = append(c.Modules, x)
	}
	history := ""
	if home, err := os.UserHomeDir(); err == nil {
		history = filepath.Join(home, ".ansible-console_history")
	}
	c.Lines = &typedLines{ctx: ctx, Typed: terminal.Typed{
		Console: j.term, History: history,
		Complete: func(line string) (string, []string) { return shell.Extend(line, c.Complete(line)) },
	}}
	return c
}

// typedLines implements shell.Lines.
type typedLines struct {
	ctx context.Context
	terminal.Typed
}

func (l *typedLines) Line(prompt string) (string, error) { return l.Typed.Line(l.ctx, prompt) }

func (j *shellJob) groups() []string {
	var names []string
	for _, g := range j.p.Inventory.Groups() {
		names = append(names, g.Name)
	}
	return names
}

// hosts returns the names of the hosts of a pattern, within --limit.
func (j *shellJob) hosts(pattern string) ([]string, error) {
	found, err := j.p.Inventory.Match(pattern)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(found))
	for _, h := range found {
		names = append(names, h.Name)
	}
	return names, nil
}

// task runs a task as hark run does, over the inventory that was read.
func (j *shellJob) task(ctx context.Context, t shell.Task) error {
	adHoc := &runJob{app: j.app, o: j.o, module: t.Module, args: t.Args, pattern: t.Pattern, cmd: j.asRun(t)}
	o := &adHoc.o
	o.Connect.User, o.Become.On, o.Become.User, o.Become.Method = t.RemoteUser, t.Become, t.BecomeUser, t.BecomeMethod
	o.Mode.Check, o.Mode.Diff, o.TaskTimeout, o.Verbosity = t.Check, t.Diff, t.Timeout, t.Verbosity
	if t.Forks != j.o.Forks.Number {
		o.Forks = project.Forks{Number: t.Forks, Given: true}
	}
	display, err := j.screens.Open(t.Verbosity)
	if err != nil {
		return err
	}
	j.display = display
	p := newRun(j.app, o)
	p.Project = j.p.Project.Again(o, display)
	hosts, err := adHoc.hosts(ctx, p)
	if err != nil {
		return err
	}
	err = adHoc.task(ctx, p, hosts)
	var quiet *quietError
	if errors.As(err, &quiet) {
		return nil // it was shown
	}
	return err
}

// asRun is the call of hark run that does the task, for the record of it.
func (j *shellJob) asRun(t shell.Task) *cobra.Command {
	cmd := newRunCommand(j.app, "run")
	flags := cmd.Flags()
	j.cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, v := range flagValues(f) {
			_ = flags.Set(f.Name, v) // those that only the shell has are no part of the task
		}
	})
	for name, v := range map[string]string{
		"module-name": t.Module, "args": t.Args, "user": t.RemoteUser, "become-user": t.BecomeUser,
		"become-method": t.BecomeMethod,
		"become":        strconv.FormatBool(t.Become), "check": strconv.FormatBool(t.Check),
		"diff":  strconv.FormatBool(t.Diff),
		"forks": strconv.Itoa(t.Forks),
	} {
		if f := flags.Lookup(name); f != nil && f.Value.String() != v {
			_ = flags.Set(name, v)
		}
	}
	_ = flags.Parse([]string{"--", t.Pattern})
	return cmd
}
