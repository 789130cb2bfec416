package agent

import (
	"maps"
	"sync"

	"hark/agent/wire"
)

// run is one run: the sessions of its hosts and the subscription to messages for all of its agents.
type run struct {
	agent  *Agent
	id     string
	issuer string            // the operator who opened it: nobody else may command it
	key    wire.Key          // the run's
	sub    wire.Subscription // to what is sent to all agents of the run

	sessions map[string]*session // by host; guarded by agent.mu
	// holds are the openings and sessions that need the run; guarded by agent.mu.
	holds int
	plans plans
}

// activeRuns are the runs that the agent has sessions or openings of.
type activeRuns struct {
	mu   *sync.Mutex     // the agent's: a hand-over looks at runs, openings and calls at one moment
	byID map[string]*run // guarded by mu
}

// hold holds a known run; it returns nil if the run is not known.
func (a *activeRuns) hold(issuer, id string, key wire.Key) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.byID[id]
	if r == nil {
		return nil, nil
	}
	if r.issuer != issuer || r.key != key {
		return nil, refusal("run %s was opened by somebody else", id)
	}
	r.holds++
	return r, nil
}

func (a *activeRuns) sessions() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []*session
	for _, r := range a.byID {
		for _, s := range r.sessions {
			out = append(out, s)
		}
	}
	return out
}

// playing reports whether there is an active session. It assumes mu held. A session whose controller is gone, and that
// only waits to report its results, does not count: its log is on the disk, and the next process of this agent takes it
// over.
func (a *activeRuns) playing() bool {
	for _, r := range a.byID {
		if r.holds > len(r.sessions) { // an opening
			return true
		}
		for _, s := range r.sessions {
			if !s.dead.Load() {
				return true
			}
		}
	}
	return false
}

// others returns the active plays of other runs.
func (a *activeRuns) others(run string) []wire.Other {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []wire.Other
	for id, r := range a.byID {
		if id == run {
			continue
		}
		for _, s := range r.sessions {
			if since, playing := s.plays(); playing {
				out = append(out, wire.Other{Run: id, Operator: r.issuer, Since: since})
				break
			}
		}
	}
	return out
}

// join finds the run of an opening, or begins it: subscribes to messages for all agents of the run. The caller holds
// the run until it releases it.
func (a *Agent) join(issuer, id string, key wire.Key, each bool) (*run, error) {
	if r, err := a.runs.hold(issuer, id, key); r != nil || err != nil {
		return r, err
	}
	r := &run{agent: a, id: id, issuer: issuer, key: key, sessions: map[string]*session{}}
	if err := r.listen(each); err != nil {
		r.unsubscribe()
		return nil, err
	}
	a.mu.Lock()
	if a.runs.byID[id] == nil {
		a.runs.byID[id], r.holds = r, 1
		a.mu.Unlock()
		return r, nil
	}
	a.mu.Unlock()
	r.unsubscribe() // the openings of two hosts came at once
	return a.join(issuer, id, key, each)
}

// release ends a hold. The agent forgets the run after the last one.
func (r *run) release() {
	a := r.agent
	a.mu.Lock()
	r.holds--
	last := r.holds == 0
	if last {
		delete(a.runs.byID, r.id)
	}
	a.mu.Unlock()
	if last {
		r.unsubscribe()
		a.rest()
	}
}

// orphan reports whether all sessions of the run are dead. It assumes agent.mu held.
func (r *run) orphan() bool {
	for _, s := range r.sessions {
		if !s.dead.Load() {
			return false
		}
	}
	return len(r.sessions) > 0 && r.holds == len(r.sessions)
}

// listen subscribes to messages for all agents of the run. The broker receives the subscription before the
// acknowledgement, which goes over the same connection, so no Advance is missed after it.
func (r *run) listen(each bool) error {
	a := r.agent
	subject, kindOf := wire.RunSubject(r.id, "*"), func(m wire.Msg) wire.Kind { return wire.SubjectKind(m.Subject) }
	if each {
		subject, kindOf = wire.ToEach(r.id), func(m wire.Msg) wire.Kind { return wire.KindIn(m.Data) }
	}
	kinds := map[wire.Kind]func(*letter){wire.KindAdvance: r.takeAdvance, wire.KindCancel: a.handleCancel,
		wire.KindEnd: a.handleEnd}
	s, err := a.cfg.Transport.Subscribe(subject, func(m wire.Msg) {
		kind := kindOf(m)
		if f := kinds[kind]; f != nil {
			a.inbox.receive(m, kind, true, f)
		}
	})
	if err == nil {
		r.sub = s
	}
	return err
}

func (r *run) unsubscribe() {
	if r.sub != nil {
		_ = r.sub.Unsubscribe()
	}
}

// takeAdvance passes an Advance to every session of the run.
func (r *run) takeAdvance(l *letter) {
	a := r.agent
	if l.Header.Issuer != r.issuer || l.Header.Run != r.id {
		a.inbox.refuse(l.msg, wire.KindAdvance, refusal("run %s was opened by somebody else", r.id))
		return
	}
	var adv wire.Advance
	if err := l.Body(a.codec, wire.SealRun, wire.Keys{Run: &r.key}, &adv); err != nil {
		a.inbox.refuse(l.msg, wire.KindAdvance, err)
		return
	}
	for _, s := range r.all() {
		s.advance(adv)
	}
}

func (r *run) all() []*session {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	out := make([]*session, 0, len(r.sessions))
	for _, s := range r.sessions {
		out = append(out, s)
	}
	return out
}

// owned finds the run of a Cancel or End if its sender opened it, nil if this agent has no such run.
func (a *Agent) owned(l *letter) *run {
	a.mu.Lock()
	r := a.runs.byID[l.Header.Run]
	a.mu.Unlock()
	if r != nil && r.issuer != l.Header.Issuer {
		a.inbox.refuse(l.msg, l.Header.Kind, refusal("run %s was opened by somebody else", r.id))
		return nil
	}
	return r
}

// handleCancel ends the steps of a run; its always sections still run, and its sessions report how it ended. The
// message comes twice, to all agents and to each. It does not end calls of always sections.
func (a *Agent) handleCancel(l *letter) {
	var c wire.Cancel
	if err := l.Body(a.codec, "", wire.Keys{}, &c); err != nil {
		a.inbox.refuse(l.msg, wire.KindCancel, err)
		return
	}
	a.inbox.bury(l, noPlans)
	if r := a.owned(l); r != nil {
		for _, s := range r.all() {
			s.cancelPlay(c.Grace)
		}
	}
	a.calls.stop(l.Header.Run, l.Header.Issuer, errCancelled, c.Grace > 0)
	a.inbox.answer(l, wire.Ack{Run: l.Header.Run})
}

// handleEnd drops a run.
func (a *Agent) handleEnd(l *letter) {
	a.inbox.bury(l, nothing)
	var told *controllerLink
	if r := a.owned(l); r != nil {
		for _, s := range r.all() {
			s.drop(errEnded)
			told = s.line
		}
	}
	a.dismiss(func(m *formerSession) bool { return m.line.run == l.Header.Run && m.line.issuer == l.Header.Issuer })
	a.calls.stop(l.Header.Run, l.Header.Issuer, errEnded, false)
	if l.msg.Respond == nil && told != nil && told.sealed {
		told.tellEnd()
	}
	a.inbox.answer(l, wire.Ack{Run: l.Header.Run})
}

// tellEnd confirms that the end of the run, which was sent to all its agents at once, has arrived here. If the
// confirmation is lost the controller sends the end to this agent only.
func (l *controllerLink) tellEnd() {
	q, err := l.pack(wire.Results(l.run, l.agent.id, wire.KindEnd), wire.KindEnd, wire.End{Run: l.run}, wire.Packing{})
	if err == nil {
		err = l.agent.cfg.Transport.Publish(q.subject, q.frame)
	}
	if err != nil {
		l.agent.cfg.Logger.Debug().Str("run", l.run).AnErr("cause", err).Msg("cannot tell that the run has ended")
	}
}

// What a tombstone still permits. A cancelled run may delegate the calls of its always sections.
const (
	noPlans = "noplan:"
	nothing = "over:"
)

// tombstone names the run of a letter. The issuer is part of it: nobody can bury the run of another.
func tombstone(which string, l *letter) string {
	return which + wire.IDOf(l.Header.Issuer) + ":" + l.Header.Run
}

// forget removes a session from its run. Without sessions the run is over, and its openings are refused from then on.
func (r *run) forget(s *session) {
	a := r.agent
	a.mu.Lock()
	if r.sessions[s.line.host] == s {
		delete(r.sessions, s.line.host)
	}
	if len(r.sessions) == 0 {
		maps.DeleteFunc(a.openings, func(_ string, o *opening) bool { return o.run == r.id && o.answered() })
	}
	a.mu.Unlock()
	r.release()
}
