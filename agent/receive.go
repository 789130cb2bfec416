package agent

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"syscall"
	"time"

	"hark/agent/wire"
)

// letter is a message that has passed the checks of its envelope.
type letter struct {
	*wire.Frame
	msg wire.Msg
}

// receive checks a message and passes it on. It logs and counts refused messages. It answers the sender only if the
// sender proves its identity, on a reply subject of its own. broadcast says that the message may be for all agents of
// a run.
func (a *Agent) receive(m wire.Msg, k wire.Kind, broadcast bool, f func(*letter)) {
	frame, err := wire.Parse(m.Data)
	if err != nil {
		a.refuse(m, k, err)
		if frame != nil { // of a newer version
			a.answer(&letter{Frame: frame, msg: m}, wire.Ack{Run: frame.Header.Run, Err: err.Error()})
		}
		return
	}
	if !broadcast && a.handover.others(k, frame.Header.Run) {
		return
	}
	l := &letter{Frame: frame, msg: m}
	demands := wire.Demands{Trusted: a.cfg.Trusted, Fleet: a.cfg.Fleet, ID: a.id, Run: broadcast, Kind: k}
	demands.Now = func() time.Time { return a.clocks.now(frame.Header.Issuer, a.cfg.Now()) }
	// The time in a clock message may differ from this host's, and its challenge shows that it is fresh. An Advance
	// is numbered and sealed with the key of the run, so it needs no date: otherwise a host whose clock has just
	// stepped would wait for the next renewal.
	if k == wire.KindClock || broadcast && k == wire.KindAdvance {
		demands.Now = func() time.Time { return time.UnixMilli(frame.Header.NotBefore) }
	}
	if err := demands.Check(frame); err != nil {
		a.refuse(m, k, err)
		if frame.Signed && !a.misdated(l, err) {
			a.answer(l, wire.Ack{Run: frame.Header.Run, Err: err.Error()})
		}
		return
	}
	f(l)
}

func (a *Agent) refuse(m wire.Msg, k wire.Kind, err error) {
	reason := wire.Malformed
	var r *wire.RefusedError
	var os syscall.Errno
	switch {
	case errors.As(err, &r):
		reason = r.Reason
	case errors.As(err, &os):
		reason = wire.Unable
	}
	a.cfg.Logger.Warn().Str("kind", string(k)).Str("subject", m.Subject).Str("reason", string(reason)).
		Uint64("count", a.refused.add(reason, a.cfg.Now())).AnErr("cause", err).Msg("message refused")
}

// because adds to an error its likely cause: a directory that is gone has many names.
func (a *Agent) because(err error) error {
	var os syscall.Errno
	if trouble := a.trouble(); errors.As(err, &os) && trouble != nil {
		return fmt.Errorf("%w (%w)", trouble, err)
	}
	return err
}

// answer replies to a signed message with a body in clear, signed by this agent.
func (a *Agent) answer(l *letter, body any) {
	a.reply(l, body, wire.Packing{Sign: a.cfg.Identity})
}

// acknowledge answers a message that contains the key of a session. With sealed, the answer is sealed with that key,
// which the operator's message had sealed for this agent only. If the message was refused, the answer is signed,
// since its sender may be an impostor.
func (a *Agent) acknowledge(l *letter, ack wire.Ack, key wire.Key, sealed bool) {
	if !sealed || ack.Err != "" {
		a.answer(l, ack)
		return
	}
	a.reply(l, ack, wire.Packing{Key: &key, Seal: wire.SealHost})
}

func (a *Agent) reply(l *letter, body any, p wire.Packing) {
	h := l.Header
	if l.msg.Respond == nil || !wire.OwnReply(l.msg.Reply, wire.IDOf(h.Issuer)) {
		return
	}
	p.Now = a.cfg.Now
	frame, err := a.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: h.Run, To: h.Nonce}, body, p)
	if err == nil {
		err = l.msg.Respond(frame)
	}
	if err != nil {
		a.cfg.Logger.Debug().Str("kind", string(h.Kind)).AnErr("cause", err).Msg("cannot answer")
	}
}

// refusals counts refused messages by reason.
type refusals struct {
	mu sync.Mutex
	n  map[wire.Reason]uint64 // guarded by mu
	// last are the latest ones, oldest first; guarded by mu
	last []refused
}

// refused is one refused message.
type refused struct {
	why wire.Reason
	at  time.Time
}

// lateness is the period that lately counts, most is how many refusals are remembered.
const (
	lateness     = time.Hour
	mostRefusals = 1000
)

// lately counts those of the last hour by reason.
func (r *refusals) lately(now time.Time) map[wire.Reason]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out map[wire.Reason]uint64
	for _, x := range r.last {
		if now.Sub(x.at) > lateness {
			continue
		}
		if out == nil {
			out = map[wire.Reason]uint64{}
		}
		out[x.why]++
	}
	return out
}

func (r *refusals) add(why wire.Reason, now time.Time) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= mostRefusals {
		r.last = append(r.last[:0:0], r.last[mostRefusals/2:]...)
	}
	r.last = append(r.last, refused{why, now})
	if r.n == nil {
		r.n = map[wire.Reason]uint64{}
	}
	r.n[why]++
	return r.n[why]
}

// Refused counts the messages that were not obeyed, by reason.
func (a *Agent) Refused() map[wire.Reason]uint64 {
	a.refused.mu.Lock()
	defer a.refused.mu.Unlock()
	return maps.Clone(a.refused.n)
}
