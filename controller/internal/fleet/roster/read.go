package roster

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// depth is how much of what agents say is looked at.
type depth int

const (
	// passing leaves out what their heartbeats say, and takes of those only that they came: who it was, and that it
	// was later than its hello, decides nothing but how long an agent is waited for, and the broker, which tells when
	// a message came, could put back an earlier one anyway.
	passing depth = iota
	whole
)

// record gathers the messages of one agent.
type record struct {
	depth           depth
	verified        *wire.Verified
	key             string // of the one who said hello, "" if nobody did
	body            wire.Hello
	beat            wire.Beat
	beatAt          time.Time
	since, seen, by time.Time
	forgotten       time.Time // what came until then counts for nothing
	// overwritten says that something is on a subject of the agent's that neither it nor the registrar has put there.
	overwritten bool
}

// take takes one message. It passes over those that are not signed by the agent whose subject they are on, or that say
// of it what cannot be, and notes that they stand in the place of its own.
func (r *record) take(id string, k wire.Kind, m streams.Message) {
	at := m.Time
	switch {
	case m.Answer:
		r.overwritten = true
		return
	case k == wire.KindBeat && r.depth == passing:
		r.heard(at)
		return
	case k == wire.KindBye && string(m.Data) == removed:
		r.forgotten = at
		return
	}
	parse := wire.Parse
	if k == wire.KindHello {
		parse = r.verified.Parse
	}
	f, err := parse(m.Data)
	if err != nil || !f.Signed || wire.IDOf(f.Header.Issuer) != id || f.Header.Kind != k {
		r.overwritten = true
		return
	}
	switch k {
	case wire.KindHello:
		var c wire.Codec
		var body wire.Hello
		if f.Body(&c, "", wire.Keys{}, &body) != nil || body.Name == "" {
			return
		}
		body.ID = id // of the key, whatever it says
		r.key, r.body, r.since = f.Header.Issuer, body, at
	case wire.KindBeat:
		var c wire.Codec
		var body wire.Beat
		if f.Body(&c, "", wire.Keys{}, &body) == nil { // it is there all the same
			r.beat, r.beatAt = body, at
		}
	case wire.KindBye:
		r.by = at
	}
	r.heard(at)
}

// heard notes when the agent said something.
func (r *record) heard(at time.Time) {
	if at.After(r.seen) {
		r.seen = at
	}
}

func (r *record) agent(now time.Time) (Agent, bool) {
	if r.key == "" || !r.since.After(r.forgotten) {
		return Agent{}, false
	}
	a := Agent{Hello: r.body, Key: r.key, Since: r.since, Seen: r.seen}
	if !r.beatAt.Before(r.since) { // else it may be that of an earlier process
		a.Beat = r.beat
	}
	a.Left = !r.by.Before(r.seen)
	a.Present = now.Sub(r.seen) < Absent && !a.Left
	return a, true
}

// doubtful reports whether the agent may be there although its record does not say so, as somebody has overwritten that.
func (r *record) doubtful(now time.Time) bool {
	a, ok := r.agent(now)
	return r.overwritten && !(ok && a.Present)
}

// removed is what the registrar puts in the place of the bye of an agent that it has removed. No answer of the broker's
// is like that, but for one that has a message of a stream, and such answers have headers.
const removed = "removed"

// forget takes what the stream has of an agent out of it, and leaves a word in the place of its bye. A broker that is
// killed finds messages again that others had replaced before they were purged: what is older than that word counts for
// nothing.
func forget(ctx context.Context, m streams.Manager, id string) error {
	js, err := m.JetStream()
	if err != nil {
		return err
	}
	stream, err := js.Stream(ctx, StreamName)
	if err != nil {
		return err
	}
	if _, err := js.Publish(ctx, wire.Presence(id, wire.KindBye), []byte(removed)); err != nil {
		return err
	}
	for _, k := range []wire.Kind{wire.KindHello, wire.KindBeat} {
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(wire.Presence(id, k))); err != nil {
			return err
		}
	}
	return nil
}
