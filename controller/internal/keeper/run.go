package keeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hark/controller/internal/standing"
)

// Config is what a Keeper needs.
type Config struct {
	Store  Store
	Driver Driver
	// Plan gives the project as it is now. It is called from one goroutine, every Poll. An error says why a newer commit cannot be in force:
	// the one before stays.
	Plan func(ctx context.Context) (Plan, error)
	Poll time.Duration
	// Hellos are the ids of agents as they say hello; Present are those of all that are there.
	Hellos  <-chan string
	Present func(ctx context.Context) ([]string, error)
	// Asks are what people want.
	Asks <-chan Asked
	// Reached tells whether the broker answers; nothing begins while it does not.
	Reached func() bool
	Now     func() time.Time
	Logger  zerolog.Logger
}

// Asked is an ask of somebody, with the way to answer; Answer is called once.
type Asked struct {
	Ask
	By     string
	Answer func(n int, err error)
}

// Keeper sees to the duties of a project. Two with the same key must not run at a time: see Lock.
type Keeper struct {
	cfg   Config
	board *Board
	// unsaid is what the store has not taken yet, by subject.
	unsaid map[string]func(context.Context) error

	ended chan ended
	plans chan planned
	work  sync.WaitGroup
}

type ended struct {
	turn     Turn
	outcomes map[string]Outcome
}

type planned struct {
	plan Plan
	err  error
}

// New makes a Keeper. Run it once.
func New(cfg Config) *Keeper {
	return &Keeper{cfg: cfg, board: NewBoard(), unsaid: map[string]func(context.Context) error{}, ended: make(chan ended), plans: make(chan planned)}
}

// retryPause is how long the keeper waits for a broker that does not answer.
const retryPause = 2 * time.Second

// Run sees to duties until ctx is over. Turns that go on are cancelled then, and what came of them is still written.
func (k *Keeper) Run(ctx context.Context) error {
	if err := k.restore(ctx); err != nil {
		return err
	}
	turns, stop := context.WithCancel(ctx)
	defer stop()
	k.work.Go(func() { k.poll(turns) })
	for ctx.Err() == nil {
		k.flush(ctx)
		k.start(turns)
		k.wait(ctx, turns)
	}
	stop()
	return k.finish()
}

// restore takes up what was written before.
func (k *Keeper) restore(ctx context.Context) error {
	own, err := k.cfg.Store.Own(ctx)
	if err != nil {
		return fmt.Errorf("cannot take up what was done before: %w", err)
	}
	k.board.Restore(own.States, own.Definitions)
	return nil
}

// poll looks at the project now and then.
func (k *Keeper) poll(ctx context.Context) {
	for {
		p, err := k.cfg.Plan(ctx)
		if ctx.Err() != nil {
			return
		}
		select {
		case k.plans <- planned{p, err}:
		case <-ctx.Done():
			return
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
				e.outcomes = everywhere(t, Outcome{Fate: Busy, Why: err.Error()})
			} else {
				e.outcomes = k.cfg.Driver.Carry(ctx, t)
			}
			k.ended <- e
		})
	}
}

// everywhere is the same outcome for all hosts of a turn.
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
		n, d, err := k.board.Take(k.cfg.Now(), a.By, a.Ask)
		if err == nil {
			k.write(nil, []standing.Definition{d})
		}
		a.Answer(n, err)
	}
}

// pause is how long nothing is due.
func (k *Keeper) pause(now time.Time) time.Duration {
	const most = time.Minute // the clock may be set
	next := most
	if at := k.board.Wake(now); !at.IsZero() {
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
	if p.err != nil {
		k.cfg.Logger.Warn().AnErr("cause", p.err).Msg("the project stays as it was")
		k.write(nil, k.board.Stale(now, p.err.Error()))
		return
	}
	k.write(k.board.Load(now, p.plan))
	present, err := k.cfg.Present(ctx)
	if err != nil {
		k.cfg.Logger.Warn().AnErr("cause", err).Msg("cannot tell who is there")
	}
	for _, agent := range present { // who came back while no keeper listened
		k.board.Hello(now, agent)
	}
}

// write has the store keep what was concluded, as soon as it can.
func (k *Keeper) write(states []standing.State, definitions []standing.Definition) {
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

// finish waits for the turns that were cancelled, and writes what came of them.
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
