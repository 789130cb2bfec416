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

// receive checks a message and hands it on. What is refused is logged and counted; the sender is told only if it
// shows who it is, on a reply subject of its own. broadcast says that the message may be for all agents of a run.
func (a *Agent) receive(m wire.Msg, k wire.Kind, broadcast bool, f func(*letter)) {
	frame, err := wire.Parse(m.Data)
	if err != nil {
		a.refuse(m, k, err)
		if frame != nil { // of a newer version
			a.answer(&letter{Frame: frame, msg: m}, wire.Ack{Run: frame.Header.Run, Err: err.Error()})
		}
		return
	}
	l := &letter{Frame: frame, msg: m}
	demands := wire.Demands{Trusted: a.cfg.Trusted, Fleet: a.cfg.Fleet, ID: a.id, Run: broadcast, Kind: k}
	demands.Now = func() time.Time { return a.clocks.now(frame.Header.Issuer, a.cfg.Now()) }
	if k == wire.KindClock { // its time is what it is about; the challenge in it shows that it is fresh
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

// because is an error with what may be behind it: a directory that is gone has many names.
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

// acknowledge answers what has brought the key of a session: with sealed, by that key, which the operator's message
// had sealed for this agent alone. What was not obeyed is answered with a signature, since its sender may not be who
// he seems.
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

// refused is one of them.
type refused struct {
	why wire.Reason
	at  time.Time
}

// lateness is what counts as lately, most how many of those are remembered.
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
