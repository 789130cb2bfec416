package agent

import (
	"errors"
	"maps"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// opening is a plan message that was obeyed. It answers repetitions whose acknowledgement was lost.
type opening struct {
	run   string
	until int64         // when it may be forgotten, in milliseconds since 1970
	done  chan struct{} // closed when what follows is set
	ack   wire.Ack
	// key is the session's, sealed whether acknowledgements are closed with it.
	key    wire.Key
	sealed bool
	// within: the first acknowledgement goes with the session's first batch.
	within bool
}

// answered reports whether the acknowledgement is known.
func (o *opening) answered() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// handlePlan opens a session and begins a play.
func (a *Agent) handlePlan(l *letter) {
	a.mu.Lock()
	if a.handover.others(wire.KindPlan, l.Header.Run) { // since a moment ago
		a.mu.Unlock()
		return
	}
	o := a.openings[l.Header.Nonce]
	again := o != nil
	if !again {
		now := a.cfg.Now().UnixMilli()
		maps.DeleteFunc(a.openings, func(_ string, o *opening) bool { return o.until < now })
		o = &opening{run: l.Header.Run, until: a.inbox.expiry(l.Header), done: make(chan struct{})}
		a.openings[l.Header.Nonce] = o
	}
	a.mu.Unlock()
	a.serve(func() {
		switch {
		case again && o.run != l.Header.Run: // two controllers play the same job
			a.inbox.answer(l, wire.Ack{Run: l.Header.Run, Err: "it was obeyed before, in run " + o.run, Replayed: true})
			return
		case again:
			<-o.done
		default:
			a.open(l, o)
			close(o.done)
			a.rest()
			if o.within {
				return
			}
		}
		a.inbox.acknowledge(l, o.ack, o.key, o.sealed)
	})
}

// open obeys a plan message and stores the acknowledgement in o.
func (a *Agent) open(l *letter, o *opening) {
	ack := wire.Ack{Run: l.Header.Run, Life: a.life}
	var in wire.Opening
	err := l.Body(a.codec, wire.SealBox, wire.Keys{Own: a.cfg.Identity}, &in)
	if err == nil {
		ack.Host = in.Start.Host
		err = a.inbox.admit(l, nothing, noPlans)
	}
	if err == nil && in.Start.Run != l.Header.Run {
		err = refusal("the plan is of run %q, its envelope of %q", in.Start.Run, l.Header.Run)
	}
	if err == nil && in.Turn == 0 {
		err = refusal("the controller is of an older version than the agent, and cannot steer it")
	}
	if err == nil {
		_, err = a.cfg.Policy.rule(l.Header.Issuer)
	}
	if err == nil {
		ack.Ends, ack.Hears, ack.Each, ack.Others = in.Sealed, in.Place > 0, in.Each, a.runs.others(l.Header.Run)
		o.within = in.Within && in.Sealed
		var first *receipt
		if o.within {
			first = &receipt{ack, func() { a.inbox.acknowledge(l, ack, in.HostKey, true) }}
		}
		err = a.begin(l.Header, &in, first)
	}
	if err != nil {
		o.within, ack.Ends = false, false
		a.inbox.refuse(l.msg, l.Header.Kind, err)
		ack.Err = a.inbox.because(err).Error()
		var refused *wire.RefusedError
		ack.Replayed = errors.As(err, &refused) && refused.Reason == wire.Replayed
	}
	o.ack, o.key, o.sealed = ack, in.HostKey, in.Sealed
}

// begin starts a play in the session of its host, and makes the session if there is none. first is sent with the
// first batch.
func (a *Agent) begin(h wire.Header, in *wire.Opening, first *receipt) error {
	r, err := a.join(h.Issuer, in.Start.Run, in.RunKey, in.Each)
	if err != nil {
		return err
	}
	defer r.release()
	for {
		s, err := a.session(r, in)
		if err != nil {
			return err
		}
		s.line.dated(h)
		if err = s.begin(in, first); !errors.Is(err, errOver) {
			return err
		}
		<-s.over
	}
}

// session finds the session of a host in a run, or makes it.
func (a *Agent) session(r *run, in *wire.Opening) (*session, error) {
	host := in.Start.Host
	a.mu.Lock()
	s := r.sessions[host]
	a.mu.Unlock()
	if s != nil && s.line.key == in.HostKey {
		return s, nil
	}
	if s != nil { // its controller has forgotten it
		s.drop(errReplaced)
		<-s.over
	}
	a.dismiss(func(m *formerSession) bool { return m.line.run == r.id && m.line.host == host })
	log, err := a.beginLog(r, in)
	if err != nil {
		return nil, err
	}
	s = newSession(r, in, log)
	a.enter(s)
	return s, nil
}

// enter registers a session and starts it.
func (a *Agent) enter(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.run.sessions[s.line.host] = s
	s.run.holds++
	s.live(a.ctx)
}

func (a *Agent) beginLog(r *run, in *wire.Opening) (*store.Log, error) {
	if a.store == nil {
		return nil, nil
	}
	return a.store.Begin(store.Head{
		Run: r.id, Host: in.Start.Host, Issuer: r.issuer, HostKey: in.HostKey, RunKey: in.RunKey, Lease: in.Start.Lease,
		Window: in.Start.Window, Opened: a.cfg.Now(), Boot: a.boot,
	})
}
