package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/notify"
)

// Config is what a Keeper needs.
type Config struct {
	Store  Store
	Driver Driver
	// Plan gives the project as it is now. It is called from one goroutine, every Poll. An error says why a newer
	// commit cannot be in force: the one before stays.
	Plan func(ctx context.Context) (Plan, error)
	// Before gives the project as it was at a commit: what was in force when a keeper begins with one that cannot be.
	// It is called as Plan is.
	Before func(ctx context.Context, commit string) (Plan, error)
	Poll   time.Duration
	// DeferredPlay gives what an ask puts off, with the hosts that can have it, its commit, and those that cannot with
	// the reasons. It is called from any goroutine.
	Later func(ctx context.Context, a Requested) (p Planned, commit string, unfit []string, err error)
	// Keep is called with the commits that are still needed.
	Keep func(commits []string)
	// Project is where the project comes from, for those who read.
	Project string
	// Hellos are the ids of agents as they say hello; Present are those of all that are there.
	Hellos  <-chan string
	Present func(ctx context.Context) ([]string, error)
	// Asks are what people want.
	Asks <-chan Requested
	// Reached reports whether the broker answers; nothing begins while it does not.
	Reached func() bool
	Now     func() time.Time
	Logger  zerolog.Logger
	// Affairs finds what is the matter outside of duties, as Plan is called; nil finds nothing.
	Affairs func(ctx context.Context) []Problem
	// Tell sends a notice to its targets. It is called from a goroutine for each, and ends when ctx is done.
	Tell func(ctx context.Context, kind, subject string, n Notice)
}

// Requested is an ask of somebody, with the way to answer; Answer is called once.
type Requested struct {
	Request
	By     string
	Answer func(Reply)
}

// Keeper sees to the duties of a project. Two with the same key must not run at a time: see Lock.
type Keeper struct {
	cfg   Config
	board *Duties
	// unsaid is what the store has not taken yet, by subject.
	unsaid map[string]func(context.Context) error
	report dutystate.Report // what was said last
	seen   map[string]int   // in how many looks, one after the other, an affair was found
	told   context.Context  // of what is being told
	mended time.Time        // when it last looked whether its words are still there
	last   time.Time        // when a keeper before this one said something, until that was told

	ended chan ended
	plans chan planned
	puts  chan put
	work  sync.WaitGroup
}

type ended struct {
	turn     Turn
	outcomes map[string]Outcome
}

type planned struct {
	plan    Plan
	err     error
	affairs []Problem
}

// put is a play that was put off, or why it cannot be.
type put struct {
	ask    Requested
	plan   Planned
	commit string
	unfit  []string
	err    error
}

// New makes a Keeper. Run it once.
func New(cfg Config) *Keeper {
	return &Keeper{cfg: cfg, board: NewDuties(), unsaid: map[string]func(context.Context) error{}, ended: make(chan ended),
		plans: make(chan planned), puts: make(chan put)}
}

// retryPause is how long the keeper waits for a broker that does not answer.
const retryPause = 2 * time.Second

// Run plays duties until ctx is done. It then cancels the turns that go on, and still writes their results.
func (k *Keeper) Run(ctx context.Context) error {
	if err := k.restore(ctx); err != nil {
		return err
	}
	turns, stop := context.WithCancel(ctx)
	defer stop()
	told, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	k.told = told
	before := k.board.Commit()
	k.work.Go(func() { k.poll(turns, before) })
	for ctx.Err() == nil {
		k.flush(ctx)
		k.start(turns)
		k.tellDuties(ctx)
		k.mend(ctx)
		k.wait(ctx, turns)
	}
	stop()
	time.AfterFunc(tellLimit, end)
	return k.finish()
}

// restore takes up what was written before.
func (k *Keeper) restore(ctx context.Context) error {
	own, err := k.cfg.Store.Own(ctx)
	if err != nil {
		return fmt.Errorf("cannot take up what was done before: %w", err)
	}
	k.board.Restore(own.States, own.Definitions)
	if own.Report != nil {
		k.report, k.last = *own.Report, own.Report.At
	}
	return nil
}

// tellLimit is for how long a keeper that ends tries to send its notices.
const tellLimit = 5 * time.Second

// poll looks at the project now and then. before is the commit that was in force when the last keeper ended, "" for
// none.
func (k *Keeper) poll(ctx context.Context, before string) {
	for {
		p, err := k.cfg.Plan(ctx)
		if err != nil && before != "" {
			p, _ = k.cfg.Before(ctx, before) // which is tried again
		}
		if ctx.Err() != nil {
			return
		}
		next := planned{plan: p, err: err}
		if k.cfg.Affairs != nil {
			next.affairs = k.cfg.Affairs(ctx)
		}
		select {
		case k.plans <- next:
		case <-ctx.Done():
			return
		}
		if p.Commit != "" {
			before = ""
		}
		select {
		case <-time.After(k.cfg.Poll):
		case <-ctx.Done():
			return
		}
	}
}

// start begins the turns that are due. What is begun is written before.
func (k *Keeper) start(ctx context.Context) {
	if ctx.Err() != nil || !k.cfg.Reached() {
		return
	}
	turns, states, definitions := k.board.Due(k.cfg.Now())
	k.write(nil, definitions)
	written := map[string]error{}
	for _, s := range states {
		written[s.Duty+"."+s.Agent] = k.cfg.Store.PutState(ctx, s)
	}
	for _, t := range turns {
		var err error
		for _, h := range t.Hosts {
			err = errors.Join(err, written[t.Duty.Name+"."+h.Agent])
		}
		k.work.Go(func() {
			e := ended{turn: t}
			if err != nil {
				e.outcomes = everywhere(t, Outcome{Status: Busy, Why: err.Error()})
			} else {
				e.outcomes = k.cfg.Driver.Carry(ctx, t)
			}
			k.ended <- e
		})
	}
}

// everywhere returns the same outcome for all hosts of a turn.
func everywhere(t Turn, o Outcome) map[string]Outcome {
	all := map[string]Outcome{}
	for _, h := range t.Hosts {
		all[h.Agent] = o
	}
	return all
}

// wait takes the next thing that happens.
func (k *Keeper) wait(ctx, turns context.Context) {
	now := k.cfg.Now()
	timer := time.NewTimer(k.pause(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case e := <-k.ended:
		k.write(k.board.Done(k.cfg.Now(), e.turn, e.outcomes))
	case agent := <-k.cfg.Hellos:
		k.board.Hello(k.cfg.Now(), agent)
	case p := <-k.plans:
		k.load(turns, p)
	case a := <-k.cfg.Asks:
		k.take(turns, a)
	case p := <-k.puts:
		k.putOff(ctx, p)
	}
}

// take does what somebody asks.
func (k *Keeper) take(ctx context.Context, a Requested) {
	if a.What == AskLater {
		k.work.Go(func() {
			p := put{ask: a}
			p.plan, p.commit, p.unfit, p.err = k.cfg.Later(ctx, a)
			select {
			case k.puts <- p:
			case <-ctx.Done():
			}
		})
		return
	}
	n, d, err := k.board.Apply(k.cfg.Now(), a.By, a.Request)
	if err != nil {
		a.Answer(failed(err))
		return
	}
	k.write(nil, []dutystate.Definition{d})
	a.Answer(Reply{Hosts: n})
}

// putOff takes up a play that is put off. Who asked hears of it when it is written, so that no keeper that dies
// forgets it.
func (k *Keeper) putOff(ctx context.Context, p put) {
	switch {
	case p.err != nil:
		p.ask.Answer(failed(p.err))
		return
	case len(p.ask.Hosts) == 0 || len(p.plan.Hosts) == 0:
		p.ask.Answer(Reply{Unfit: p.unfit})
		return
	}
	now := k.cfg.Now()
	states, d := k.board.PutOff(now, p.commit, p.plan)
	k.write(states, nil)
	if err := k.cfg.Store.PutDefinition(ctx, d); err != nil {
		_, _, _ = k.board.Apply(now, p.ask.By, Request{What: AskCancel, Duty: d.Name})
		p.ask.Answer(failed(err))
		return
	}
	k.cfg.Keep(k.board.Commits())
	k.cfg.Logger.Info().Str("duty", d.Name).Str("play", d.Play).Int("hosts", d.Count).Time("until", d.Later.Until).
		Str("operator", p.ask.By).Msg("a play was put off")
	p.ask.Answer(Reply{Hosts: d.Count, Duty: d.Name, Unfit: p.unfit})
}

// pause returns how long nothing is due.
func (k *Keeper) pause(now time.Time) time.Duration {
	const most = time.Minute // the clock may be set
	next := most
	if at := k.board.Wake(now); !at.IsZero() {
		next = min(next, at.Sub(now))
	}
	if at := k.board.tellWake(now); !at.IsZero() {
		next = min(next, at.Sub(now))
	}
	if len(k.unsaid) > 0 || !k.cfg.Reached() {
		next = min(next, retryPause)
	}
	return next
}

// load puts a plan into force.
func (k *Keeper) load(ctx context.Context, p planned) {
	now := k.cfg.Now()
	defer k.tell(p)
	if p.plan.Commit != "" {
		k.write(k.board.Load(now, p.plan))
		k.cfg.Keep(k.board.Commits())
	}
	if p.err != nil {
		if p.err.Error() != k.report.Stale {
			k.cfg.Logger.Warn().AnErr("cause", p.err).Msg("the project stays as it was")
		}
		k.write(nil, k.board.Stale(now, p.err.Error()))
	}
	if p.plan.Commit == "" {
		return
	}
	present, err := k.cfg.Present(ctx)
	if err != nil {
		k.cfg.Logger.Warn().AnErr("cause", err).Msg("cannot tell who is there")
	}
	for _, agent := range present { // who came back while no keeper listened
		k.board.Hello(now, agent)
	}
}

// reportAge is after how long a keeper says again how it stands though nothing has changed.
const reportAge = 10 * time.Minute

// tell reports the state of the project.
func (k *Keeper) tell(p planned) {
	now := k.cfg.Now()
	if p.plan.Commit != "" {
		k.awake(now, k.last)
		k.last = time.Time{}
	}
	found := p.affairs
	if p.err != nil {
		found = append(found, Problem{Key: "keeper/stale", What: notify.Stale,
			Text: "a newer commit of the project is not in force: " + strings.Join(strings.Fields(p.err.Error()), " ")})
	}
	changed := k.problems(now, found)
	r := dutystate.Report{V: dutystate.Version, Project: k.cfg.Project, Commit: cmp.Or(p.plan.Commit, k.report.Commit),
		At: now, Notified: k.report.Notified}
	if p.err != nil {
		r.Stale = p.err.Error()
	}
	if !changed && r.Commit == k.report.Commit && r.Stale == k.report.Stale && r.At.Sub(k.report.At) < reportAge {
		return
	}
	k.report = r
	k.unsaid[wire.KeeperToken] = func(ctx context.Context) error { return k.cfg.Store.PutReport(ctx, r) }
}

// write has the store keep what was concluded, as soon as it can.
func (k *Keeper) write(states []dutystate.State, definitions []dutystate.Definition) {
	for _, s := range states {
		k.unsaid[s.Duty+"."+s.Agent] = func(ctx context.Context) error { return k.cfg.Store.PutState(ctx, s) }
	}
	for _, d := range definitions {
		k.unsaid[d.Name] = func(ctx context.Context) error { return k.cfg.Store.PutDefinition(ctx, d) }
	}
}

// flush writes what is to be written. What the store does not take now is kept for later.
func (k *Keeper) flush(ctx context.Context) {
	for name, put := range k.unsaid {
		if err := put(ctx); err != nil {
			k.cfg.Logger.Warn().AnErr("cause", err).Msg("cannot write how hosts stand")
			return
		}
		delete(k.unsaid, name)
	}
}

// mendEvery is how often the keeper looks whether somebody has overwritten its words at the broker.
const mendEvery = 30 * time.Second

// mend says again what somebody has overwritten.
func (k *Keeper) mend(ctx context.Context) {
	now := k.cfg.Now()
	if ctx.Err() != nil || !k.cfg.Reached() || now.Sub(k.mended) < mendEvery && !now.Before(k.mended) {
		return
	}
	k.mended = now
	places, err := k.cfg.Store.Overwritten(ctx)
	if err != nil {
		k.cfg.Logger.Warn().AnErr("cause", err).Msg("cannot check whether the keeper wrote what the broker has of it")
		return
	}
	if len(places) == 0 {
		return
	}
	k.cfg.Logger.Warn().Int("words", len(places)).Msg("somebody has overwritten what this keeper said: it is said again")
	k.write(k.board.Said(places))
	if r := k.report; slices.Contains(places, dutystate.Place{Duty: wire.KeeperToken, Agent: wire.DutyToken}) && r.V > 0 {
		k.unsaid[wire.KeeperToken] = func(ctx context.Context) error { return k.cfg.Store.PutReport(ctx, r) }
	}
}

// finish waits for the turns that were cancelled, and writes their results.
func (k *Keeper) finish() error {
	done := make(chan struct{})
	go func() {
		k.work.Wait()
		close(done)
	}()
	for waiting := true; waiting; {
		select {
		case e := <-k.ended:
			k.write(k.board.Done(k.cfg.Now(), e.turn, e.outcomes))
		case <-done:
			waiting = false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	k.flush(ctx)
	if len(k.unsaid) > 0 {
		return fmt.Errorf("cannot write how %d hosts stand", len(k.unsaid))
	}
	return nil
}
