package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/play/display"
	"hark/controller/internal/play/handover"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/progress"
	"hark/controller/internal/play/sessions"
	"hark/controller/internal/play/stall"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/play/strategy"
	"hark/playbook/plan"
)

// batchRun drives one plan on the hosts of one batch, from the opening of their sessions to the end of the last. It
// takes in what comes, has its parts judge it, and carries out what they say. Everything in it belongs to the
// goroutine of run, but for the parts that say otherwise.
type batchRun struct {
	r     *runner
	plan  *plan.Plan
	hosts []string // of the batch
	steps *steps.Set

	// Who may go on, what is shown of it, and how the one becomes the other.
	machine *strategy.Machine
	order   *display.Order
	pace    *throttle

	// The sessions of the hosts, and what was given to them.
	starts   *sessions.Starts
	sessions *sessions.Sessions
	tasks    *handover.Tasks
	executor *handover.Executor

	// Where hosts are, what they owe, and what becomes of those that are lost.
	tracker *progress.Tracker
	where   *hostLocations
	lost    *lostHosts
	present *presence
	brought broughtIn
	// included are the IDs of fragments.
	included answer.Fragments

	// What is awaited.
	polls  *display.JobPolls
	slow   *stall.SlowHosts
	stalls *stall.Detector

	queue *batchQueue
	// soft is over when the run is cancelled, ends when the batch is over.
	soft, ends context.Context
	// fatal is an error that ends the run for all.
	fatal   error
	judging int // claims of agents that are looked into
}

// equip makes the parts of a batch that need nothing but what it has already.
func (b *batchRun) equip(needFacts map[string]bool) {
	r := b.r
	b.tracker, b.where, b.lost, b.pace = progress.New(b.steps), newHostLocations(), newLostHosts(b), &throttle{b: b,
		needFacts: needFacts}
	b.polls, b.stalls, b.slow = display.NewJobPolls(), stall.NewDetector(stall.Stillness,
		time.Now), stall.NewSlowHosts(r.in.Straggler, time.Now)
	b.sessions = sessions.New(sessions.Config{Start: b.starts.For, Open: r.link.Start, Want: b.want, Room: b.room(),
		Work: &r.work, Stopped: r.stopped})
	b.executor = handover.NewExecutor(b.tasks, handover.ExecutorConfig{Plan: b.plan, Steps: b.steps,
		Modules: r.in.Modules, Evaluator: evaluators(b)})
}

// room returns how many sessions --forks leaves room for, in plays whose hosts go each by itself; nil is any number.
func (b *batchRun) room() func(waiting int) int {
	if limit := b.r.in.Forks; limit > 0 && b.plan.Play.Free() {
		return func(waiting int) int { return limit - (b.machine.Count() - waiting) }
	}
	return nil
}

// eventsBetweenLooks is after how many events that come without a pause it is looked what the time demands.
const eventsBetweenLooks = 256

const (
	// patience is how long results wait so that they can be shown in the order of the hosts.
	patience = 50 * time.Millisecond
	// cancelGrace is how long always sections may go on when a run is cancelled.
	cancelGrace = time.Minute
)

// run drives the batch until no host takes part any more. The error ends the run.
func (b *batchRun) run(ctx context.Context) error {
	var over context.CancelFunc
	b.soft = ctx
	b.ends, over = context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	startCtx, stop := context.WithCancel(ctx)
	defer stop()
	b.begin(startCtx)
	cancelled := ctx.Done()
	var deadline <-chan time.Time
	for n := 0; b.sessions.Busy() || b.judging > 0 || !b.machine.Empty(); n++ {
		var tick <-chan time.Time
		// To find out takes a look at all hosts, so it is done when there is nothing else to do, and now and then.
		if len(b.r.link.Events()) == 0 || n%eventsBetweenLooks == 0 {
			if d, ok := b.wake(); ok {
				tick = time.After(d)
			}
		}
		select {
		case <-tick:
			b.tick()
		case o := <-b.sessions.Results():
			b.opened(o)
		case e, ok := <-b.r.link.Events():
			if !ok {
				return errors.New("internal error: the link to the agents was closed in the middle of the run")
			}
			b.stalls.Stir()
			b.handle(e)
		case l := <-b.r.link.Lost():
			b.stalls.Stir()
			b.catchUp()
			b.lost.lost(l)
		case err := <-b.queue.broke:
			b.order.Announce(err.event)
			b.fatal = err.err
		case do := <-b.queue.asides:
			do()
		case done := <-b.r.syncs:
			b.catchUp()
			close(done)
		case <-cancelled:
			cancelled = nil
			deadline = time.After(b.r.cancel())
		case <-deadline:
			return b.giveUp(ctx)
		case <-b.r.in.Detach:
			return ErrDetached
		}
		if b.fatal != nil {
			b.order.Drain()
			_ = b.r.link.Cancel(wire.Cancel{Run: b.r.in.Run})
			return b.fatal
		}
		b.pace.proceed(context.WithoutCancel(ctx))
		b.sessions.More(startCtx)
	}
	b.order.Drain()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// begin opens the sessions of all hosts that take part.
func (b *batchRun) begin(ctx context.Context) {
	for _, h := range b.hosts {
		_, resumes := b.starts.ResumeAt[h]
		if !b.r.states.Out(h) && (resumes || b.starts.ResumeAt == nil) {
			b.machine.Enter(h)
			b.order.Enter(h)
			b.sessions.Add(h)
		}
	}
	if b.starts.ResumeAt == nil {
		b.pace.ahead()
	}
	b.sessions.More(ctx)
}

// want says how the session of a host is to be opened.
func (b *batchRun) want(host string) sessions.Want {
	at := b.lost.resumed[host]
	w := sessions.Want{Host: host, Absent: b.lost.absent[host], Stranger: b.r.strangers[host], Resume: at,
		Notified: b.tracker.Pending(host, at)}
	if at == "" {
		at, w.Go = b.starts.At(host), b.machine.At(host)
	}
	b.tracker.Begin(host, at)
	return w
}

// opened notes how the opening of a session went. A host whose agent is not there gets a session in this process,
// which comes as far as Ansible does without a connection.
func (b *batchRun) opened(o sessions.Opened) {
	if b.sessions.Took() {
		b.r.warnNotices()
	}
	var absent *link.AbsentError
	switch {
	case o.Err == nil:
		if b.machine.At(o.Host) != "" {
			b.slow.Released([]string{o.Host})
		}
	case b.r.cause() != nil: // it was too late to begin
		b.handle(b.tells(o.Host, wire.Ended, wire.Failed))
	case errors.As(o.Err, &absent) && absent.Never && len(b.r.in.Reach) > 0 && !b.r.strangers[o.Host]:
		b.r.strangers[o.Host] = true
		b.sessions.Add(o.Host)
	case errors.As(o.Err, &absent) && b.lost.absent[o.Host] == "":
		b.lost.absent[o.Host] = absent.Reason
		b.sessions.Add(o.Host)
	default:
		b.lost.unreachable(o.Host, o.Err.Error())
	}
}

// tells returns an event of a host that the controller makes up.
func (b *batchRun) tells(host string, kind wire.EventKind, state wire.HostState) wire.Event {
	return wire.Event{Own: true, Run: b.r.in.Run, Play: b.plan.Play.ID, Host: host, Kind: kind, State: state}
}

// wake returns how long until something is to be done though nothing happens; false if there is nothing to wait for.
func (b *batchRun) wake() (time.Duration, bool) {
	d, ok := b.order.Wake()
	lagging := func() (time.Duration, bool) { return b.slow.Wake(b.machine.Awaited) }
	for _, also := range []func() (time.Duration, bool){lagging, b.polls.Wake, b.stalls.Wake} {
		if other, waits := also(); waits && (!ok || other < d) {
			d, ok = other, true
		}
	}
	return d, ok
}

// tick does what the time demands. Stragglers finish what they are at and leave.
func (b *batchRun) tick() {
	b.order.Tick()
	for _, h := range b.slow.Behind(b.machine.Awaited) {
		b.lost.unreachable(h,
			fmt.Sprintf("left behind: the others waited for this host, which was at task [%s] for more than %s (--straggler)",
				b.steps.LabelOf(b.where.of(h)), b.r.in.Straggler))
		b.publish(wire.Advance{Drop: []string{h}})
	}
	at := func(host string) string {
		if step := b.where.of(host); step != "" {
			return "task [" + b.steps.LabelOf(step) + "]"
		}
		return "their beginning"
	}
	if text := b.stalls.Text(b.machine.UnderWay, at); text != "" {
		b.r.messages.Warn(text)
	}
	for _, e := range b.polls.Due() {
		b.order.Add(e)
	}
}

// catchUp handles the events that are there already.
func (b *batchRun) catchUp() {
	for {
		select {
		case e, ok := <-b.r.link.Events():
			if !ok {
				return
			}
			b.handle(e)
		default:
			return
		}
	}
}

// giveUp ends a cancelled batch whose hosts do not come to an end.
func (b *batchRun) giveUp(ctx context.Context) error {
	for _, h := range b.machine.LiveHosts() {
		b.r.messages.Warn("host " + h + " did not end in time; its agent ends the run by itself")
	}
	b.order.Drain()
	return context.Cause(ctx)
}

// publish sends an Advance of this play to all its hosts.
func (b *batchRun) publish(a wire.Advance) {
	b.r.seq++
	a.Run, a.Play, a.Seq = b.r.in.Run, b.plan.Play.ID, b.r.seq
	leave := a.Drop
	if a.EndPlay {
		leave = b.hosts
	}
	for _, h := range leave {
		b.tracker.Leave(h)
	}
	if err := b.r.link.Advance(a); err != nil && b.fatal == nil {
		b.fatal = err
	}
}
