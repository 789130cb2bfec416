//go:build hostile

package hostile

import (
	"context"
	"strings"

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
		if wire.SubjectKind(m.Subject) == wire.KindPlan || wire.SubjectKind(m.Subject) == wire.KindExec {
			c.h.handed(m)
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
	switch f.Header.Kind {
	case wire.KindPlan:
		var in wire.Opening
		if f.Body(&h.codec, wire.SealBox, keys, &in) != nil {
			return
		}
		s.start, s.key = in.Start, in.HostKey
	case wire.KindExec:
		var in wire.Order
		if f.Body(&h.codec, wire.SealBox, keys, &in) != nil {
			return
		}
		s.start, s.key = wire.Start{Run: in.Exec.Run, Host: in.Exec.Origin, Play: in.Exec.Play}, in.HostKey
	}
	h.mu.Lock()
	if had := h.sessions[s.run]; had != nil && f.Header.Kind == wire.KindPlan {
		had.start = s.start
		s = had
	} else if had == nil {
		h.sessions[s.run] = s
	}
	hook := h.onPlan
	h.mu.Unlock()
	if hook != nil && f.Header.Kind == wire.KindPlan {
		hook(s)
	}
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
		return c.instead(ctx, subject, f, s, a, wire.Packing{})
	case wire.KindExecDone:
		var d wire.ExecDone
		if result == nil || f.Body(&c.h.codec, wire.SealHost, wire.Keys{Host: &s.key}, &d) != nil {
			break
		}
		result(s, &d)
		return c.instead(ctx, subject, f, s, d, wire.Packing{Sign: c.h.identity})
	}
	return c.Transport.Request(ctx, subject, data)
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

// learned tells whether any answer that the agent got holds a text.
func (h *hostile) learned(text string) bool {
	for _, one := range h.answers() {
		if strings.Contains(plain(one.answer), text) {
			return true
		}
	}
	return false
}
