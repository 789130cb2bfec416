package roster

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// The roster has a bound. A broker that has reached it takes what agents say that it knows, and nothing of others.
func TestTheRosterHasABound(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	if err := Bound(t.Context(), streams.Manager{Conn: f.conn}); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(f.conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	if cfg.MaxMsgs != mostWords || cfg.MaxBytes <= 0 {
		t.Errorf("%d words, %d bytes", cfg.MaxMsgs, cfg.MaxBytes)
	}
	cfg.MaxMsgs = 5
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t)
	f.say(a, a, wire.KindHello, wire.Hello{Name: "web1"})
	f.say(a, a, wire.KindBeat, wire.Beat{})
	for i := range 20 {
		_, _ = f.js.Publish(wire.Presence(fmt.Sprint("invented", i), wire.KindHello), []byte("{}"))
	}
	f.say(a, a, wire.KindHello, wire.Hello{Name: "web1", Version: "2"})
	f.say(a, a, wire.KindBeat, wire.Beat{})
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != 5 {
		t.Errorf("%d words, %v", info.State.Msgs, err)
	}
	all, err := f.roster(t.TempDir()).All(t.Context())
	if err != nil || len(all) != 1 || all[0].Version != "2" || !all[0].Present {
		t.Errorf("%+v, %v", all, err)
	}
}

// The registrar sweeps out what nobody has enrolled and said, and nothing else.
func TestInventedIdsAreSweptOut(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	enrolled, old, gone, hit := newAgent(t), newAgent(t), newAgent(t), newAgent(t)
	f.say(enrolled, enrolled, wire.KindHello, wire.Hello{Name: "web1"})
	f.say(old, old, wire.KindHello, wire.Hello{Name: "old"}) // whom the book does not have
	put := func(id string, k wire.Kind, text string) {
		t.Helper()
		if _, err := f.js.Publish(wire.Presence(id, k), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put(gone.ID(), wire.KindBye, removed)
	put(old.ID(), wire.KindBeat, "{}")
	put(hit.ID(), wire.KindHello, "{}") // whose every word was overwritten
	s := sweeper{manager: streams.Manager{Conn: f.conn}, enrolled: func() map[string]bool {
		return map[string]bool{enrolled.ID(): true, hit.ID(): true}
	}}
	invent := func(n int) {
		t.Helper()
		for i := range n {
			put(fmt.Sprintf("invented%d", i), wire.KindHello, `{"stream":"HARK_AGENTS"}`)
		}
	}
	invent(sweepFrom)
	if n, err := s.sweep(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were swept when there were few: %v", n, err)
	}
	put("one-more", wire.KindBye, "{}")
	invent(sweepFrom + 2)
	if n, err := s.sweep(t.Context()); err != nil || n != sweepFrom+3 {
		t.Errorf("%d were swept: %v", n, err)
	}
	left := 0
	if _, err := streams.Each(t.Context(), f.conn, StreamName, wire.PresenceOfAll("*"), 1, func(streams.Message) { left++ }); err != nil || left != 5 {
		t.Errorf("%d words are left, %v", left, err)
	}
}
