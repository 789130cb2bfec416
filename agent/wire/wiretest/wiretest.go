// Package wiretest is the suite that every wire.Transport passes.
package wiretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
)

// Connect makes a transport of a client with an id; all of one test share a broker.
type Connect func(t *testing.T, id string) wire.Transport

// patience is how long the suite waits for what must come.
const patience = 20 * time.Second

// Run runs the suite. broker starts a broker for one test.
func Run(t *testing.T, broker func(t *testing.T) Connect) {
	cases := []struct {
		name string
		run  func(*testing.T, Connect)
	}{
		{"MessagesArriveInOrder", inOrder},
		{"WildcardsMatchTokens", wildcards},
		{"RequestIsAnswered", requests},
		{"RepliesComeToTheOwnInbox", ownInbox},
		{"NobodyListening", noResponder},
		{"RequestEndsWithItsContext", contextEnds},
		{"LargeMessagesPass", large},
		{"TooLargeIsAnError", tooLarge},
		{"UnsubscribeEnds", unsubscribe},
		{"ConnectionTellsSinceWhen", since},
		{"CloseWaitsForReceivers", closing},
		{"SlowReceiverDelaysNobodyElse", slow},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, broker(t)) })
	}
}

func since(t *testing.T, connect Connect) {
	tr := connect(t, "a")
	if at := tr.Since(); at.IsZero() || time.Since(at) < 0 {
		t.Errorf("connected since %s", at)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if at := tr.Since(); !at.IsZero() {
		t.Errorf("closed, and connected since %s", at)
	}
}

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return c
}

// listen subscribes and makes sure that the broker knows.
func listen(t *testing.T, tr wire.Transport, subject string, f func(wire.Msg)) wire.Subscription {
	t.Helper()
	s, err := tr.Subscribe(subject, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Flush(ctx(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

func publish(t *testing.T, tr wire.Transport, subject string, data []byte) {
	t.Helper()
	if err := tr.Publish(subject, data); err != nil {
		t.Fatalf("Publish(%s): %v", subject, err)
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func inOrder(t *testing.T, connect Connect) {
	const n = 2000
	got := make(chan string, n)
	listen(t, connect(t, "a"), "x.order", func(m wire.Msg) { got <- string(m.Data) })
	sender := connect(t, "b")
	for i := range n {
		publish(t, sender, "x.order", fmt.Append(nil, i))
	}
	for i := range n {
		if s := receive(t, got); s != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, s)
		}
	}
}

func wildcards(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	got := make(chan string, 100)
	for _, p := range []string{"x.*.c", "x.>", "x.b.c", "y"} {
		listen(t, a, p, func(m wire.Msg) { got <- p + " " + m.Subject })
	}
	want := map[string]bool{"x.*.c x.b.c": true, "x.> x.b.c": true, "x.b.c x.b.c": true, "x.> x.b": true,
		"x.> x.b.c.d": true, "y y": true}
	for _, s := range []string{"x.b.c", "x", "x.b", "x.b.c.d", "z.b.c", "y.y", "y"} {
		publish(t, b, s, nil)
	}
	for range len(want) {
		s := receive(t, got)
		if !want[s] {
			t.Errorf("unexpected, or twice: %q", s)
		}
		delete(want, s)
	}
}

func requests(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	listen(t, a, "x.double", func(m wire.Msg) {
		if err := m.Respond(append(m.Data, m.Data...)); err != nil {
			t.Errorf("Respond: %v", err)
		}
	})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			q := fmt.Sprint(i)
			answer, err := b.Request(ctx(t), "x.double", []byte(q))
			if err != nil || string(answer) != q+q {
				t.Errorf("Request(%s) = %q, %v", q, answer, err)
			}
		})
	}
	wg.Wait()
}

func ownInbox(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	reply := make(chan string, 1)
	listen(t, a, "x.q", func(m wire.Msg) {
		reply <- m.Reply
		_ = m.Respond(nil)
	})
	if _, err := b.Request(ctx(t), "x.q", nil); err != nil {
		t.Fatal(err)
	}
	r := receive(t, reply)
	if !wire.OwnReply(r, "b") || wire.OwnReply(r, "a") {
		t.Errorf("the reply subject %q is not b's own", r)
	}
	plain := make(chan wire.Msg, 1)
	listen(t, a, "x.p", func(m wire.Msg) { plain <- m })
	publish(t, b, "x.p", nil)
	if m := receive(t, plain); m.Reply != "" || m.Respond != nil {
		t.Error("a publication wants an answer")
	}
}

func noResponder(t *testing.T, connect Connect) {
	start := time.Now()
	_, err := connect(t, "a").Request(ctx(t), "x.nobody", nil)
	if !errors.Is(err, wire.ErrNoResponder) {
		t.Errorf("err = %v", err)
	}
	if time.Since(start) > patience/2 {
		t.Error("it took as long as a time-out")
	}
}

func contextEnds(t *testing.T, connect Connect) {
	a := connect(t, "a")
	asked := make(chan struct{}, 1)
	listen(t, a, "x.silent", func(wire.Msg) { asked <- struct{}{} })
	c, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := a.Request(c, "x.silent", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func large(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	body := make([]byte, 3<<20+17)
	for i := range body {
		body[i] = byte(i * 7 >> 3)
	}
	got := make(chan []byte, 1)
	listen(t, a, "x.large", func(m wire.Msg) {
		if m.Respond == nil {
			got <- m.Data
			return
		}
		_ = m.Respond(m.Data)
	})
	publish(t, b, "x.large", body)
	if !bytes.Equal(receive(t, got), body) {
		t.Error("a large publication arrived changed")
	}
	answer, err := b.Request(ctx(t), "x.large", body)
	if err != nil || !bytes.Equal(answer, body) {
		t.Errorf("a large request came back as %d bytes, %v", len(answer), err)
	}
}

func tooLarge(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	huge := make([]byte, wire.MaxMessage+1)
	if err := a.Publish("x.huge", huge); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("Publish: %v", err)
	}
	if _, err := a.Request(ctx(t), "x.huge", huge); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("Request: %v", err)
	}
	listen(t, a, "x.q", func(m wire.Msg) {
		if err := m.Respond(huge); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("Respond: %v", err)
		}
		_ = m.Respond([]byte("small")) // what could not be sent leaves the question open
	})
	if answer, err := b.Request(ctx(t), "x.q", nil); err != nil || string(answer) != "small" {
		t.Errorf("Request = %q, %v", answer, err)
	}
}

func unsubscribe(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	s := listen(t, a, "x.u", func(m wire.Msg) { _ = m.Respond(nil) })
	if _, err := b.Request(ctx(t), "x.u", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Request(ctx(t), "x.u", nil); !errors.Is(err, wire.ErrNoResponder) {
		t.Errorf("err = %v", err)
	}
}

func closing(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	began, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	running := 0
	listen(t, a, "x.c", func(wire.Msg) {
		mu.Lock()
		running++
		mu.Unlock()
		once.Do(func() { close(began) })
		<-release
		mu.Lock()
		running--
		mu.Unlock()
	})
	publish(t, b, "x.c", nil)
	publish(t, b, "x.c", nil)
	receive(t, began)
	closed := make(chan struct{})
	go func() {
		_ = a.Close()
		close(closed)
	}()
	close(release)
	receive(t, closed)
	mu.Lock()
	defer mu.Unlock()
	if running != 0 {
		t.Error("a receiver runs after Close")
	}
	if err := a.Publish("x.c", nil); err == nil {
		t.Error("Publish works after Close")
	}
}

func slow(t *testing.T, connect Connect) {
	a, b := connect(t, "a"), connect(t, "b")
	release := make(chan struct{})
	defer close(release)
	quick := make(chan struct{}, 10)
	listen(t, a, "x.s", func(wire.Msg) { <-release })
	listen(t, a, "x.s", func(wire.Msg) { quick <- struct{}{} })
	for range 10 {
		publish(t, b, "x.s", nil)
	}
	for range 10 {
		receive(t, quick)
	}
}
