package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
	"hark/playbook/plan"
)

// session is one host of one run: its place, the Advances it has had, the events it has to tell. It outlives the plays of the run
// and is dropped when the controller ends the run or has been gone for a lease.
//
//	begin --> playing --> idle --> begin ...
//	            |           |
//	            +-----------+--> dropped (end, lease over and nothing to tell, agent stopped)
type session struct {
	run  *run
	line *line
	out  *outbox
	over chan struct{} // closed when nothing of the session runs any more

	ctx    context.Context // set by live
	cancel context.CancelCauseFunc

	opening sync.Mutex // one play begins at a time

	mu      sync.Mutex
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

func newSession(r *run, host string, key wire.Key, st wire.Start, log *store.Log) *session {
	l := newLine(r.agent, r.issuer, r.id, host, key, st.Lease)
	s := &session{
		run: r, line: l, out: newOutbox(l, log, st.Window), over: make(chan struct{}),
		stop: func(error) {}, cancels: func(time.Duration) {}, playing: make(chan struct{}), wake: make(chan struct{}, 1), renew: make(chan struct{}, 1),
	}
	close(s.playing)
	return s
}

// live starts what a session needs as long as it lives. It assumes agent.mu held.
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

// watch drops the session when its controller is gone and nothing is left to tell.
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
		s.out.linger(s.ctx)
		s.mu.Lock()
		if gone == s.line.isGone() { // else the controller came back with another play
			s.ended = true
			s.cancel(errLease)
		}
		s.mu.Unlock()
	}
}

// begin hands the session a plan. A play that still runs is ended first: the controller has given it up.
func (s *session) begin(in *wire.Opening) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	stop, playing := s.stop, s.playing
	s.mu.Unlock()
	stop(errReplaced)
	<-playing

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errOver
	}
	s.line.begin(in.Start.Lease)
	if err := s.out.begin(in.Start, in.Acked); err != nil {
		return err
	}
	s.queue, s.last = nil, max(s.last, in.Advanced)
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

// cancelling makes what cancels a play: its steps end at once, always sections when the grace is over.
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

// cancelPlay ends what the play does, if one runs; its always sections have the grace. The session stays.
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

// advance takes an Advance. One that leaves a gap is left for the renewal, which brings all that were missed.
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
	case a.Seq > s.last+1:
		poke(s.renew)
	default:
		s.last = a.Seq
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

// state is what a renewal tells.
func (s *session) state() wire.Renew {
	at := s.out.where().At
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Renew{Host: s.line.host, Advanced: s.last, At: at}
}

func (s *session) renewed(r wire.Renewed) {
	if r.Over {
		s.drop(errEnded)
		return
	}
	for _, a := range r.Advances {
		s.advance(a)
	}
}

// gate implements runner.Config.Gate.
func (s *session) gate(ctx context.Context, at plan.ID) (wire.Advance, error) {
	for {
		if a, ok := s.take(); ok || at == "" {
			return a, nil
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

// interrupted tells the controller that the host stopped where it stood, for a reason that is not the playbook's.
func (s *session) interrupted(at store.Place, reason string) {
	e := wire.Event{Run: s.line.run, Play: at.Play, Host: s.line.host, Time: s.line.agent.cfg.Now(), Fate: wire.Unreachable}
	step := at.Doing
	if step != "" {
		reason += "; whether this task was done is not known"
	} else {
		step = at.At
	}
	if step != "" {
		done := e
		result, _ := json.Marshal(map[string]any{"changed": false, "unreachable": true, "msg": reason}) // plain data always encodes
		done.Kind, done.Step, done.Name, done.Fate = wire.Done, step, at.Name, ""
		done.Outcome = &wire.Outcome{Status: wire.StatusUnreachable, Result: result}
		s.out.add(done)
	}
	e.Kind = wire.Ended
	s.out.add(e)
}

// broken tells which errors come from the world and not from the play.
func broken(err error) bool {
	return slices.ContainsFunc([]error{errLease, errStopping, errReplaced, errEnded}, func(e error) bool { return errors.Is(err, e) })
}
