package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
	"hark/playbook/plan"
)

// session is one host of one run: its position, the Advances that it has received, its unsent events. It outlives the
// plays of the run. It is dropped when the controller ends the run or has been gone for a lease.
//
//	begin --> playing --> idle --> begin ...
//	            |           |
//	            +-----------+--> dead (lease over: nothing runs, it waits to report its results) --> begin ...
//	            |           |     |
//	            +-----------+-----+--> dropped (end, the controller wants it no more, nothing to tell, agent stopped)
//
// A session that is left when the agent ends is a formerSession of the next process.
type session struct {
	run  *run
	line *controllerLink
	out  *outbox
	over chan struct{} // closed when nothing of the session runs any more
	dead atomic.Bool   // see above
	ran  atomic.Bool   // a module that may change the host has started in the current step

	ctx    context.Context // set by live
	cancel context.CancelCauseFunc

	opening sync.Mutex // one play begins at a time

	mu      sync.Mutex
	since   time.Time               // the play's beginning; guarded by mu
	place   uint64                  // of its opening; guarded by mu
	last    uint64                  // Seq of the last Advance; guarded by mu
	queue   []wire.Advance          // not yet taken by the play; guarded by mu
	ended   bool                    // the session is being dropped; guarded by mu
	stop    context.CancelCauseFunc // of the play; guarded by mu
	cancels func(time.Duration)     // of the play, see cancelPlay; guarded by mu
	playing chan struct{}           // closed when no play runs; guarded by mu
	wake    chan struct{}           // one slot: the queue has grown
	renew   chan struct{}           // one slot: an Advance is missing
}

// errOver says that a session is being dropped.
var errOver = errors.New("internal error: the session is over")

func newSession(r *run, in *wire.Opening, log *store.Log) *session {
	st := in.Start
	l := newControllerLink(r.agent, r.issuer, r.id, st.Host, in.HostKey, terms{st.Lease, st.Fresh})
	l.unsigned, l.sealed = in.Unsigned, in.Sealed
	s := &session{
		run: r, line: l, out: newOutbox(l, log, st.Window), over: make(chan struct{}),
		stop: func(error) {}, cancels: func(time.Duration) {}, playing: make(chan struct{}), wake: make(chan struct{}, 1),
		renew: make(chan struct{}, 1),
	}
	close(s.playing)
	l.over = func() { s.drop(errEnded) }
	return s
}

// live starts the goroutines of a session. It assumes agent.mu held.
func (s *session) live(ctx context.Context) {
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.run.agent.work.Go(func() {
		var parts sync.WaitGroup
		parts.Go(func() { s.out.run(s.ctx) })
		parts.Go(func() { s.line.keep(s.ctx, s.renew, s.state, s.renewed) })
		parts.Go(s.watch)
		<-s.ctx.Done()
		s.mu.Lock()
		s.ended = true
		playing := s.playing
		s.mu.Unlock()
		<-playing
		parts.Wait()
		s.line.close()
		s.out.close(errors.Is(context.Cause(s.ctx), errStopping))
		s.run.forget(s)
		close(s.over)
	})
}

// watch drops the session when its controller is gone and all its events were sent or expired.
func (s *session) watch() {
	for {
		gone := s.line.isGone()
		select {
		case <-gone:
		case <-s.ctx.Done():
			return
		}
		s.line.agent.cfg.Logger.Info().Str("run", s.line.run).Str("host", s.line.host).Msg("the controller has gone away")
		s.mu.Lock()
		playing := s.playing
		s.mu.Unlock()
		select {
		case <-playing:
		case <-s.ctx.Done():
			return
		}
		if !s.die(gone) {
			continue
		}
		s.out.await(s.ctx)
		s.mu.Lock()
		if gone == s.line.isGone() { // else the controller came back with another play
			s.ended = true
			s.cancel(errLease)
		}
		s.mu.Unlock()
	}
}

// die makes the session a dead one, unless a play has begun.
func (s *session) die(gone <-chan struct{}) bool {
	s.mu.Lock()
	dies := gone == s.line.isGone()
	if dies {
		s.dead.Store(true)
	}
	s.mu.Unlock()
	if dies {
		s.line.agent.thin()
		s.line.agent.rest()
	}
	return dies
}

// begin starts a plan in the session. The plan is acknowledged with its first batch, unless first is nil. begin ends
// a play that still runs: the controller has given it up.
func (s *session) begin(in *wire.Opening, first *receipt) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	stop, playing := s.stop, s.playing
	s.mu.Unlock()
	if in.Turn <= s.line.who().Turn {
		return refusal("a later plan of this host has begun")
	}
	stop(errReplaced)
	<-playing

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errOver
	}
	s.dead.Store(false)
	s.line.begin(wire.Session{Life: s.line.agent.life, Turn: in.Turn}, terms{in.Start.Lease, in.Start.Fresh})
	if err := s.out.begin(in, first); err != nil {
		return err
	}
	s.queue, s.last, s.since, s.place = nil, max(s.last, in.Advanced), s.line.agent.cfg.Now(), in.Place
	var ctx context.Context
	ctx, s.stop = context.WithCancelCause(s.ctx)
	cancelled, cancel := context.WithCancel(ctx)
	s.cancels = cancelling(ctx, cancel, s.stop)
	done := make(chan struct{})
	s.playing = done
	s.line.agent.work.Go(func() {
		defer close(done)
		defer cancel()
		s.play(ctx, cancelled, in.Start)
	})
	return nil
}

// plays reports whether a play runs, and since when.
func (s *session) plays() (since time.Time, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.playing:
		return s.since, false
	default:
		return s.since, true
	}
}

// begun returns when the last play began.
func (s *session) begun() time.Time {
	since, _ := s.plays()
	return since
}

// cancelling makes the function that cancels a play: its steps end at once, its always sections when the grace is
// over.
func cancelling(play context.Context, soft context.CancelFunc, hard context.CancelCauseFunc) func(time.Duration) {
	return func(grace time.Duration) {
		if grace <= 0 {
			hard(errCancelled)
			return
		}
		soft()
		timer := time.AfterFunc(grace, func() { hard(errCancelled) })
		context.AfterFunc(play, func() { timer.Stop() })
	}
}

// cancelPlay ends the steps of the play, if one runs; its always sections have the grace. The session stays.
func (s *session) cancelPlay(grace time.Duration) {
	s.mu.Lock()
	cancel := s.cancels
	s.mu.Unlock()
	cancel(grace)
}

// end ends the play, if one runs; the session stays.
func (s *session) end(cause error) {
	s.mu.Lock()
	stop := s.stop
	s.mu.Unlock()
	stop(cause)
}

// drop ends play and session.
func (s *session) drop(cause error) {
	s.end(cause)
	s.cancel(cause)
}

// leave ends the play and the session, but first waits a while for the controller to hear of it.
func (s *session) leave(grace time.Duration) {
	s.end(errStopping)
	s.mu.Lock()
	playing := s.playing
	s.mu.Unlock()
	<-playing
	ctx, cancel := context.WithTimeout(s.ctx, grace)
	defer cancel()
	_ = s.out.flushed(ctx)
	s.cancel(errStopping)
}

// advance queues an Advance. It ignores one that leaves a gap: the renewal brings all that were missed.
func (s *session) advance(a wire.Advance) {
	s.line.hear()
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := false
	select {
	case <-s.playing:
		idle = true
	default:
	}
	switch {
	case a.Seq <= s.last:
	case idle:
		s.last = a.Seq
		if a.Hears(s.place) { // a play that was cancelled at its barrier
			s.out.heard()
		}
	case a.Seq > s.last+1:
		poke(s.renew)
	default:
		s.last = a.Seq
		if a.Hears(s.place) {
			s.out.heard()
		}
		s.queue = append(s.queue, a)
		poke(s.wake)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// state returns what a renewal reports.
func (s *session) state() wire.Renew {
	at := s.out.where().At
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Renew{Session: s.line.says(), Host: s.line.host, Advanced: s.last, At: at}
}

func (s *session) renewed(r wire.Renewed) {
	for _, a := range r.Advances {
		s.advance(a)
	}
}

// gate implements runner.Config.Gate. A play that waits for nobody ends here too when its controller has gone away.
func (s *session) gate(ctx context.Context, at plan.ID) (wire.Advance, error) {
	for {
		if a, ok := s.take(); ok {
			return a, nil
		}
		if at == "" {
			select {
			case <-s.line.isGone():
				return wire.Advance{}, errLease
			default:
				return wire.Advance{}, nil
			}
		}
		select {
		case <-s.wake:
		case <-s.line.isGone():
			return wire.Advance{}, errLease
		case <-ctx.Done():
			return wire.Advance{}, context.Cause(ctx)
		}
	}
}

func (s *session) take() (wire.Advance, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return wire.Advance{}, false
	}
	a := s.queue[0]
	s.queue = s.queue[1:]
	return a, true
}

// interrupted reports to the controller that the host stopped at its position, for a reason that is not the
// playbook's.
func (s *session) interrupted(at store.Place, reason string, tell func(wire.Event)) {
	e := wire.Event{Run: s.line.run, Play: at.Play, Host: s.line.host, Time: s.line.agent.cfg.Now(),
		State: wire.Unreachable}
	step := at.Doing
	switch {
	case step == "":
		step = at.At
	case s.ran.Load():
		reason += "; whether this task was done is not known"
	default:
		reason += "; this task was not begun"
	}
	if step != "" {
		done := e
		// plain data always encodes
		result, _ := json.Marshal(map[string]any{"changed": false, "unreachable": true, "msg": reason})
		done.Kind, done.Step, done.Name, done.State = wire.Done, step, at.Name, ""
		done.Outcome = &wire.Outcome{Status: wire.StatusUnreachable, Result: result}
		tell(done)
	}
	e.Kind, e.Text = wire.Ended, reason
	tell(e)
}

// broken returns which errors come from the world and not from the play.
func broken(err error) bool {
	return slices.ContainsFunc([]error{errLease, errSlow, errStopping, errAlone, errReplaced, errEnded},
		func(e error) bool { return errors.Is(err, e) })
}
