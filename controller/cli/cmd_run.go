package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/play"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/inventory"
	"hark/playbook/syntax"
)

// runJob is one call of hark run: one task on the hosts of a pattern.
type runJob struct {
	*app
	o            project.Options
	module, args string
	pattern      string

	poll, background int
	oneLine          bool
	cast             broadcast
	retryOf          string
	cmd              *cobra.Command // as it was called
}

// newRunCommand is ansible, the ad-hoc command.
func newRunCommand(a *app, name string) *cobra.Command {
	j := &runJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Run one module on hosts",
		Long:  "Runs a single task on the hosts that match a pattern." + ownPatterns(a),
		Example: "  " + a.example(name) + " all -m ping\n  " + a.example(name) +
			" web -b -m service -a 'name=nginx state=restarted'",
		Annotations: map[string]string{"args": "pattern"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.become(&j.o.Become)
	fs.inventory(&j.o.Inventory)
	fs.Number(&j.poll, "poll", "P", a.cfg.Int("DEFAULT_POLL_INTERVAL"), "POLL_INTERVAL",
		"with -B: how often progress is shown, in seconds; 0 does not wait")
	fs.Number(&j.background, "background", "B", 0, "SECONDS", "run as a job that may take so many seconds")
	fs.Toggle(&j.oneLine, "one-line", "o", false, "one line for each host")
	fs.Text(&j.o.Tree, "tree", "t", "", "TREE", "write the results to this directory, a file for each host")
	fs.connect(&j.o.Connect)
	fs.mode(&j.o.Mode)
	fs.extra(&j.o.Extra)
	fs.vault(&j.o.Vault)
	fs.flushCache(&j.o.FlushCache)
	fs.own("flush-cache")
	fs.forks(&j.o.Forks)
	fs.modules(&j.o.ModulePath)
	fs.Text(&j.o.BaseDir, "playbook-dir", "", a.cfg.Text("PLAYBOOK_DIR"), "BASEDIR",
		"the directory that counts as the playbook's")
	fs.Number(&j.o.TaskTimeout, "task-timeout", "", a.cfg.Int("TASK_TIMEOUT"), "TASK_TIMEOUT",
		"seconds that the task may take")
	if a.name == "hark" {
		fs.Toggle(&j.o.Follow, "follow", "", false, "show the output of commands while they run")
	}
	fs.Text(&j.args, "args", "a", a.cfg.Text("DEFAULT_MODULE_ARGS"), "MODULE_ARGS",
		"arguments of the module: key=value or JSON")
	fs.Text(&j.module, "module-name", "m", a.cfg.Text("DEFAULT_MODULE_NAME"), "MODULE_NAME",
		"the module to run (default=command)")
	fs.broker(&j.o.Broker)
	fs.ephemeral(&j.o)
	fs.retryOf(&j.retryOf)
	if name == "run" { // ansible has none of them
		j.cast.flags(fs)
	}
	fs.completeFlag("module-name", func(c *completion) []string { return c.modules() })
	a.completeArgs(cmd, 1, func(c *completion) []string { return c.patterns() })
	cmd.RunE = j.run
	return cmd
}

func (j *runJob) run(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return &argparse.UsageError{Text: "the following arguments are required: pattern"}
	case len(args) > 1:
		return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
	}
	j.pattern, j.cmd = args[0], cmd
	if err := errors.Join(checkCommon(j.app, cmd, &j.o), j.cast.check()); err != nil {
		return err
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	if cmd.Name() == "run" {
		if err := j.aim(); err != nil {
			return err
		}
	}
	ownAgents(j.app, &j.o)
	ctx := cmd.Context()
	if err := j.askPasswords(ctx, &j.o); err != nil {
		return err
	}
	j.o.AdHoc, j.o.Line = true, commandLine(cmd)
	p, err := j.open(ctx, &j.o, baseDir(j.app, &j.o))
	if err != nil {
		return err
	}
	p.retryOf = j.retryOf
	hintVariables(p)
	hosts, err := j.hosts(ctx, p)
	if errors.Is(err, project.ErrNoHosts) && j.o.Inventory.Limit == "" ||
		err != nil && j.o.Inventory.Limit == "" && j.cast.expr == "" {
		hosts = nil
		j.display.Warn("No hosts matched, nothing to do")
	} else if err != nil {
		return err
	}
	if j.o.Inventory.ListHosts {
		j.list(hosts)
		return nil
	}
	if len(hosts) == 0 && j.cast.expr != "" {
		return nil // a pattern of names is the play's to look at again, a condition was judged here
	}
	return j.task(ctx, p, hosts)
}

// ownPatterns returns what the help says of patterns that Ansible does not have.
func ownPatterns(a *app) string {
	if a.name != "hark" {
		return ""
	}
	return " The pattern facts:CONDITION means the hosts for which a condition over their facts holds. " +
		"The inventory -i hark: is all agents that are there; it is taken where no other is given or configured."
}

// baseDir returns the directory that counts as the playbook's where there is no playbook.
func baseDir(a *app, o *project.Options) string {
	if o.BaseDir == "" {
		return a.cfg.WorkingDir()
	}
	return a.cfg.Abs(o.BaseDir)
}

func (j *runJob) list(hosts []*inventory.Host) {
	j.display.Print(view.NoColor, fmt.Sprintf("  hosts (%d):", len(hosts)))
	for _, h := range hosts {
		j.display.Print(view.NoColor, "    "+h.Name)
	}
}

// task checks the task and runs it.
func (j *runJob) task(ctx context.Context, p *run, hosts []*inventory.Host) error {
	short := modules.ShortName(j.module)
	if j.args == "" && takesText(short) {
		text := "No argument passed to " + j.module + " module"
		if strings.HasSuffix(j.pattern, ".yml") {
			text += " (did you mean to run ansible-playbook?)"
		}
		return argparse.OptionsError(text)
	}
	if short == "import_playbook" {
		return argparse.OptionsError(fmt.Sprintf("'%s' is not a valid action for ad-hoc commands", j.module))
	}
	if args, err := j.moduleArgs(short); j.o.Origin != nil && err == nil {
		j.o.Origin = func(_ string, s view.Spot) string {
			return project.AdHocOrigin(j.module, args, j.background, j.poll, s)
		}
	}
	v, err := j.view(ctx, p, hosts)
	if err != nil {
		return err
	}
	if j.o.BaseDir != "" {
		p.Compiler.Read(baseDir(j.app, &j.o))
	}
	if !p.Compiler.HasModule(j.module) && !strings.HasPrefix(short, "include") && !strings.HasPrefix(short, "import") {
		return p.withRecord(ctx, v, func(v view.View) error { return j.unknownModule(v, hosts) })
	}
	text, err := j.playbook(short, hosts)
	if err != nil {
		return err
	}
	p.Loader.ReadFile = func(name string) ([]byte, error) {
		if filepath.Base(name) == adHocName {
			return []byte(text), nil
		}
		return os.ReadFile(name)
	}
	books, err := p.Playbooks([]string{filepath.Join(baseDir(j.app, &j.o), adHocName)})
	if err != nil {
		return err
	}
	if t, ok := v.(*view.Tally); ok {
		return j.count(ctx, p, books, t)
	}
	return p.play(ctx, books, v, func(in *play.Input) { in.Names = []string{adHocName} })
}

// adHocName is the name under which the task is a playbook.
const adHocName = "__adhoc_playbook__"

// takesText reports whether the argument of a module is a command.
func takesText(module string) bool {
	switch module {
	case "command", "shell", "raw", "script", "win_command", "win_shell":
		return true
	}
	return false
}

// view is minimal, unless the settings let ad-hoc commands look as plays do.
func (j *runJob) view(ctx context.Context, p *run, hosts []*inventory.Host) (view.View, error) {
	if j.cast.counts() {
		o := j.expected(hosts)
		if err := p.record(j.cmd, "", hosts,
			&record.Tally{Expected: record.Fold(o.Expected), Enough: o.Enough, Left: o.Left}); err != nil {
			return nil, err
		}
		return view.NewTally(j.screens.Options(shownOf(&j.o)), o), nil
	}
	name, more := "minimal", []string(nil)
	callbacks := j.cfg.Bool("DEFAULT_LOAD_CALLBACK_PLUGINS")
	if callbacks {
		more = j.cfg.List("CALLBACKS_ENABLED")
		if screen := j.cfg.Text("DEFAULT_STDOUT_CALLBACK"); screen != "default" {
			name = screen
		}
	}
	if j.oneLine {
		name = "oneline"
	}
	if j.o.Tree != "" {
		more = append(more, "tree")
	}
	if err := p.record(j.cmd, name, hosts, nil); err != nil {
		return nil, err
	}
	return p.views(ctx, name, more, callbacks)
}

// unknownModule fails on every host, as it does where modules are looked for when a task runs.
func (j *runJob) unknownModule(v view.View, hosts []*inventory.Host) error {
	msg := dialect.ModuleNotFound.Text(j.module)
	raw, err := json.Marshal(map[string]string{"msg": msg})
	if err != nil {
		return err
	}
	for _, h := range hosts {
		v.Done(view.Result{Task: view.Task{Action: j.module}, Host: h.Name,
			Outcome: &wire.Outcome{Status: wire.StatusFailed, Result: raw}})
	}
	if len(hosts) == 0 {
		return nil
	}
	j.hint(knownWords(j.app).For(msg))
	return &quietError{exitFailed}
}

// playbook returns the task as a playbook.
func (j *runJob) playbook(short string, hosts []*inventory.Host) (string, error) {
	args, err := j.moduleArgs(short)
	if err != nil {
		return "", err
	}
	task := value.NewDict()
	task.Set(j.module, args)
	if j.background > 0 {
		task.Set("async", value.Int(j.background))
		task.Set("poll", value.Int(j.poll))
	}
	play := value.NewDict()
	play.Set("name", value.Str("Ansible Ad-Hoc"))
	play.Set("hosts", value.Str(j.pattern))
	play.Set("gather_facts", value.Bool(false))
	play.Set("tasks", value.NewList(task))
	if j.cast.counts() {
		j.cast.shape(play, task, hosts)
	}
	return value.JSONText(value.NewList(play), value.JSONOptions{ASCII: true}), nil
}

// moduleArgs reads -a: JSON, or key=value with the rest as the text of the command.
func (j *runJob) moduleArgs(short string) (*value.Dict, error) {
	text := strings.TrimSpace(j.args)
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		if v, err := value.Decode([]byte(text), value.KindSource); err == nil {
			if d, ok := v.(*value.Dict); ok && d.Len() > 0 {
				return d, nil
			}
		}
	}
	return syntax.Args(j.args, takesText(short))
}
