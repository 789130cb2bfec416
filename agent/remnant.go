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

// retention is how long results are kept for a controller that does not come for them.
const retention = 24 * time.Hour

// maxRemnants is how many dead sessions are kept, and how many of earlier processes; beyond it the oldest go.
const maxRemnants = 64

// remnant is what an earlier process of this agent left of a session: its log. It tells the controller what that
// holds, then that the session is no more, and goes. It never plays, and it does not trust the log to be all that
// there was: what the controller has had beyond it, and whether the host was in the middle of something, the
// controller knows better.
type remnant struct {
	line *line
	out  *outbox
	at   store.Place
	// cut: the host was started anew since, so what the log told last may be gone.
	cut bool

	cancel context.CancelFunc
	over   chan struct{} // closed when it is gone
}

// recover takes up what an earlier process left.
func (a *Agent) recover() {
	if a.store == nil {
		return
	}
	found, errs := a.store.Recover()
	for _, err := range errs {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("a session was lost")
	}
	slices.SortFunc(found, func(x, y store.Session) int { return cmp.Compare(y.Head.Opened.UnixNano(), x.Head.Opened.UnixNano()) })
	kept := 0
	for i := range found {
		f := &found[i]
		old := a.cfg.Now().Sub(f.Head.Opened) > retention
		told := f.Place.Ended && len(f.Unsent) == 0 && !cut(f, a.boot)
		if old || told || kept == maxRemnants {
			_ = f.Log.Remove()
			continue
		}
		kept++
		a.keep(f)
	}
}

// cut reports whether the end of a log may be lost: the host was started anew since.
func cut(f *store.Session, boot string) bool { return f.Head.Boot != "" && f.Head.Boot != boot }

// keep makes a remnant of a log.
func (a *Agent) keep(f *store.Session) {
	h := f.Head
	a.cfg.Logger.Info().Str("run", h.Run).Str("host", h.Host).Int("unsent", len(f.Unsent)).Msg("session recovered")
	l := newLine(a, h.Issuer, h.Run, h.Host, h.HostKey, terms{lease: h.Lease})
	l.begin(wire.Session{Life: a.life, Turn: f.Turn, Left: true}, terms{lease: h.Lease})
	m := &remnant{line: l, out: newOutbox(l, f.Log, h.Window), at: f.Place, cut: cut(f, a.boot), over: make(chan struct{})}
	m.out.restore(f)
	a.mu.Lock()
	defer a.mu.Unlock()
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(a.ctx)
	l.over = m.cancel
	a.remnants[m] = true
	limit := h.Opened.Add(retention).Sub(a.cfg.Now())
	a.work.Go(func() { m.run(ctx, limit) })
}

// run returns what there is to tell until the controller knows, or nobody waits for it any more.
func (m *remnant) run(ctx context.Context, limit time.Duration) {
	a := m.line.agent
	ctx, cancel := context.WithTimeout(ctx, limit)
	var sending sync.WaitGroup
	sending.Go(func() { m.out.run(ctx) })
	m.out.await(ctx)
	m.takeLeave(ctx)
	cancel()
	sending.Wait()
	a.mu.Lock()
	stopped := context.Cause(a.ctx) != nil
	delete(a.remnants, m)
	a.mu.Unlock()
	m.out.shut(stopped)
	close(m.over)
}

// takeLeave says that the session is no more, until the controller has heard it.
func (m *remnant) takeLeave(ctx context.Context) {
	subject := wire.Questions(m.line.agent.id, m.line.run, wire.KindRenew)
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
		q, err := m.line.pack(subject, wire.KindRenew, wire.Renew{Session: m.line.says(), Host: m.line.host, At: m.at.At, Cut: m.cut}, wire.Packing{})
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
	for _, s := range a.sessions() {
		if s.dead.Load() {
			dead = append(dead, s)
		}
	}
	slices.SortFunc(dead, func(x, y *session) int { return cmp.Compare(x.begun().UnixNano(), y.begun().UnixNano()) })
	for _, s := range dead[:max(0, len(dead)-maxRemnants)] {
		s.drop(errLease)
	}
}

// dismiss drops remnants and waits until they are gone.
func (a *Agent) dismiss(which func(*remnant) bool) {
	a.mu.Lock()
	var gone []*remnant
	for m := range a.remnants {
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
