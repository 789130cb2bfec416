package nats

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
)

// pair are two clients of a server.
func pair(t *testing.T) (one, other *Transport) {
	t.Helper()
	s := natstest.Start(t, &server.Options{})
	var both [2]*Transport
	for i, id := range []string{"a", "b"} {
		var err error
		if both[i], err = Dial(t.Context(), Config{URL: s.ClientURL(), ID: id}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = both[i].Close() })
	}
	return both[0], both[1]
}

// deadline is a context whose time is over when the test says so.
type deadline struct {
	context.Context
	over chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.over }

func (d deadline) Err() error {
	select {
	case <-d.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// An answer that was there in time counts, however busy the side is that asked.
func TestAnswerThatABusySideTakesUpLateCounts(t *testing.T) {
	asks, answers := pair(t)
	ctx := deadline{t.Context(), make(chan struct{})}
	var busy sync.WaitGroup
	_, err := answers.Subscribe("x", func(m wire.Msg) {
		asks.mu.Lock() // so the answer is not taken up
		_ = m.Respond([]byte("here"))
		_ = answers.Flush(t.Context())
		close(ctx.over)
		busy.Go(func() {
			time.Sleep(100 * time.Millisecond)
			asks.mu.Unlock()
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := answers.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := asks.Request(ctx, "x", []byte("there?"))
	busy.Wait()
	if err != nil || string(got) != "here" {
		t.Errorf("%q, %v", got, err)
	}
}

// One that is not there is not waited for.
func TestAnswerThatNeverComesIsLate(t *testing.T) {
	asks, answers := pair(t)
	if _, err := answers.Subscribe("x", func(wire.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := answers.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := asks.Request(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
