package agent

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"syscall"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// letter is a message that has passed the checks of its envelope.
type letter struct {
	*wire.Frame
	msg wire.Msg
}

// inbox takes in the operators' messages: it checks and answers them, and remembers those that were obeyed.
type inbox struct {
	cfg      *Config
	id       string
	codec    *wire.Codec
	journal  *store.Journal
	store    *store.Store // nil in memory
	handover *handover
	refused  *refusals
	clocks   clocks
}

// receive checks a message and passes it on. It logs and counts refused messages. It answers the sender only if the
// sender proves its identity, on a reply subject of its own. broadcast says that the message may be for all agents of
// a run.
func (b *inbox) receive(m wire.Msg, k wire.Kind, broadcast bool, f func(*letter)) {
	frame, err := wire.Parse(m.Data)
	if err != nil {
		b.refuse(m, k, err)
		if frame != nil { // of a newer version
			b.answer(&letter{Frame: frame, msg: m}, wire.Ack{Run: frame.Header.Run, Err: err.Error()})
		}
		return
	}
	if !broadcast && b.handover.others(k, frame.Header.Run) {
		return
	}
	l := &letter{Frame: frame, msg: m}
	demands := wire.Demands{Trusted: b.cfg.Trusted, Fleet: b.cfg.Fleet, ID: b.id, Run: broadcast, Kind: k}
	demands.Now = func() time.Time { return b.clocks.now(frame.Header.Issuer, b.cfg.Now()) }
	// The time in a clock message may differ from this host's, and its challenge shows that it is fresh. An Advance
	// is numbered and sealed with the key of the run, so it needs no date: otherwise a host whose clock has just
	// stepped would wait for the next renewal.
	if k == wire.KindClock || broadcast && k == wire.KindAdvance {
		demands.Now = func() time.Time { return time.UnixMilli(frame.Header.NotBefore) }
	}
	if err := demands.Check(frame); err != nil {
		b.refuse(m, k, err)
		if frame.Signed && !b.misdated(l, err) {
			b.answer(l, wire.Ack{Run: frame.Header.Run, Err: err.Error()})
		}
		return
	}
	f(l)
}

func (b *inbox) refuse(m wire.Msg, k wire.Kind, err error) {
	reason := wire.Malformed
	var r *wire.RefusedError
	var os syscall.Errno
	switch {
	case errors.As(err, &r):
		reason = r.Reason
	case errors.As(err, &os):
		reason = wire.Unable
	}
	b.cfg.Logger.Warn().Str("kind", string(k)).Str("subject", m.Subject).Str("reason", string(reason)).
		Uint64("count", b.refused.add(reason, b.cfg.Now())).AnErr("cause", err).Msg("message refused")
}

// because adds to an error its likely cause: a directory that is gone has many names.
func (b *inbox) because(err error) error {
	var os syscall.Errno
	if trouble := trouble(b.store); errors.As(err, &os) && trouble != nil {
		return fmt.Errorf("%w (%w)", trouble, err)
	}
	return err
}

// answer replies to a signed message with a body in clear, signed by this agent.
func (b *inbox) answer(l *letter, body any) {
	b.reply(l, body, wire.Packing{Sign: b.cfg.Identity})
}

// acknowledge answers a message that contains the key of a session. With sealed, the answer is sealed with that key,
// which the operator's message had sealed for this agent only. If the message was refused, the answer is signed,
// since its sender may be an impostor.
func (b *inbox) acknowledge(l *letter, ack wire.Ack, key wire.Key, sealed bool) {
	if !sealed || ack.Err != "" {
		b.answer(l, ack)
		return
	}
	b.reply(l, ack, wire.Packing{Key: &key, Seal: wire.SealHost})
}

func (b *inbox) reply(l *letter, body any, p wire.Packing) {
	h := l.Header
	if l.msg.Respond == nil || !wire.OwnReply(l.msg.Reply, wire.IDOf(h.Issuer)) {
		return
	}
	p.Now = b.cfg.Now
	frame, err := b.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: h.Run, To: h.Nonce}, body, p)
	if err == nil {
		err = l.msg.Respond(frame)
	}
	if err != nil {
		b.cfg.Logger.Debug().Str("kind", string(h.Kind)).AnErr("cause", err).Msg("cannot answer")
	}
}

// admit accepts a message once, and rejects it if its run is over.
func (b *inbox) admit(l *letter, tombstones ...string) error {
	return b.let(l, b.journal.Take, tombstones...)
}

// let is admit with the function that stores the message's nonce.
func (b *inbox) let(l *letter, take func(nonce string, expires int64) (bool, error), tombstones ...string) error {
	for _, t := range tombstones {
		if b.journal.Had(tombstone(t, l)) {
			return &wire.RefusedError{Reason: wire.Replayed, Text: "run " + l.Header.Run + " is over"}
		}
	}
	fresh, err := take(l.Header.Nonce, b.expiry(l.Header))
	if err != nil {
		return err
	}
	if !fresh {
		return &wire.RefusedError{Reason: wire.Replayed, Text: "it was obeyed before"}
	}
	return nil
}

// bury leaves a tombstone: later messages of this run are refused.
func (b *inbox) bury(l *letter, which string) {
	if _, err := b.journal.Take(tombstone(which, l), b.expiry(l.Header)); err != nil {
		b.cfg.Logger.Error().AnErr("cause", err).Msg("cannot write the journal")
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

// all counts them by reason.
func (r *refusals) all() map[wire.Reason]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.n)
}

// Refused counts the messages that were not obeyed, by reason.
func (a *Agent) Refused() map[wire.Reason]uint64 {
	return a.inbox.refused.all()
}
