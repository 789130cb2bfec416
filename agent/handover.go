package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// A process of the agent may be told to stop while runs are active. It plays these runs to their end and leaves
// everything else to the process that takes its place. So a restart costs a play nothing: running tasks go on, with
// their variables, position and unsent events. Only one process starts each task.
//
//	serves all --HandOver--> has its runs, begins nothing --the next process is there--> plays on --runs over--> ends
//	                                       |
//	                                       +--none comes within a minute, or it is told to stop again--> ends as stopped
//
// The process that has a run handles all messages of that run. The other process ignores them and does not answer.
type handover struct {
	mu sync.Mutex
	// runs are the runs that this process keeps, nil until it hands over; guarded by mu
	runs map[string]bool
	done chan struct{} // closed by HandOver
	// before are the earlier processes that still have active runs; guarded by mu
	before []store.Predecessor
}

// successorLimit is how long this process waits for the next one before it ends its active runs.
const successorLimit = time.Minute

// successorTick is how often this process checks whether the next one has started.
const successorTick = 100 * time.Millisecond

// predecessorTick is how often this process checks whether an earlier one has ended.
const predecessorTick = time.Second

// HandOver leaves everything except active runs to the next process. Run returns when these runs are over. HandOver
// returns false if there are no active runs or if it fails: then the caller must stop this process, which accepts no
// new work.
func (a *Agent) HandOver() bool {
	if a.store == nil || a.cfg.Controller {
		return false
	}
	a.mu.Lock()
	runs := inHand(a)
	again := a.handover.keepsAny()
	if !again {
		a.handover.keep(runs)
	}
	a.mu.Unlock()
	if again || len(runs) == 0 {
		return false
	}
	leaveRest(a, runs)
	if err := a.store.HandOver(a.life, runs); err != nil {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("cannot hand over: the active runs stay with this process")
		return false
	}
	a.cfg.Logger.Info().Strs("runs", runs).Msg("active runs go on in this process; the next one does everything else")
	close(a.handover.done)
	a.rest()
	return true
}

// inHand returns the ids of the active runs: those with a session, a call or an opening. It assumes a.mu held.
func inHand(a *Agent) []string {
	var runs []string
	for id, r := range a.runs.byID {
		alive := r.holds > len(r.sessions)
		for _, s := range r.sessions {
			alive = alive || !s.dead.Load()
		}
		if alive {
			runs = append(runs, id)
		}
	}
	for id := range a.calls.byID {
		runs = append(runs, id.run)
	}
	for _, o := range a.openings {
		if !o.answered() {
			runs = append(runs, o.run)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// leaveRest leaves the logs of other runs to the next process.
func leaveRest(a *Agent, runs []string) {
	for _, s := range a.runs.sessions() {
		if !slices.Contains(runs, s.run.id) {
			s.cancel(errStopping)
			<-s.over
		}
	}
	a.mu.Lock()
	var former []*formerSession
	for m := range a.formerSessions {
		m.left = true
		former = append(former, m)
	}
	a.mu.Unlock()
	for _, m := range former {
		m.cancel()
		<-m.over
	}
}

func (h *handover) keep(runs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = map[string]bool{}
	for _, id := range runs {
		h.runs[id] = true
	}
}

func (h *handover) keepsAny() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs != nil
}

// others reports whether another process of this agent handles this message of a run.
func (h *handover) others(k wire.Kind, run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.runs != nil:
		return k == wire.KindTrust || k == wire.KindHold || k != wire.KindClock && !h.runs[run]
	case k == wire.KindTrust, k == wire.KindHold, k == wire.KindClock:
		return false
	}
	return store.Kept(h.before, run)
}

// shares reports whether another process of this agent runs too. Then an answer to a question for the time may be for
// that process.
func (h *handover) shares() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs != nil || len(h.before) > 0
}

// kept returns the runs that earlier processes still play.
func (h *handover) kept() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var runs []string
	for _, p := range h.before {
		runs = append(runs, p.Runs...)
	}
	return runs
}

// meet finds the earlier processes that still have active runs.
func meet(a *Agent) {
	before, err := a.store.Predecessors()
	if err != nil {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("cannot find the active runs of earlier processes")
	}
	a.handover.mu.Lock()
	a.handover.before = before
	a.handover.mu.Unlock()
}

// follow takes over from earlier processes when they end. It returns when ctx is done or this process hands over too.
func follow(ctx context.Context, a *Agent) {
	for {
		a.handover.mu.Lock()
		before := slices.Clone(a.handover.before)
		a.handover.mu.Unlock()
		for _, p := range before {
			if !p.Lives() {
				inherit(a, p)
			}
		}
		if len(before) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-a.handover.done:
			return
		case <-time.After(predecessorTick):
		}
	}
}

// inherit takes over from a process that has ended: the nonces that it has used, and sessions with unsent events.
func inherit(a *Agent, p store.Predecessor) {
	if err := a.store.Settle(p); err != nil {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("cannot take over what an earlier process has left")
		return
	}
	found, errs := a.store.RecoverRuns(func(run string) bool { return slices.Contains(p.Runs, run) })
	recoverFound(a, found, errs)
	a.handover.mu.Lock()
	defer a.handover.mu.Unlock()
	same := func(x store.Predecessor) bool { return slices.Equal(x.Runs, p.Runs) }
	a.handover.before = slices.DeleteFunc(a.handover.before, same)
}

// errAlone is the reason why a process that has handed over ends its active runs.
var errAlone = errors.New("the agent was stopped and not started again")

// awaitSuccessor waits, in a process that has handed over, until the next one has started. If none starts, it returns
// an error.
func awaitSuccessor(ctx context.Context, a *Agent) error {
	select {
	case <-a.handover.done:
	default:
		return nil
	}
	for until := time.Now().Add(successorLimit); !a.store.Succeeded(); {
		if time.Now().After(until) {
			return errAlone
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(successorTick):
		}
	}
	return nil
}

// playOut serves the runs that this process has kept, until they are over or ctx is done.
func playOut(ctx context.Context, a *Agent) {
	for a.Busy() {
		select {
		case <-ctx.Done():
			return
		case <-a.cfg.Connected:
			a.again()
		case <-a.resting:
		}
	}
}
