package dutystate

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
)

func newConn(t *testing.T) *nats.Conn {
	t.Helper()
	conn, _ := newServer(t)
	return conn
}

// newServer is a server with a connection to it. away ends it until what it gives is called: then it is back as after
// a restart.
func newServer(t *testing.T) (conn *nats.Conn, away func() (back func())) {
	t.Helper()
	dir, port := t.TempDir(), 0
	var s *server.Server
	start := func() {
		t.Helper()
		s = natstest.Start(t, &server.Options{Port: port, JetStream: true, StoreDir: dir})
		port = s.Addr().(*net.TCPAddr).Port
	}
	start()
	conn = natstest.Connect(t, s.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	return conn, func() func() {
		natstest.Stop(s)
		return start
	}
}

func newIdentity(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t *testing.T, conn *nats.Conn, own *wire.Identity, readers, believed []string) *Store {
	t.Helper()
	s, err := Open(conn, own, readers, func(key string) bool {
		for _, k := range append(believed, own.Key) {
			if k == key {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, duty, agent string, k Kind) {
	t.Helper()
	if err := s.PutState(t.Context(), State{V: Version, Duty: duty, Agent: agent, Host: "host of " + agent, Kind: k, Drift: []Change{{Task: "sshd", Diff: "SECRET"}}}); err != nil {
		t.Fatal(err)
	}
}

func TestWordsAreForReadersAndTheLastOneCounts(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	keeper, reader, other := newIdentity(t), newIdentity(t), newIdentity(t)
	s := open(t, conn, keeper, []string{reader.XKey}, nil)
	put(t, s, "base", "a1", Drifted)
	put(t, s, "base", "a1", Kept)
	put(t, s, "base", "a2", Absent)
	if err := s.PutDefinition(t.Context(), Definition{V: Version, Name: "base"}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		who      *wire.Identity
		believed []string
		states   int
		warning  string
	}{
		{keeper, nil, 2, ""},
		{reader, []string{keeper.Key}, 2, ""},
		{reader, nil, 0, "is not believed here"},
		{other, []string{keeper.Key}, 0, "sealed for others"},
	} {
		all, warnings, err := open(t, conn, x.who, nil, x.believed).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if x.states == 0 {
			if len(all) != 0 || !strings.Contains(strings.Join(warnings, " "), x.warning) {
				t.Errorf("%v: %v, %v", x, all, warnings)
			}
			continue
		}
		if len(all) != 1 || len(all[0].States) != 2 || all[0].States[0].Kind != Kept || all[0].Keeper != keeper.Key || all[0].Definitions[0].Keeper != keeper.Key || len(warnings) > 0 {
			t.Errorf("%+v, %v", all, warnings)
		}
	}
	js, _ := jetstream.New(conn)
	stream, err := js.Stream(t.Context(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetLastMsgForSubject(t.Context(), wire.DutyStateSubject(keeper.ID(), "base", "a1"))
	if err != nil || strings.Contains(string(m.Data), "SECRET") || strings.Contains(string(m.Data), "host of") {
		t.Errorf("the broker reads %q, %v", m.Data, err)
	}
}

func TestWordsOfOthersAndOfOtherHostsArePassedOver(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	keeper, thief := newIdentity(t), newIdentity(t)
	s, theirs := open(t, conn, keeper, nil, nil), open(t, conn, thief, nil, nil)
	put(t, s, "base", "a1", Kept)
	put(t, theirs, "base", "a1", Kept)
	js, _ := jetstream.New(conn)
	stream, err := js.Stream(t.Context(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	copied := func(from, to string) {
		t.Helper()
		m, err := stream.GetLastMsgForSubject(t.Context(), from)
		if err == nil {
			_, err = js.Publish(t.Context(), to, m.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copied(wire.DutyStateSubject(keeper.ID(), "base", "a1"), wire.DutyStateSubject(keeper.ID(), "base", "a2")) // of another host
	copied(wire.DutyStateSubject(keeper.ID(), "base", "a1"), wire.DutyStateSubject(keeper.ID(), "ntp", "a1"))  // of another duty
	copied(wire.DutyStateSubject(thief.ID(), "base", "a1"), wire.DutyStateSubject(keeper.ID(), "base", "a3"))  // of another keeper
	copied(wire.DutyKeysSubject(thief.ID(), sealkeys.Week(time.Now())), wire.DutyKeysSubject(keeper.ID(), "2020-W01"))
	if _, err := js.Publish(t.Context(), wire.DutyStateSubject(keeper.ID(), "base", "a4"), []byte("rubbish")); err != nil {
		t.Fatal(err)
	}
	all, warnings, err := open(t, conn, keeper, nil, nil).read(t.Context(), keeper.ID())
	if err != nil || len(all) != 1 || len(all[0].States) != 1 || len(warnings) < 2 {
		t.Errorf("%+v, %v, %v", all, warnings, err)
	}
}

func TestANewerWordIsRefused(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	s := open(t, conn, newIdentity(t), nil, nil)
	if err := s.PutState(t.Context(), State{V: Version + 1, Duty: "base", Agent: "a1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Own(t.Context()); err == nil || !strings.Contains(err.Error(), "newer than this hark") {
		t.Error(err)
	}
}

// shortLocks makes the bucket so that locks end soon.
func shortLocks(t *testing.T, conn *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	cfg := StreamConfigs()[1]
	cfg.MaxAge = time.Second
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func TestOneKeeperAtATimeHasTheLock(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	var inside, most atomic.Int32
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 2)
	enter := func(name string, waits func(Holder), f func()) {
		l, err := NewLock(t.Context(), conn, "k1", name)
		if err != nil {
			done <- err
			return
		}
		done <- l.With(t.Context(), waits, func(context.Context) error {
			most.Store(max(most.Load(), inside.Add(1)))
			f()
			inside.Add(-1)
			return nil
		})
	}
	go enter("first", nil, func() {
		close(held)
		<-release
	})
	<-held
	told := make(chan Holder, 1)
	go enter("second", func(h Holder) { told <- h }, func() {})
	if h := <-told; h.From != "first" {
		t.Errorf("the lock is said to be had by %+v", h)
	}
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d had it at a time", most.Load())
	}
}

func TestTheLockOfADeadKeeperEnds(t *testing.T) {
	conn := newConn(t)
	shortLocks(t, conn)
	dead, err := NewLock(t.Context(), conn, "k1", "dead")
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.take(t.Context(), nil); err != nil { // and never says so again
		t.Fatal(err)
	}
	next, err := NewLock(t.Context(), conn, "k1", "next")
	if err != nil {
		t.Fatal(err)
	}
	if err := next.With(t.Context(), nil, func(context.Context) error { return errors.New("had") }); err == nil || err.Error() != "had" {
		t.Error(err)
	}
}

// A broker that is away for longer than a lock lasts, and has forgotten it, ends no keeper: while it is away the lock
// is not held, and afterwards it is again.
func TestTheLockOutlivesItsBroker(t *testing.T) {
	conn, away := newServer(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	l, err := NewLock(t.Context(), conn, "k1", "one")
	if err != nil {
		t.Fatal(err)
	}
	l.every = 20 * time.Millisecond
	until := func(held bool) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); l.Held() != held; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("held: %v", !held)
			}
		}
	}
	err = l.With(t.Context(), nil, func(ctx context.Context) error {
		until(true)
		back := away()
		until(false)
		if ctx.Err() != nil {
			t.Error("the keeper ends")
		}
		back()
		if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil { // as the registrar does
			t.Error(err)
		}
		until(true)
		return ctx.Err()
	})
	if err != nil || l.Held() {
		t.Error(err)
	}
}

// A keeper whose lock another has taken meanwhile becomes one that waits, and is at work again when the other ends.
func TestAKeeperThatLostItsLockWaitsForIt(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	l, err := NewLock(t.Context(), conn, "k1", "one")
	if err != nil {
		t.Fatal(err)
	}
	l.every = 10 * time.Millisecond
	times := 0
	told := make(chan Holder, 1)
	err = l.With(t.Context(), func(h Holder) {
		told <- h
		putLock(t, conn, givenBack) // the other ends
	}, func(ctx context.Context) error {
		if times++; times > 1 {
			return nil
		}
		putLock(t, conn, `{"from":"other"}`)
		<-ctx.Done()
		return ctx.Err()
	})
	if h := <-told; err != nil || times != 2 || h.From != "other" {
		t.Errorf("%v, %d times, %+v", err, times, h)
	}
}

// A keeper that waits for another and is told to end ends well: its service has not failed.
func TestAKeeperThatWaitsEndsWell(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	l, err := NewLock(t.Context(), conn, "k1", "one")
	if err != nil {
		t.Fatal(err)
	}
	putLock(t, conn, `{"from":"other"}`)
	ctx, end := context.WithCancel(t.Context())
	worked := false
	err = l.With(ctx, func(Holder) { end() }, func(context.Context) error {
		worked = true
		return nil
	})
	if err != nil || worked {
		t.Errorf("%v, at work: %v", err, worked)
	}
}

// A reader who is named after a keeper has begun its week reads what it said before, also in weeks before, and what
// it says from then on; a keeper that was started again and only read its own words, too.
func TestAReaderWhoIsNamedLaterReadsAllAtOnce(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	keeper, reader := newIdentity(t), newIdentity(t)
	s := open(t, conn, keeper, nil, nil)
	old, err := s.keys.Own(t.Context(), time.Now().Add(-20*24*time.Hour)) // of a week that is over
	if err != nil {
		t.Fatal(err)
	}
	say := func(s *Store, host string) {
		t.Helper()
		if err := s.PutState(t.Context(), State{V: Version, Duty: "base", Host: host, Agent: host, Kind: Kept}); err != nil {
			t.Fatal(err)
		}
	}
	say(s, "web1")
	read := func() (hosts, warnings int) {
		t.Helper()
		all, said, err := open(t, conn, reader, nil, []string{keeper.Key}).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			hosts += len(w.States)
		}
		return hosts, len(said)
	}
	if hosts, warnings := read(); hosts != 0 || warnings != 1 {
		t.Errorf("before: %d hosts, %d warnings", hosts, warnings)
	}
	again := open(t, conn, keeper, nil, nil)
	if _, err := again.Own(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !again.SetReaders([]string{reader.XKey}) || again.SetReaders([]string{reader.XKey}) {
		t.Error("who the readers are is not known")
	}
	if err := again.ShareAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	say(again, "web2")
	if hosts, warnings := read(); hosts != 2 || warnings != 0 {
		t.Errorf("after: %d hosts, %d warnings", hosts, warnings)
	}
	theirs := open(t, conn, reader, nil, nil)
	if key, err := theirs.keys.Of(t.Context(), keeper.ID(), sealkeys.Week(time.Now().Add(-20*24*time.Hour))); err != nil || key != old {
		t.Errorf("the week before: %v", err)
	}
}
