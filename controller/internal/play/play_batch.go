package play

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/play/display"
	"hark/controller/internal/play/handover"
	"hark/controller/internal/play/sessions"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/play/strategy"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/plan"
	"hark/playbook/search"
	"hark/playbook/vars"
)

// playBatch is a play that is about to run on one batch of its hosts.
type playBatch struct {
	r        *runner
	play     *compile.Play
	settings *compile.Settings
	world    compile.World
	id       string
	all      []string // hosts of the play
	hosts    []string // of the batch
	// was is how far an earlier run came with the batch, nil for none, under the ID first.
	was   *BatchPoint
	first string
	// shared are the layers of variables of the play, once it is compiled.
	shared *vars.Shared
}

// batchResult is what came of a batch.
type batchResult struct {
	status Status
	strategy.Balance
}

// run compiles the play for the batch, runs it and draws the balance.
func (p *playBatch) run(ctx context.Context) (batchResult, error) {
	r := p.r
	if r.in.Inventory.Appeared() {
		r.mirror.Refresh()
	}
	r.admission.Know(compile.OwnWays(r.in.Project))
	r.facts.load(p.hosts)
	if r.in.Resume != nil && r.in.Resume.Batches[p.id] != nil {
		return p.goOn(ctx, r.in.Resume.Batches[p.id])
	}
	return p.drive(ctx, nil)
}

// drive runs the batch. With entry only its hosts enter, each where it stands.
func (p *playBatch) drive(ctx context.Context, entry map[string]Position) (batchResult, error) {
	r := p.r
	needFacts := p.needFacts()
	p.start(entry)
	batch := p.batch()
	batch.GatherFacts, batch.Force, batch.StartAt = len(needFacts) > 0, r.in.Step || r.in.Forks > 0 &&
		!p.free(), p.startAt()
	entered := p.entered(entry)
	if p.was != nil {
		batch.GatherFacts = p.was.Gathered
	}
	batch.Ahead = !r.in.NoAgents && slices.ContainsFunc(p.hosts, func(h string) bool { return !r.locals.is(h) })
	batch.Inventory = func(name string) []value.Value { return r.mirror.Raw(name, p.hosts) }
	unit, err := r.in.Project.Compile(ctx, p.play, batch)
	if err != nil {
		return batchResult{}, err
	}
	if err := p.readable(); err != nil {
		return batchResult{}, err
	}
	if isLater(entry) {
		if err := p.unchanged(unit.Plan); err != nil {
			return batchResult{}, err
		}
		needFacts = nil
		withoutGathering(unit.Plan)
	}
	p.shared = vars.SharedOf(&unit.Plan.Play)
	r.admission.Know(unit.Plan.Play.Connections, unit.Plan.Play.Becomes) // those of roles, too
	defer r.admission.End()
	b := p.driver(unit, needFacts, nil)
	enter(b, p.first, entry)
	if p.runs(unit) {
		r.locals.enter(p.settings.Connection, p.shared)
		if b, err = p.walk(ctx, unit, b); err == nil {
			p.note(b, entered, batch.GatherFacts)
		}
	}
	r.facts.store(r.messages.Warn)
	if err != nil {
		return batchResult{}, err
	}
	return p.balance(b), nil
}

// walk drives the batch. For hosts that a meta clear_host_errors brought back what is left of the play comes when the
// others are through with it: Ansible's linear strategy only then looks again for tasks behind it. It gives what
// holds for all in the end.
func (p *playBatch) walk(ctx context.Context, unit *compile.Unit, b *batchRun) (*batchRun, error) {
	for n := 1; ; n++ {
		p.r.present.Store(b.present)
		p.r.answers.Begin(p.asked(unit, b))
		err := b.run(ctx)
		p.r.answers.End(unit.Plan.Play.ID)
		if of := b.machine.Balance(); err != nil || len(b.lost.back) == 0 || of.Broken || of.EndPlay {
			return b, err
		}
		unit.Plan.Play.ID = p.id + "." + strconv.Itoa(n) // events of the sessions that are over must not be taken for theirs
		b = p.driver(unit, nil, b)
	}
}

// start shows that the play starts, for the hosts that enter.
func (p *playBatch) start(entry map[string]Position) {
	hosts := p.hosts
	if entry != nil {
		hosts = p.entered(entry)
	}
	shown := p.r.shown(p.play, p.settings, p.id, hosts)
	shown.Vars, shown.Tasks = p.variables, p.play.Outline
	shown.Handlers = func() []string { return compile.HandlerNames(p.play) }
	p.r.view.PlayStart(shown)
}

// batch returns the hosts as the compiler wants them.
func (p *playBatch) batch() compile.Batch {
	return compile.Batch{ID: p.id, AllHosts: p.all, Hosts: p.left(p.all), Batch: p.left(p.hosts), Settings: p.settings,
		World: p.world}
}

// variables returns the raw variables of a host as they are now, those of the play alone for "".
func (p *playBatch) variables(host string) *value.Dict {
	shared := p.shared
	if shared == nil {
		shared = p.r.in.Project.Shared(p.play, p.batch())
	}
	scope := vars.NewScope(nil, shared, vars.Step{})
	if host != "" {
		scope = p.r.mirror.Scope(host, shared)
	}
	all, err := scope.All(p.r.ctx)
	if err != nil {
		return nil
	}
	for name, hosts := range map[string][]string{"ansible_play_hosts_all": p.all, "ansible_play_hosts": p.left(p.all),
		"ansible_play_batch": p.left(p.hosts)} {
		all.Set(name, vars.Names(hosts, p.world.Named))
	}
	return all
}

// readable returns what keeps the variables of a host from being read: files that are damaged or sealed.
func (p *playBatch) readable() error {
	for _, name := range p.hosts {
		if host := p.r.in.Inventory.Host(name); host != nil {
			if _, err := p.r.in.Inventory.Vars(host); err != nil {
				return err
			}
		}
	}
	return nil
}

// startAt is --start-at-task as long as that task was not found.
func (p *playBatch) startAt() string {
	if p.r.started {
		return ""
	}
	return p.r.in.StartAt
}

// runs reports whether there is anything to do. A play before the task of --start-at-task has nothing.
func (p *playBatch) runs(unit *compile.Unit) bool {
	if !p.r.started {
		if unit.Start == "" {
			return false
		}
		p.r.started = true
	}
	steps := false
	plan.Walk(unit.Plan.Blocks, func(s *plan.Step) { steps = steps || s.Kind != plan.Meta || !s.Implicit })
	return steps && len(p.left(p.hosts)) > 0
}

func (p *playBatch) free() bool {
	return p.settings.Strategy == "free" || p.settings.Strategy == "host_pinned"
}

// left returns the hosts of a list that still take part.
func (p *playBatch) left(hosts []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), p.r.states.Out)
}

// needFacts returns the hosts whose facts are to be gathered, by the play and the setting gathering.
func (p *playBatch) needFacts() map[string]bool {
	said := p.settings.GatherFacts
	wanted := said == nil || *said
	if p.r.in.Gathering == "explicit" {
		wanted = said != nil && *said
	}
	need := map[string]bool{}
	for _, h := range p.left(p.hosts) {
		if wanted && (p.r.in.Gathering != "smart" || !p.r.facts.gathered(h)) {
			need[h] = true
		}
	}
	return need
}

// driver returns what drives the batch, or what is left of it behind before: hosts that were brought back.
func (p *playBatch) driver(unit *compile.Unit, needFacts map[string]bool, before *batchRun) *batchRun {
	r := p.r
	b := &batchRun{
		r: r, plan: unit.Plan, hosts: p.hosts, steps: steps.Of(unit.Plan), present: newPresence(p.hosts, p.all,
			r.states.Hosts(), p.world.Named), queue: newBatchQueue(r.stopped),
	}
	var resumeAt map[string]plan.ID
	var was *strategy.Machine
	if before != nil {
		was, resumeAt = before.machine, before.lost.back
		b.present.all = before.present.known()
		b.present.leave(before.present.absent()...) // to the magic variables they stay away
	}
	b.machine = p.machine(b, was)
	b.order = display.New(display.Config{
		View: r.view, Warn: r.messages.Warn, Verbose: func(level int, text string) { r.messages.Verbose(level, "", text) },
		Recap: r.recap, Steps: b.steps, Free: p.free(), Hosts: p.hosts, Patience: patience,
	})
	b.tasks = handover.New(unit, r.mirror, r.render)
	b.starts = &sessions.Starts{
		Base: wire.Start{
			Run: r.in.Run, Play: unit.Plan.Play.ID, Resume: unit.Start, Follow: r.in.Follow, BecomePassword: r.in.BecomePassword,
			Connection: plan.Dict{Dict: r.in.Connection}, Window: sessions.Window(len(p.hosts)),
			Fresh: sessions.Fresh(len(p.hosts)),
			Last:  r.last,
		},
		ResumeAt: resumeAt, Whole: unit.Plan.Written(), Tasks: b.tasks, Vars: r.mirror.Start, Here: r.locals.is,
		Named:      r.locals.named,
		MayRestart: sync.OnceValue(func() bool { return restarts(r.in.Modules, unit.Plan, r.in.Project.Uses) }),
		NoAgents:   r.in.NoAgents, Reach: r.in.Reach, Ways: r.in.Ways, Login: newLogins(r,
			unit.Plan).of, Settle: r.link.Settle,
	}
	if unit.Plan.Play.Free() && p.settings.MaxFail != nil {
		r.messages.Warn("Using max_fail_percentage with the free strategy is not supported, as tasks are executed " +
			"independently on each host")
	}
	b.equip(needFacts)
	return b
}

// machine returns the lockstep of the batch, or of what is left of it behind before.
func (p *playBatch) machine(b *batchRun, before *strategy.Machine) *strategy.Machine {
	of := &b.plan.Play
	return strategy.New(strategy.Config{
		Hosts: p.hosts, Gated: of.Gated, Free: of.Free(), MaxFail: p.settings.MaxFail,
		Tagged: of.Level.Has(dialect.FatalRescue), Blocks: b.steps, States: p.r.states, Before: before,
	})
}

// asked returns the batch as questions about it are answered.
func (p *playBatch) asked(unit *compile.Unit, b *batchRun) answer.Batch {
	return answer.Batch{
		Plan: unit.Plan, Whole: b.starts.Whole, Hosts: p.hosts, Dir: search.Dir(p.play.Dir()), Index: b.steps.Index,
		Handed: b.steps.Add, Fragments: &b.included,
		Magic: b.present.magic, Debug: b.debug, DoStep: b.doStep, PlanOf: b.tasks.Body,
		OwnVars: func(ctx context.Context, a wire.Ask) (*wire.Did, error) { return b.executor.OwnVars(ctx, a.Host) },
		Include: func(ctx context.Context, host string, step plan.ID, call wire.IncludeCall, index int) (*plan.Fragment,
			error) {
			f, err := unit.Include(ctx, step, compile.Call{Args: call.Args.Dict, Vars: call.Vars.Dict}, index)
			if err == nil {
				err = p.brings(b, step, f)
			}
			var failed *compile.IncludeError
			switch {
			case errors.As(err, &failed) && failed.Shown:
				p.r.messages.Error(cmp.Or(failed.Text, failed.Reason))
			case err != nil && failed == nil && ctx.Err() == nil:
				b.queue.breakOff(host, step, err)
			}
			return f, err
		},
	}
}

// balance returns what the batch leaves for the plays after it.
func (p *playBatch) balance(b *batchRun) batchResult {
	r := p.r
	res := batchResult{Balance: b.machine.Balance()}
	res.status = statusOf(r.states) // who only counts as failed is out of later plays, and no failure of this one
	b.machine.Over()
	if res.Broken {
		res.status = Failed
	}
	reachable := slices.ContainsFunc(p.hosts, func(h string) bool { return !r.states.Unreachable(h) })
	if res.EndedFailed || p.free() && !reachable {
		r.view.NoHostsRemaining()
	}
	return res
}

// statusOf returns how a run stands, by the hosts that are out.
func statusOf(states *strategy.HostStates) Status {
	switch {
	case states.AnyUnreachable():
		return Unreachable
	case states.AnyFailed():
		return Failed
	}
	return OK
}
