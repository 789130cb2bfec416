package roster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// Whoever has access to the broker can have it answer to subjects of agents that are not there. The stream takes no
// more than mostWords then, and goes on to take what agents say that it has a word of. The registrar sweeps out the
// rest.
const (
	mostWords = 600_000 // of 200,000 agents
	// sweepEvery is how often the registrar counts the words. It sweeps when there are sweepFrom more than there should.
	sweepEvery = 10 * time.Second
	sweepFrom  = 1000
	wordsEach  = 3 // of an agent
)

// sizes are the most bytes that the roster may take; the first for which a broker has room counts. The last is none.
var sizes = []int64{1 << 30, 256 << 20, 64 << 20, 0}

// Sweep takes out of the stream, until ctx is over, what it has of ids that nobody has enrolled and that have said
// nothing themselves, as soon as that is much. enrolled returns the ids of all agents in the book. wrong is told of
// what goes wrong, once for each reason, and swept of how many ids were swept.
func Sweep(ctx context.Context, m streams.Manager, enrolled func() map[string]bool, swept func(ids int),
	wrong func(error)) {
	s := sweeper{manager: m, enrolled: enrolled}
	last := ""
	for {
		n, err := s.sweep(ctx)
		if n > 0 {
			swept(n)
		}
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			wrong(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}

type sweeper struct {
	manager  streams.Manager
	enrolled func() map[string]bool
	left     uint64 // how many words there were after it was swept last
}

// speaks reports whether a message is a word of the agent with that id, or the registrar's word that it was removed.
func speaks(id string, m streams.Message) bool {
	if m.Answer {
		return false
	}
	f, err := wire.Parse(m.Data)
	return string(m.Data) == removed || err == nil && f.Signed && wire.IDOf(f.Header.Issuer) == id
}

// sweep looks once, and returns how many ids it took out.
func (s *sweeper) sweep(ctx context.Context) (ids int, err error) {
	js, err := s.manager.JetStream()
	if err != nil {
		return 0, err
	}
	stream, err := js.Stream(ctx, StreamName)
	if err != nil {
		return 0, err
	}
	book := s.enrolled()
	if stream.CachedInfo().State.Msgs <= max(s.left, uint64(wordsEach*len(book)))+sweepFrom {
		return 0, nil
	}
	invented := map[string]bool{}
	_, err = streams.Each(ctx, s.manager.Conn, StreamName, wire.PresenceOfAll("*"), 1, func(m streams.Message) {
		id := wire.SubjectID(m.Subject)
		if is, had := invented[id]; !book[id] && (is || !had) {
			invented[id] = !speaks(id, m)
		}
	})
	if err != nil {
		return 0, fmt.Errorf("cannot read the roster: %w", err)
	}
	book = s.enrolled() // some may have come meanwhile
	for id, is := range invented {
		if !is || book[id] {
			continue
		}
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(wire.Presence(id, "*"))); err != nil {
			return ids, fmt.Errorf("cannot sweep the roster: %w", err)
		}
		ids++
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return ids, err
	}
	s.left = info.State.Msgs
	return ids, nil
}
