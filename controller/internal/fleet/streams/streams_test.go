package streams

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire/natstest"
)

const name = "THINGS"

// newBroker is a broker with a stream of things.*.*, and a connection to it.
func newBroker(t *testing.T) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	conn := natstest.Connect(t, s.ClientURL())
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return conn, js
}

func config() jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: name, Subjects: []string{"things.>"}, MaxMsgsPerSubject: 1, AllowDirect: true,
		Storage: jetstream.MemoryStorage}
}

func ensure(t *testing.T, conn *nats.Conn) {
	t.Helper()
	if err := Ensure(t.Context(), Manager{Conn: conn}, config()); err != nil {
		t.Fatal(err)
	}
}

func TestEachGivesAllOfAStreamInOrder(t *testing.T) {
	conn, js := newBroker(t)
	count := func(filter string, from uint64) (n int, next uint64) {
		t.Helper()
		last := uint64(0)
		next, err := Each(t.Context(), conn, name, filter, from, func(m Message) {
			if n++; m.Seq <= last || m.Time.IsZero() || m.Subject != "things."+string(m.Data) {
				t.Errorf("after %d: %+v", last, m)
			}
			last = m.Seq
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, next
	}
	if n, _ := count("things.>", 1); n != 0 {
		t.Errorf("without a stream: %d", n)
	}
	ensure(t, conn)
	ensure(t, conn) // the second time it is there
	if n, _ := count("things.>", 1); n != 0 {
		t.Errorf("in an empty stream: %d", n)
	}
	put := func(subject, text string, header nats.Header) {
		t.Helper()
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: subject, Data: []byte(text), Header: header}); err != nil {
			t.Fatal(err)
		}
	}
	const many = 2*batchMessages + 7
	for i := range many {
		kind, header := "a", nats.Header(nil)
		if i%10 == 0 {
			kind, header = "b", nats.Header{"X": {"y"}} // the broker's own headers come beside it
		}
		word := fmt.Sprintf("%d.%s", i, kind)
		put("things."+word, word, header)
	}
	n, next := count("things.>", 1)
	if n != many {
		t.Errorf("of all there are %d", n)
	}
	if n, _ := count("things.*.b", 1); n != many/10+1 {
		t.Errorf("with a filter: %d", n)
	}
	put("things.0.a", "0.a", nil)
	if n, _ := count("things.>", next); n != 1 {
		t.Errorf("since then: %d", n)
	}
	if m, ok, err := Last(t.Context(), conn, name, "things.0.a"); err != nil || !ok || string(m.Data) != "0.a" {
		t.Errorf("the last: %+v, %v, %v", m, ok, err)
	}
	if _, ok, err := Last(t.Context(), conn, name, "things.none.a"); err != nil || ok {
		t.Errorf("of what is not there: %v, %v", ok, err)
	}
}

// TestLargeMessagesComeInSeveralBatches: a batch ends at a number of bytes too.
func TestLargeMessagesComeInSeveralBatches(t *testing.T) {
	conn, js := newBroker(t)
	ensure(t, conn)
	large := strings.Repeat("x", 900<<10)
	for i := range 12 {
		if _, err := js.Publish(t.Context(), fmt.Sprintf("things.%d", i), []byte(large)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if _, err := Each(t.Context(), conn, name, "things.>", 1, func(Message) { n++ }); err != nil || n != 12 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestReadersLeaveNothingBehind however many they are: a stream bears a thousand consumers, and nobody would take
// away those of readers that were killed.
func TestReadersLeaveNothingBehind(t *testing.T) {
	conn, js := newBroker(t)
	ensure(t, conn)
	if _, err := js.Publish(t.Context(), "things.1", nil); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := Each(t.Context(), conn, name, "things.>", 1, func(Message) {}); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Consumers; n != 0 {
		t.Errorf("%d consumers are left", n)
	}
	if n := conn.NumSubscriptions(); n > 2 { // its own, for answers to requests
		t.Errorf("%d subscriptions are left", n)
	}
}

// TestWhatTheKeeperChangedStays: where a stream is kept and how large it may be is for who keeps the servers.
func TestWhatTheKeeperChangedStays(t *testing.T) {
	conn, js := newBroker(t)
	ensure(t, conn)
	cfg := config()
	cfg.MaxBytes = 1 << 20
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	ensure(t, conn)
	stream, err := js.Stream(t.Context(), name)
	if err != nil || stream.CachedInfo().Config.MaxBytes != 1<<20 {
		t.Errorf("%v, %v", stream, err)
	}
}
