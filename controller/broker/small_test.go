package broker

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

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
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: c.room})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		if !s.ReadyForConnections(20 * time.Second) {
			t.Fatal("the server does not start")
		}
		conn, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
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
