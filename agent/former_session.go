package agent

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// retention is how long results are kept for a controller that does not collect them.
const retention = 24 * time.Hour

// maxFormerSessions is how many dead sessions are kept, and how many of earlier processes; beyond it the oldest go.
const maxFormerSessions = 64

// formerSession is the log of a session of an earlier process of this agent. It sends the events in the log to the
// controller, reports that the session has ended, and is removed. It never plays. The log may be incomplete: the
// controller knows better which events it has, and whether a task was running.
type formerSession struct {
	line *controllerLink
	out  *outbox
	at   store.Place
	// cut: the host was restarted since, so the end of the log may be lost.
	cut bool

	cancel context.CancelFunc
	over   chan struct{} // closed when it is gone
	left   bool          // its log is for the next process; guarded by agent.mu
}

// recoverSessions takes over the sessions of an earlier process.
func recoverSessions(a *Agent) {
	if a.store == nil {
		return
	}
	kept := a.handover.kept()
	found, errs := a.store.RecoverRuns(func(run string) bool { return !slices.Contains(kept, run) })
	recoverFound(a, found, errs)
}

// recoverFound takes over the sessions of an earlier process. errs name those that cannot be read.
func recoverFound(a *Agent, found []store.Session, errs []error) {
	for _, err := range errs {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("a session was lost")
	}
	slices.SortFunc(found,
		func(x, y store.Session) int { return cmp.Compare(y.Head.Opened.UnixNano(), x.Head.Opened.UnixNano()) })
	kept := 0
	for i := range found {
		f := &found[i]
		old := a.cfg.Now().Sub(f.Head.Opened) > retention
		told := f.Place.Ended && len(f.Unsent) == 0 && !cut(f, a.boot)
		if old || told || kept == maxFormerSessions {
			_ = f.Log.Remove()
			continue
		}
		kept++
		a.keep(f)
	}
}

// cut reports whether the end of a log may be lost because the host was restarted since.
func cut(f *store.Session, boot string) bool { return f.Head.Boot != "" && f.Head.Boot != boot }

// keep makes a formerSession of a log.
func (a *Agent) keep(f *store.Session) {
	h := f.Head
	a.cfg.Logger.Info().Str("run", h.Run).Str("host", h.Host).Int("unsent", len(f.Unsent)).Msg("session recovered")
	l := newControllerLink(a, h.Issuer, h.Run, h.Host, h.HostKey, terms{lease: h.Lease})
	l.begin(wire.Session{Life: a.life, Turn: f.Turn, Left: true}, terms{lease: h.Lease})
	m := &formerSession{line: l, out: newOutbox(l, f.Log, h.Window), at: f.Place, cut: cut(f, a.boot),
		over: make(chan struct{})}
	m.out.restore(f)
	a.mu.Lock()
	defer a.mu.Unlock()
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(a.ctx)
	l.over = m.cancel
	a.formerSessions[m] = true
	limit := h.Opened.Add(retention).Sub(a.cfg.Now())
	a.work.Go(func() { m.run(ctx, limit) })
}

// run sends the events of the log until the controller has them or the time limit is over.
func (m *formerSession) run(ctx context.Context, limit time.Duration) {
	a := m.line.agent
	ctx, cancel := context.WithTimeout(ctx, limit)
	var sending sync.WaitGroup
	sending.Go(func() { m.out.run(ctx) })
	m.out.await(ctx)
	m.takeLeave(ctx)
	cancel()
	sending.Wait()
	a.mu.Lock()
	stopped := m.left || context.Cause(a.ctx) != nil
	delete(a.formerSessions, m)
	a.mu.Unlock()
	m.out.shut(stopped)
	close(m.over)
}

// takeLeave reports that the session has ended, again and again until the controller answers.
func (m *formerSession) takeLeave(ctx context.Context) {
	subject := wire.Questions(m.line.agent.id, m.line.run, wire.KindRenew)
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
		q, err := m.line.pack(subject, wire.KindRenew, wire.Renew{Session: m.line.says(), Host: m.line.host, At: m.at.At,
			Cut: m.cut}, wire.Packing{})
		if err == nil {
			err = m.line.send(ctx, q, &wire.Renewed{}, m.line.agent.cfg.Resend)
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-m.out.retry:
			pause = 100 * time.Millisecond
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// thin drops the oldest of the dead sessions of this process when there are too many.
func (a *Agent) thin() {
	var dead []*session
	for _, s := range a.runs.sessions() {
		if s.dead.Load() {
			dead = append(dead, s)
		}
	}
	slices.SortFunc(dead, func(x, y *session) int { return cmp.Compare(x.begun().UnixNano(), y.begun().UnixNano()) })
	for _, s := range dead[:max(0, len(dead)-maxFormerSessions)] {
		s.drop(errLease)
	}
}

// dismiss drops former sessions and waits until they are gone.
func (a *Agent) dismiss(which func(*formerSession) bool) {
	a.mu.Lock()
	var gone []*formerSession
	for m := range a.formerSessions {
		if which(m) {
			gone = append(gone, m)
		}
	}
	a.mu.Unlock()
	for _, m := range gone {
		m.cancel()
		<-m.over
	}
}
