package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/play"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/playbook/compile"
	"hark/playbook/inventory"
)

// playJob is one call of hark play.
type playJob struct {
	*app
	o                   project.Options
	syntax, tasks, tags bool
	who                 bool // --list-evaluators
	step                bool
	startAt             string
	retryOf             string
	resume              bool // go on with that run
	detach, driver      bool
	require             int // hosts at least
	staging             staging
	later               string // the time of --later
	span                time.Duration
}

// newPlayCommand is ansible-playbook.
func newPlayCommand(a *app, name string) *cobra.Command {
	j := &playJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Run playbooks",
		Long:  "Runs Ansible playbooks: carries out their tasks on the hosts that they name.",
		Example: "  " + a.example(name) + " -i inventory site.yml\n  " + a.example(name) +
			" -i inventory site.yml --limit web --tags config --check --diff",
		Annotations: map[string]string{"args": "playbook [playbook ...]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.connect(&j.o.Connect)
	fs.Toggle(&j.o.ForceHandlers, "force-handlers", "", a.cfg.Bool("DEFAULT_FORCE_HANDLERS"),
		"run notified handlers on hosts that failed too")
	fs.flushCache(&j.o.FlushCache)
	fs.become(&j.o.Become)
	fs.tags(&j.o.Tags)
	fs.mode(&j.o.Mode)
	fs.inventory(&j.o.Inventory)
	fs.extra(&j.o.Extra)
	fs.vault(&j.o.Vault)
	fs.forks(&j.o.Forks)
	fs.modules(&j.o.ModulePath)
	fs.Toggle(&j.syntax, "syntax-check", "", false, "read the playbooks and do nothing else")
	fs.Toggle(&j.tasks, "list-tasks", "", false, "show the tasks that would run and do nothing else")
	fs.Toggle(&j.tags, "list-tags", "", false, "show the tags that there are and do nothing else")
	fs.Toggle(&j.step, "step", "", false, "ask before each task")
	if a.name == "hark" { // ansible-playbook has only the setting
		fs.Number(&j.o.TaskTimeout, "task-timeout", "", a.cfg.Int("TASK_TIMEOUT"), "TASK_TIMEOUT",
			"seconds that a task may take on a host, 0 for no limit")
		fs.Span(&j.o.Straggler, "straggler", 0, "DURATION", "go on without hosts that keep the others waiting for so long")
		fs.Toggle(&j.who, "list-evaluators", "", false,
			"show of each task whether its host evaluates it, or the controller and why, and do nothing else")
		fs.Text(&j.chosen, "level", "", "", "LEVEL",
			"language of the playbooks, 2.14, 2.19, 2.20, 2.21 or 2.22 (default: the setting HARK_ANSIBLE, or that of the "+
				"ansible-core on this machine, or 2.22)")
		fs.Toggle(&j.o.Follow, "follow", "", false, "show the output of commands while they run")
	}
	fs.Text(&j.startAt, "start-at-task", "", "", "START_AT_TASK", "begin at the task of this name")
	fs.broker(&j.o.Broker)
	fs.ephemeral(&j.o)
	fs.retryOf(&j.retryOf)
	fs.Toggle(&j.resume, resumeFlag, "", false, "go on where the hosts of that run failed")
	fs.Lookup(resumeFlag).Hidden = true
	if a.name == "hark" {
		fs.Text(&j.later, laterFlag, "", "", "TIME",
			"have hosts that are away get this play when they are back within the time, from a keeper: 12h, 7d")
		fs.Number(&j.require, "require-hosts", "", 0, "NUMBER",
			"do nothing, and end with 4, if the plays have fewer hosts than so many")
		fs.Toggle(&j.detach, detachFlag, "", false, "have a process of its own drive the run, print the run's id and end")
		fs.Toggle(&j.driver, driverFlag, "", false, "drive a run that was detached")
		fs.Lookup(driverFlag).Hidden = true
		j.staging.flags(fs)
	}
	fs.completeFlag("start-at-task", func(c *completion) []string { return c.taskNames() })
	cmd.ValidArgsFunction = playbooks
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return j.run(cmd, fs, args) }
	return cmd
}

func (j *playJob) run(cmd *cobra.Command, fs flags, names []string) error {
	if len(names) == 0 {
		return &argparse.UsageError{Text: "the following arguments are required: playbook"}
	}
	if err := checkLevel(j.app); err != nil {
		return err
	}
	if err := checkCommon(j.app, cmd, &j.o); err != nil {
		return err
	}
	staged, err := j.staging.read(fs, j.quiet())
	if err != nil {
		return err
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	if err := j.readLater(); err != nil {
		return err
	}
	if j.detach {
		return j.detached()
	}
	ownAgents(j.app, &j.o)
	for _, name := range names {
		if err := readable(j.app, name); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	if j.quiet() == "" {
		if err := j.askPasswords(ctx, &j.o); err != nil {
			return err
		}
	}
	j.o.BaseDir, j.o.Tags.Listed = filepath.Dir(absolute(j.app, names[0])), j.tags
	began := time.Now()
	p, err := j.open(ctx, &j.o, j.o.BaseDir)
	if err != nil {
		return err
	}
	p.began = began
	p.retryOf, p.driver = j.retryOf, j.driver
	j.dirs = append(j.dirs, j.o.BaseDir)
	hintVariables(p)
	hosts, err := p.Limit("all")
	if err != nil {
		return err
	}
	books, err := p.Playbooks(absolutes(j.app, names))
	l := listing{run: p, hosts: j.o.Inventory.ListHosts, tasks: j.tasks, tags: j.tags, who: j.who, syntaxOnly: j.syntax}
	hintMistakes(p, books)
	if l.wanted() && err == nil {
		err = l.print(ctx, names, books)
	}
	if l.wanted() {
		return err
	}
	if err == nil {
		err = enough(ctx, p, books, j.require)
	}
	if err != nil {
		return j.unplayable(ctx, cmd, p, hosts, err)
	}
	var from *resumePoint
	if j.resume {
		if from, err = readPoint(j.app, j.retryOf); err != nil {
			return j.unplayable(ctx, cmd, p, hosts, err)
		}
		p.resumed = true
	}
	p.bookDirs = booksDirs(books)
	var off *later
	if j.later != "" {
		if off, err = j.newLater(cmd, names); err != nil {
			return err
		}
	}
	j.o.Shown, j.o.Line = j.shownFlags(names), commandLine(cmd)
	screen := j.cfg.Text("DEFAULT_STDOUT_CALLBACK")
	if err := p.record(cmd, screen, hosts, nil); err != nil {
		return err
	}
	v, err := p.views(ctx, screen, j.cfg.List("CALLBACKS_ENABLED"), true)
	if err != nil {
		return err
	}
	err = p.play(ctx, books, v, func(in *play.Input) {
		in.Names, in.StartAt, in.Step, in.Stages = names, j.startAt, j.step, staged
		if from != nil {
			in.Resume = from.Play
		}
		if staged != nil {
			staged.Tell = p.tellStage
		}
		if off != nil {
			in.View = view.All(in.View, off)
		}
	})
	j.hintStart(books)
	if off != nil {
		if failed := off.hand(ctx, j.app); failed != nil {
			return failed
		}
	}
	return err
}

// unplayable ends a run that cannot begin, and has it recorded.
func (j *playJob) unplayable(ctx context.Context, cmd *cobra.Command, p *run, hosts []*inventory.Host,
	why error) error {
	if err := p.record(cmd, j.cfg.Text("DEFAULT_STDOUT_CALLBACK"), hosts, nil); err != nil {
		return why
	}
	return p.withRecord(ctx, view.All(), func(view.View) error { return why })
}

// enough refuses a run whose plays have fewer hosts than it must have.
func enough(ctx context.Context, p *run, books []*compile.Playbook, least int) error {
	if least <= 0 {
		return nil
	}
	met := map[string]bool{}
	for _, b := range books {
		for _, one := range b.Plays {
			s, err := p.Compiler.Settings(ctx, one, compile.World{})
			if err != nil {
				return err
			}
			found, err := p.Inventory.Match(s.Hosts...)
			if err != nil {
				return err
			}
			for _, h := range found {
				met[h.Name] = true
			}
		}
	}
	if len(met) < least {
		return &codedError{exitSyntax, fmt.Errorf("the plays have %s, and --require-hosts demands %d: nothing was done",
			hostCount(len(met)), least)}
	}
	return nil
}

// quiet returns the flag that has nothing run and nobody asked, "" if there is none.
func (j *playJob) quiet() string {
	for _, f := range []struct {
		on   bool
		name string
	}{{j.o.Inventory.ListHosts, "list-hosts"}, {j.tasks, "list-tasks"}, {j.tags, "list-tags"}, {j.syntax,
		"syntax-check"}, {j.who, "list-evaluators"}} {
		if f.on {
			return f.name
		}
	}
	return ""
}

// checkCommon checks what argparse checks of the flags that several commands have.
func checkCommon(a *app, cmd *cobra.Command, o *project.Options) error {
	if err := argparse.CheckExclusive(cmd); err != nil {
		return err
	}
	o.Forks.Given = cmd.Flags().Changed("forks")
	if o.Forks.Number < 1 {
		return &argparse.UsageError{Text: "The number of processes (--forks) must be >= 1", Short: true}
	}
	return nil
}

// readable checks that a playbook is a file; a full name of a collection's playbook is looked up later.
func readable(a *app, name string) error {
	info, err := os.Stat(absolute(a, name))
	switch {
	case err != nil && collectionPlaybook(name):
		return nil
	case err != nil:
		return fmt.Errorf(dialect.PlaybookNotFound.Format, name)
	case !info.Mode().IsRegular() && info.Mode()&os.ModeNamedPipe == 0:
		return fmt.Errorf("the playbook: %s does not appear to be a file", name)
	}
	return nil
}

func collectionPlaybook(name string) bool {
	return strings.Count(name, ".") >= 2 && !strings.ContainsAny(name, "/ ")
}

// absolute starts a path at the working directory.
func absolute(a *app, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.cfg.WorkingDir(), name)
}

func absolutes(a *app, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		if _, err := os.Stat(absolute(a, name)); err == nil {
			out[i] = absolute(a, name)
		}
	}
	return out
}

// withRecord runs carry with the view and the record of the run, and ends both afterwards.
func (p *run) withRecord(ctx context.Context, v view.View, carry func(view.View) error) (err error) {
	v, stop := p.withStatus(v)
	if p.recording != nil {
		v = view.All(p.recording, v)
		p.recording.begin(ctx, p.display)
		if p.drive == nil { // its record comes when it is known that it tells something
			p.noted()
		}
	}
	defer func() {
		stop()
		p.Plugins.Close()
		p.Actions.Close()
		if err = errors.Join(err, v.Close()); p.settle != nil {
			err = p.settle(err)
		}
		if p.recording != nil {
			p.recording.end(p.display, err)
			keepPoint(p)
			tellEnd(p, err)
			p.hintAgain(err)
		}
		p.far.ended()
	}()
	if p.driver {
		if p.recording != nil {
			p.recording.Begun()
		}
		if err := apart(p.id); err != nil {
			return err
		}
	}
	return carry(v)
}

// play carries out a run and ends with its exit code. The change fills in what only one command has.
func (p *run) play(ctx context.Context, books []*compile.Playbook, v view.View, change func(*play.Input)) error {
	return p.withRecord(ctx, v, func(v view.View) error { return p.carry(ctx, books, v, change) })
}

// carry drives the plays of a run.
func (p *run) carry(ctx context.Context, books []*compile.Playbook, v view.View, change func(*play.Input)) error {
	settings := project.ConfigLookup{Settings: p.cfg}
	in := play.Input{
		Run: p.id, Project: p.Compiler, Playbooks: books, Inventory: p.Inventory, Templates: p.WithPlugins(),
		Plugin: p.Plugins.Run,
		Action: p.Actions.Run, Modules: p.Modules, Secrets: p.Secrets, Hidden: p.display.Hidden(),
		Hash: p.Hash, Setting: settings.Setting, PluginSetting: settings.PluginSetting, Where: p.Where, Private: p.Private(),
		Extra: p.Extra, View: v, Messages: p.display, Prompt: p.prompter(),
		Facts: p.recorded(p.factCache()), Detach: p.detach,
		Options: play.Options{
			Check: p.o.Mode.Check, Forks: p.forkLimit(), FlushCache: p.o.FlushCache, Gathering: p.cfg.Text("DEFAULT_GATHERING"),
			HashMerge: p.HashMerge(), InjectFacts: p.cfg.Bool("INJECT_FACTS_AS_VARS"),
			Connection:     p.ConnectionVars(),
			BecomePassword: cmp.Or(p.o.Passwords.Become, p.cfg.Text("become/sudo.become_pass")),
			Straggler:      p.o.Straggler, Follow: p.o.Follow,
			RetryFiles: p.cfg.Bool("RETRY_FILES_ENABLED"), RetryDir: p.cfg.Text("RETRY_FILES_SAVE_PATH"),
		},
	}
	if p.drive != nil {
		in.View = view.All(v, p.drive.watch)
	}
	in.Connect = p.connect(in.Run)
	ways := p.ways()
	in.Reach, in.Ways = ways.Names(), connections.Ways()
	in.NoAgents, _ = p.noAgents()
	if change != nil {
		change(&in)
	}
	res, err := play.Run(ctx, in)
	var changed *play.ChangedError
	if errors.As(err, &changed) {
		return cannotResume(p.retryOf, changed.Text)
	}
	if err != nil {
		return err
	}
	if p.resumed {
		if err := runStore(p.app).DropPoint(p.retryOf); err != nil {
			p.display.Warn(err.Error())
		}
	}
	if p.bookDirs != nil && p.drive == nil {
		p.point = res.Checkpoint
	}
	if code := statusCode(res.Status); code != exitOK {
		return &quietError{code}
	}
	return nil
}

// hintAgain tells whoever sits at a terminal what can be done about hosts that failed.
func (p *run) hintAgain(err error) {
	if status := recordedStatus(err); p.term.Terminal != nil && (status == record.Failed || status == record.Unreachable) {
		p.hint(fmt.Sprintf("`hark runs show %s --failed` shows this again, `hark runs retry %s` tries these hosts again, "+
			"with --resume from the task at which they failed", p.id, p.id))
	}
}

// withStatus puts the status line under a view, where there is a terminal for it. The func that comes with it
// ends what keeps the line up to date.
func (p *run) withStatus(v view.View) (view.View, func()) {
	if p.term.Terminal == nil || !p.cfg.Bool("HARK_STATUS_LINE") || p.callbacks != nil && p.callbacks.OnScreen() {
		return v, func() {}
	}
	status := view.NewStatus(p.display, time.Now)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				status.Tick()
			case <-done:
				return
			}
		}
	}()
	return view.All(v, status), func() {
		close(done)
		<-ended
	}
}

// forkLimit returns how many hosts may be at a step at once: all, unless the user set a number.
func (p *run) forkLimit() int {
	if p.o.Forks.Given || p.cfg.IsSet("DEFAULT_FORKS") {
		return p.o.Forks.Number
	}
	return p.cfg.Int("HARK_FORKS")
}
