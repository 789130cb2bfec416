//go:build hostile

package hostile

import (
	"context"

	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// hands are the hostile agent's on its own connection.
type hands struct {
	*nats.Transport
	h *hostile
}

// Subscribe implements wire.Transport: it reads what the agent is handed.
func (c hands) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	return c.Transport.Subscribe(subject, func(m wire.Msg) {
		switch wire.SubjectKind(m.Subject) {
		case wire.KindPlan, wire.KindExec:
			c.h.handed(m)
		case wire.KindAdvance:
			c.h.advanced(m)
		}
		f(m)
	})
}

// handed opens a plan or a call as the agent itself will.
func (h *hostile) handed(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return
	}
	keys := wire.Keys{Own: h.identity}
	s := &session{h: h, run: f.Header.Run, issuer: f.Header.Issuer, sent: map[uint64][]wire.Event{}}
	var exec *wire.Exec
	switch f.Header.Kind {
	case wire.KindPlan:
		var in wire.Opening
		if f.Body(&h.codec, wire.SealBox, keys, &in) != nil {
			return
		}
		s.start, s.key, s.runKey = in.Start, in.HostKey, in.RunKey
		h.hold(in.Start)
	case wire.KindExec:
		var in wire.Order
		if f.Body(&h.codec, wire.SealBox, keys, &in) != nil {
			return
		}
		s.start, s.key = wire.Start{Run: in.Exec.Run, Host: in.Exec.Origin, Play: in.Exec.Play}, in.HostKey
		h.hold(in.Exec)
		exec = &in.Exec
	}
	h.mu.Lock()
	if had := h.sessions[s.run]; had != nil && f.Header.Kind == wire.KindPlan {
		had.start, had.runKey = s.start, s.runKey
		s = had
	} else if had == nil {
		h.sessions[s.run] = s
	}
	hook, call := h.onPlan, h.onExec
	h.mu.Unlock()
	switch {
	case exec != nil && call != nil:
		call(s, exec)
	case exec == nil && hook != nil:
		hook(s)
	}
}

// advanced reads what all agents of a run are told.
func (h *hostile) advanced(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return
	}
	h.mu.Lock()
	s := h.sessions[f.Header.Run]
	h.mu.Unlock()
	var a wire.Advance
	if s != nil && f.Body(&h.codec, wire.SealRun, wire.Keys{Run: &s.runKey}, &a) == nil {
		h.hold(a)
	}
}

// hold keeps a message that the agent could open.
func (h *hostile) hold(v any) {
	text := plain(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = append(h.holds, text)
}

// opened keeps an answer to the agent's own question, and passes it on.
func (c hands) opened(s *session, k wire.Kind, raw []byte, err error) ([]byte, error) {
	if err != nil || k != wire.KindAsk {
		return raw, err
	}
	var a wire.Answer
	if f, bad := wire.Parse(raw); bad == nil && f.Body(&c.h.codec, wire.SealHost, wire.Keys{Host: &s.key}, &a) == nil {
		c.h.hold(a)
	}
	return raw, nil
}

// Request implements wire.Transport: it alters what the agent says in a session.
func (c hands) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	f, err := wire.Parse(data)
	if err != nil {
		return nil, err
	}
	c.h.mu.Lock()
	s := c.h.sessions[f.Header.Run]
	ask, result := c.h.onAsk, c.h.onResult
	c.h.mu.Unlock()
	if s == nil || f.Header.Seal != wire.SealHost {
		return c.Transport.Request(ctx, subject, data)
	}
	switch f.Header.Kind {
	case wire.KindBatch:
		return c.batch(ctx, subject, f, s)
	case wire.KindAsk:
		var a wire.Ask
		if ask == nil || f.Body(&c.h.codec, wire.SealHost, wire.Keys{Host: &s.key}, &a) != nil {
			break
		}
		ask(s, &a)
		raw, err := c.instead(ctx, subject, f, s, a, wire.Packing{})
		return c.opened(s, f.Header.Kind, raw, err)
	case wire.KindExecDone:
		var d wire.ExecDone
		if result == nil || f.Body(&c.h.codec, wire.SealHost, wire.Keys{Host: &s.key}, &d) != nil {
			break
		}
		result(s, &d)
		return c.instead(ctx, subject, f, s, d, wire.Packing{Sign: c.h.identity})
	}
	raw, err := c.Transport.Request(ctx, subject, data)
	return c.opened(s, f.Header.Kind, raw, err)
}

// instead sends another body under the nonce of a request.
func (c hands) instead(ctx context.Context, subject string, f *wire.Frame, s *session, body any, p wire.Packing) ([]byte, error) {
	p.Key, p.Seal = &s.key, wire.SealHost
	frame, err := c.h.codec.Pack(wire.Header{Kind: f.Header.Kind, Run: f.Header.Run, Nonce: f.Header.Nonce}, body, p)
	if err != nil {
		return nil, err
	}
	return c.Transport.Request(ctx, subject, frame)
}

// batch sends what became of the agent's events, and tells the agent that its own were taken.
func (c hands) batch(ctx context.Context, subject string, f *wire.Frame, s *session) ([]byte, error) {
	keys := wire.Keys{Host: &s.key}
	var b wire.Batch
	if err := f.Body(&c.h.codec, wire.SealHost, keys, &b); err != nil {
		return nil, err
	}
	own := b.Events
	b.Events = nil
	for _, e := range own {
		b.Events = append(b.Events, s.become(e)...)
	}
	acked := wire.Acked{Run: b.Run, Host: b.Host, Seq: own[len(own)-1].Seq}
	nonce := f.Header.Nonce
	if len(b.Events) > 0 {
		raw, err := c.instead(ctx, subject, f, s, b, wire.Packing{Sign: c.h.identity})
		if err != nil {
			return nil, err
		}
		answer, err := wire.Parse(raw)
		if err != nil {
			return nil, err
		}
		var theirs wire.Acked
		if err := answer.Body(&c.h.codec, wire.SealHost, keys, &theirs); err != nil {
			return nil, err
		}
		acked.Seq = s.acknowledged(own, theirs.Seq)
	}
	return c.h.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: s.run, To: nonce}, acked, wire.Packing{Key: &s.key, Seal: wire.SealHost})
}

// become is what is sent in place of an event, the same each time.
func (s *session) become(e wire.Event) []wire.Event {
	s.h.mu.Lock()
	hook := s.h.onEvent
	s.h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, ok := s.sent[e.Seq]; ok {
		return out
	}
	out := []wire.Event{e}
	if hook != nil {
		out = hook(s, e)
	}
	for i := range out {
		s.last++
		out[i].Seq = s.last
	}
	s.sent[e.Seq] = out
	return out
}

// acknowledged is the number of the last of the agent's events of which all that it became was taken.
func (s *session) acknowledged(own []wire.Event, seq uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := own[0].Seq - 1
	for _, e := range own {
		out := s.sent[e.Seq]
		if len(out) > 0 && out[len(out)-1].Seq > seq {
			break
		}
		last = e.Seq
	}
	return last
}

// held is all that the agent could open: plans, calls, what all agents were told, answers.
func (h *hostile) held() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.holds...)
}
