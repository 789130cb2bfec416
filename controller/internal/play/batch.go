package play

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/link"
	"hark/controller/internal/play/lockstep"
	"hark/controller/internal/play/screen"
	"hark/controller/internal/play/steps"
	"hark/playbook/plan"
)

// batchRun drives one plan on the hosts of one batch, from the opening of their sessions to the end of the last.
// Everything in it belongs to the goroutine of run, but for what mu guards.
type batchRun struct {
	r      *runner
	plan   *plan.Plan
	digest string
	body   []byte
	hosts  []string // of the batch
	all    []string // of the play
	// resume is the step to begin at, "" for the first; needFacts are the hosts whose facts are gathered.
	resume    plan.ID
	needFacts map[string]bool
	// resumeAt, if there is one, holds the hosts that take part with the step at which each begins.
	resumeAt map[string]plan.ID
	// resumed are hosts that were lost in a step and go on behind it, with where.
	resumed map[string]plan.ID
	// lostAt is the step at which a host became unreachable; back, of those brought back, the one behind it.
	lostAt, back map[string]plan.ID

	handouts *handouts
	// soft is over when the run is cancelled, ends when the batch is over.
	soft, ends context.Context

	steps   *steps.Set
	machine *lockstep.Machine
	order   *screen.Order

	course     *course
	stragglers *stragglers
	polls      *screen.Polls
	vigil      *vigil

	// outcome is what the host that ran once for all made of the step.
	outcome *wire.Outcome
	// fatal is an error that ends the run for all; other goroutines put theirs into broke.
	fatal error
	broke chan breakage
	// asides are what other goroutines want this one to do.
	asides chan func()
	// mayRestart tells whether the plan may restart its hosts; found out when it is first asked, by any goroutine; nil: it does not.
	mayRestart func() bool
	// current is the step that each host does or stands at, for those that are lost.
	// doing are the hosts that have begun it.
	current map[string]plan.ID
	doing   map[string]bool
	pending []string          // hosts whose sessions are to be opened
	absent  map[string]string // hosts whose agents are not there, and why
	opening int               // sessions that are being opened
	judging int               // claims of agents that are looked into

	mu   sync.Mutex
	gone map[string]bool // hosts that failed or went away: guarded by mu
}

// opened tells how the opening of a session went.
type opened struct {
	host string
	err  error
}

// startWorkers is how many sessions are opened at once.
const startWorkers = 64

// eventsBetweenLooks is after how many events that come without a pause it is looked what the time demands.
const eventsBetweenLooks = 256

// run drives the batch until no host takes part any more. The error ends the run.
func (b *batchRun) run(ctx context.Context) error {
	results := make(chan opened)
	var over context.CancelFunc
	b.soft = ctx
	b.ends, over = context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	startCtx, stop := context.WithCancel(ctx)
	defer stop()
	b.openSessions(startCtx, results)
	cancelled := ctx.Done()
	var deadline <-chan time.Time
	for n := 0; b.opening > 0 || b.judging > 0 || !b.machine.Empty(); n++ {
		var tick <-chan time.Time
		// To find out takes a look at all hosts, so it is done when there is nothing else to do, and now and then.
		if len(b.r.link.Events()) == 0 || n%eventsBetweenLooks == 0 {
			if d, ok := b.wake(); ok {
				tick = time.After(d)
			}
		}
		select {
		case <-tick:
			b.order.Tick()
			b.leaveBehind()
			b.wakeUp()
			for _, e := range b.polls.Due() {
				b.order.Add(e)
			}
		case o := <-results:
			b.opening--
			b.opened(o)
		case e, ok := <-b.r.link.Events():
			if !ok {
				return errors.New("internal error: the link to the agents was closed in the middle of the run")
			}
			b.vigil.stir()
			b.handle(e)
		case l := <-b.r.link.Lost():
			b.vigil.stir()
			b.lost(l)
		case err := <-b.broke:
			b.order.Announce(err.event)
			b.fatal = err.err
		case do := <-b.asides:
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
		b.proceed(context.WithoutCancel(ctx))
		b.openMore(startCtx, results)
	}
	b.order.Drain()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// breakOff ends the run for an error that was found while an ask was answered.
func (b *batchRun) breakOff(host string, step plan.ID, err error) {
	select {
	case b.broke <- breakage{wire.Event{Host: host, Step: step}, err}:
	default: // one is enough
	}
}

// breakage is an error that ends the run, with the step of the host that met it.
type breakage struct {
	event wire.Event
	err   error
}

// openSessions begins the sessions of all hosts that take part; in free plays as many as --forks allows.
func (b *batchRun) openSessions(ctx context.Context, results chan<- opened) {
	for _, h := range b.hosts {
		if b.takesPart(h) {
			b.machine.Enter(h)
			b.order.Enter(h)
			b.pending = append(b.pending, h)
		}
	}
	b.openMore(ctx, results)
}

func (b *batchRun) takesPart(host string) bool {
	_, resumes := b.resumeAt[host]
	return !b.r.fates.Out(host) && (resumes || b.resumeAt == nil)
}

// openMore opens the sessions of pending hosts, in free plays as many as --forks leaves room for.
func (b *batchRun) openMore(ctx context.Context, results chan<- opened) {
	n := len(b.pending)
	if limit := b.r.in.Forks; limit > 0 && b.plan.Play.Free() {
		n = min(n, max(0, limit-(b.machine.Count()-len(b.pending))))
	}
	if n == 0 || ctx.Err() != nil && len(b.pending) == 0 {
		return
	}
	batch := b.pending[:n]
	b.pending = b.pending[n:]
	b.opening += n
	type opening struct {
		host, absent string
		stranger     bool
		resumed      plan.ID
		notified     []string
	}
	queue := make(chan opening, n)
	for _, h := range batch {
		// The workers must not read what this goroutine writes.
		queue <- opening{h, b.absent[h], b.r.strangers[h], b.resumed[h], b.course.pending(h, b.resumed[h])}
		b.course.begin(h, b.beginsAt(h))
	}
	close(queue)
	for range min(n, startWorkers) {
		b.r.work.Go(func() {
			for o := range queue {
				s, err := b.start(ctx, o.host, o.absent, o.stranger)
				if o.resumed != "" {
					s.Resume, s.Notified = o.resumed, o.notified
				}
				if err == nil {
					err = b.open(ctx, s, o.resumed != "")
				}
				select {
				case results <- opened{o.host, err}:
				case <-b.r.stopped:
					return
				}
			}
		})
	}
}

// start is what a host is told to begin with: all there is if its session is in this process, else its handout. absent is why its agent is not
// there, "" if that is not known; a stranger has none.
func (b *batchRun) start(ctx context.Context, host, absent string, stranger bool) (wire.Start, error) {
	s, body := b.opens(host), b.body
	s.Absent, s.Digest = absent, b.digest
	local := b.handouts != nil && b.r.locals.is(host)
	s.Remote = b.mayRestart != nil && b.mayRestart() && !local
	if b.r.in.NoAgents || len(b.r.in.Reach) > 0 && (stranger || b.r.locals.named(host)) {
		s.Remote = true
	}
	if s.Remote {
		s.Reach, s.Ways, s.Resident = b.r.in.Reach, b.r.in.Ways, !b.r.in.NoAgents && !stranger
	}
	if b.handouts != nil {
		b.handouts.forget(host)
	}
	if b.handouts == nil || local || s.Remote || absent != "" {
		s.Vars = b.r.mirror.Start(host)
	} else {
		cut, vars, err := b.handouts.make(ctx, host)
		if err != nil {
			return s, err
		}
		s.Vars, s.Digest, body = vars, cut.digest, cut.body
	}
	if len(body) <= inlinePlan {
		s.Plan = json.RawMessage(body)
	}
	return s, nil
}

// opens is what all sessions begin with.
func (b *batchRun) opens(host string) wire.Start {
	s := wire.Start{
		Run: b.r.in.Run, Host: host, Play: b.plan.Play.ID, Resume: b.resume, Follow: b.r.in.Follow,
		BecomePassword: b.r.in.BecomePassword, Connection: plan.Dict{Dict: b.r.in.Connection}, Window: window(len(b.hosts)),
	}
	if at, ok := b.resumeAt[host]; ok {
		s.Resume = at
	}
	return s
}

// beginsAt is the step at which a host begins, "" for the first.
func (b *batchRun) beginsAt(host string) plan.ID {
	if at := b.resumed[host]; at != "" {
		return at
	}
	if at, ok := b.resumeAt[host]; ok {
		return at
	}
	return b.resume
}

const (
	// inlinePlan is up to which size in bytes a plan travels in the message that starts it.
	inlinePlan = 16 << 10
	// patience is how long results wait so that they can be shown in the order of the hosts.
	patience = 50 * time.Millisecond
	// cancelGrace is how long always sections may go on when a run is cancelled.
	cancelGrace = time.Minute
)

// window is the size of batches of events: less with many hosts, since they all answer at once.
func window(hosts int) int {
	return max(2<<10, min(32<<10, 64<<20/max(1, hosts)))
}

// opened notes how the opening of a session went. A host whose agent is not there gets a session in this process, which comes as
// far as Ansible does without a connection.
func (b *batchRun) opened(o opened) {
	if b.opening == 0 {
		b.r.tellElsewhere()
	}
	var absent *link.AbsentError
	switch {
	case o.err == nil:
	case b.r.cause() != nil: // it was too late to begin
		b.handle(wire.Event{Own: true, Run: b.r.in.Run, Play: b.plan.Play.ID, Host: o.host, Kind: wire.Ended, Fate: wire.Failed})
	case errors.As(o.err, &absent) && absent.Never && len(b.r.in.Reach) > 0 && !b.r.strangers[o.host]:
		b.r.strangers[o.host] = true
		b.pending = append(b.pending, o.host)
	case errors.As(o.err, &absent) && b.absent[o.host] == "":
		b.absent[o.host] = absent.Reason
		b.pending = append(b.pending, o.host)
	default:
		b.unreachable(o.host, o.err.Error())
	}
}

// lost ends the play for a host whose agent went away. What it told before counts first.
func (b *batchRun) lost(l link.Loss) {
	b.catchUp()
	if s, job := b.adoptable(l.Host); job != "" {
		b.awaitJob(l.Host, l.Reason, s, job)
		return
	}
	if s := b.pardoned(l.Host); s != nil {
		b.goOn(l.Host, l.Reason+b.unknown(l.Host), s)
		return
	}
	if b.machine.Live(l.Host) {
		b.unreachable(l.Host, l.Reason+b.unknown(l.Host))
		// Should it come back, it must not go on with the others.
		b.publish(wire.Advance{Drop: []string{l.Host}})
	}
}

// unknown is the end of a sentence about a host that went away: what nobody knows of it.
func (b *batchRun) unknown(host string) string {
	switch {
	case !b.plan.Play.Gated || b.plan.Play.Free():
		return "; whether this task and those after it were done is not known" + b.jobOf(host)
	case b.doing[host], b.letGo(host):
		return "; whether this task was done is not known" + b.jobOf(host)
	}
	return ""
}

// letGo tells whether a host may have begun a task of its own without having told of it yet: agents tell of a beginning with what comes next.
func (b *batchRun) letGo(host string) bool {
	s := b.steps.Step(b.machine.At(host))
	return s != nil && s.Kind == plan.Task && s.Evaluator != plan.Controller
}

// jobOf names the job that a host waited for, which may go on without the play.
func (b *batchRun) jobOf(host string) string {
	if id := b.polls.Job(host); id != "" {
		return " here: if the host did not restart its job goes on, see hark jobs show " + id
	}
	return ""
}

// unreachable makes up the events of a host that cannot tell itself that it is not there.
func (b *batchRun) unreachable(host, reason string) {
	e := b.madeUp(host, wire.StatusUnreachable, map[string]any{"changed": false, "msg": reason, "unreachable": true})
	if e.Step != "" {
		b.handle(e)
	}
	e.Kind, e.Step, e.Outcome, e.Fate = wire.Ended, "", nil, wire.Unreachable
	b.handle(e)
}

// breakdown is the end of the step in hand of a host whose session broke.
func (b *batchRun) breakdown(ended wire.Event) wire.Event {
	text := ended.Text
	if b.r.cause() != nil {
		text = "the run was cancelled"
	}
	return b.madeUp(ended.Host, wire.StatusFailed, map[string]any{"changed": false, "failed": true, "msg": text})
}

// madeUp is the end of the step that a host was at, told by the controller.
func (b *batchRun) madeUp(host string, status wire.Status, result map[string]any) wire.Event {
	step := b.current[host]
	if step == "" {
		step = b.firstStep()
	}
	raw, _ := json.Marshal(result)
	return wire.Event{
		Own: true, Run: b.r.in.Run, Play: b.plan.Play.ID, Host: host, Kind: wire.Done, Step: step, Time: time.Now(),
		Outcome: &wire.Outcome{Status: status, Result: raw},
	}
}

// firstStep is the first step of the plan that a user sees.
func (b *batchRun) firstStep() plan.ID {
	var first plan.ID
	plan.Walk(b.plan.Blocks, func(s *plan.Step) {
		if first == "" && s.Kind != plan.Meta {
			first = s.ID
		}
	})
	return first
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
