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
func putLock(t *testing.T, conn *nats.Conn, text string, headers ...string) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg(LockSubject("k1"))
	m.Data = []byte(text)
	for _, h := range headers {
		m.Header.Set(h, "1")
	}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Error(err)
	}
}

// answers are what whoever has access to the broker can have it put in the place of a lock's entry: its answers, and
// messages of streams with the headers that it adds to them.
var answers = []struct {
	text    string
	headers []string
}{
	{`{"stream":"HARK_AGENTS","seq":1}`, nil},
	{"", []string{"Status", "Description"}},
	{`{"from":"a keeper of before"}`, []string{"Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"}},
	{"", []string{"KV-Operation", "Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"}},
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
		for _, a := range answers {
			putLock(t, conn, a.text, a.headers...)
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
	for _, a := range answers {
		putLock(t, conn, a.text, a.headers...)
		if h, is, err := newLock(t, conn, "asks", time.Second, time.Second).Holder(t.Context()); is || err == nil {
			t.Errorf("%+v is said to have the lock: %v", h, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var attack sync.WaitGroup
	attack.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			putLock(t, conn, answers[i%len(answers)].text, answers[i%len(answers)].headers...)
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
