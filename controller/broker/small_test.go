package broker

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"hark/agent/wire/natstest"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/ledger"
)

// TestASmallBrokerKeepsRecords: the room that bounds in bytes keep for the roster and for duties is not taken from
// records and facts, where the disk is small. A large broker has all bounds.
func TestASmallBrokerKeepsRecords(t *testing.T) {
	for _, c := range []struct {
		room    int64
		bounded bool
	}{{300 << 20, false}, {100 << 30, true}} {
		s := natstest.Start(t, &server.Options{JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: c.room})
		conn := natstest.Connect(t, s.ClientURL())
		for range 2 { // at its next start, too
			if err := EnsureStreams(t.Context(), streams.Manager{Conn: conn}, zerolog.New(zerolog.NewTestWriter(t))); err != nil {
				t.Fatal(err)
			}
		}
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{roster.StreamName, ledger.StreamName, factcache.StreamName, dutystate.StreamName} {
			stream, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Errorf("%d MB: %s: %v", c.room>>20, name, err)
				continue
			}
			has := stream.CachedInfo().Config.MaxBytes > 0
			if own := name == ledger.StreamName || name == factcache.StreamName; has != (own || c.bounded) {
				t.Errorf("%d MB: that %s has a bound is %v", c.room>>20, name, has)
			}
		}
	}
}
