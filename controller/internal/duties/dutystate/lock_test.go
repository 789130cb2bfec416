package dutystate

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/controller/internal/fleet/streams"
)

// putLock puts an entry in the place of the lock's.
func putLock(t *testing.T, conn *nats.Conn, text string) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), LockSubject("k1"), []byte(text)); err != nil {
		t.Error(err)
	}
}

// answers are what whoever has access to the broker can have it put in the place of a lock's entry: requests of it, whose
// answers go there.
func answers() [][2]string {
	at, get := LockSubject("k1"), "$JS.API.DIRECT.GET."+LockName
	return [][2]string{
		{get + ".nothing.there", ""}, {get, `{"last_by_subj":"` + at + `"}`}, {get, `{"seq":1,"next_by_subj":">","batch":1}`},
		{get, `{"seq":1}`}, {get, `{"last_by_subj":"none"}`}, {get, "{}"}, {"$JS.API.STREAM.INFO." + LockName, ""},
		{at + "x", `{"from":"x"}`},
	}
}

// answer has the broker answer in the place of the lock's entry.
func answer(t *testing.T, conn *nats.Conn, ask [2]string) {
	t.Helper()
	if err := conn.PublishRequest(ask[0], LockSubject("k1"), []byte(ask[1])); err != nil {
		t.Error(err)
	}
}

func newLock(t *testing.T, conn *nats.Conn, name string, lasts, every time.Duration) *Lock {
	t.Helper()
	l, err := NewLock(t.Context(), conn, "k1", name)
	if err != nil {
		t.Fatal(err)
	}
	l.lasts, l.every = lasts, every
	return l
}

// Answers of the broker in the place of the lock take it from nobody, and give it to nobody, however often they come:
// who has it has it still, and who waits for it waits.
func TestAnswersOfTheBrokerTakeNoLock(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	first, second := newLock(t, conn, "first", lockTime, 100*time.Millisecond), newLock(t, conn, "second", 2*time.Second, time.Second)
	began, end := make(chan struct{}), make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		err := first.With(t.Context(), nil, func(ctx context.Context) error {
			close(began)
			select {
			case <-ctx.Done():
				t.Errorf("it lost the lock: %v", context.Cause(ctx))
			case <-end:
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	waits, stop := context.WithCancel(t.Context())
	work.Go(func() {
		if err := second.With(waits, nil, func(context.Context) error {
			t.Error("both have the lock")
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && !t.Failed(); time.Sleep(3 * time.Millisecond) {
		for _, ask := range answers() {
			answer(t, conn, ask)
		}
	}
	stop()
	close(end)
	work.Wait()
}

// Nor do they keep the lock from a keeper when nobody else is at work.
func TestAnswersOfTheBrokerHoldNoLock(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	for _, ask := range answers() {
		putLock(t, conn, `{"from":"somebody"}`)
		answer(t, conn, ask)
		for l := newLock(t, conn, "asks", time.Second, time.Second); ; time.Sleep(time.Millisecond) {
			if e, err := l.read(t.Context()); err != nil || e.is != taken {
				break
			}
		}
		if h, is, err := newLock(t, conn, "asks", time.Second, time.Second).Holder(t.Context()); is || err == nil {
			t.Errorf("after %v %+v is said to have the lock: %v", ask, h, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var attack sync.WaitGroup
	attack.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			answer(t, conn, answers()[i%len(answers())])
			time.Sleep(time.Millisecond)
		}
	})
	had := false
	if err := newLock(t, conn, "one", time.Second, time.Second).With(t.Context(), nil, func(context.Context) error {
		had = true
		return nil
	}); err != nil || !had {
		t.Errorf("had: %v, %v", had, err)
	}
	stop()
	attack.Wait()
	// Given back, it is free at once, also for keepers of versions before.
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), lockBucket)
	if err != nil {
		t.Fatal(err)
	}
	if err := newLock(t, conn, "one", time.Minute, time.Second).With(t.Context(), nil, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.Create(t.Context(), "k1", []byte(`{"from":"of before"}`)); err != nil {
		t.Error(err)
	}
}
