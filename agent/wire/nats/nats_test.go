package nats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/agent/wire/natstest"
	"hark/agent/wire/wiretest"
)

func dial(t *testing.T, cfg nats.Config) *nats.Transport {
	t.Helper()
	tr, err := nats.Dial(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

func TestTransport(t *testing.T) {
	wiretest.Run(t, func(t *testing.T) wiretest.Connect {
		s := natstest.Start(t, &server.Options{})
		return func(t *testing.T, id string) wire.Transport {
			return dial(t, nats.Config{URL: s.ClientURL(), ID: id})
		}
	})
}

func TestSmallPayloadLimitIsKept(t *testing.T) {
	s := natstest.Start(t, &server.Options{MaxPayload: 16 << 10})
	a := dial(t, nats.Config{URL: s.ClientURL(), ID: "a"})
	got := make(chan int, 1)
	if _, err := a.Subscribe("x", func(m wire.Msg) { got <- len(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := a.Publish("x", make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != 100<<10 {
		t.Errorf("%d bytes arrived", n)
	}
}

func TestImpatientDialFailsAtOnce(t *testing.T) {
	began := time.Now()
	_, err := nats.Dial(context.Background(), nats.Config{URL: "nats://127.0.0.1:1", ID: "a"})
	if err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("err = %v after %s", err, time.Since(began))
	}
}

func TestPatientDialWaitsForTheBrokerAndComesBack(t *testing.T) {
	first := natstest.Start(t, &server.Options{})
	port := first.Addr().(*net.TCPAddr).Port
	natstest.Stop(first)

	connected := make(chan struct{}, 10)
	a := dial(t, nats.Config{URL: fmt.Sprintf("nats://127.0.0.1:%d", port), ID: "a", Patient: true,
		MaxDelay: 50 * time.Millisecond, OnConnect: func() { connected <- struct{}{} }})
	if _, err := a.Subscribe("x", func(m wire.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := a.Publish("x", nil); err == nil {
		t.Error("a publication was taken while the broker was away")
	}
	for range 2 { // the second round is a restart of the broker
		s := natstest.Start(t, &server.Options{Port: port})
		wait(t, connected)
		b := dial(t, nats.Config{URL: s.ClientURL(), ID: "b"})
		if err := a.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Request(t.Context(), "x", []byte("q")); err != nil {
			t.Errorf("the subscription is gone: %v", err)
		}
		natstest.Stop(s)
	}
}

// TestRefusedAgentTriesOn: credentials may be given back, and nothing but another try tells.
func TestRefusedAgentTriesOn(t *testing.T) {
	strict := natstest.Start(t, &server.Options{Username: "u", Password: "p"})
	refused, connected := make(chan struct{}, 100), make(chan struct{}, 1)
	dial(t, nats.Config{
		URL: strict.ClientURL(), ID: "a", Patient: true, MaxDelay: 10 * time.Millisecond,
		OnConnect: func() { connected <- struct{}{} },
		Explain: func(err error) error {
			if !nats.Refused(err) {
				return err
			}
			select {
			case refused <- struct{}{}:
			default:
			}
			return err
		},
	})
	for range 4 {
		wait(t, refused)
	}
	port := strict.Addr().(*net.TCPAddr).Port
	natstest.Stop(strict)
	natstest.Start(t, &server.Options{Port: port})
	wait(t, connected)
}

func TestConnectionTellsSinceWhen(t *testing.T) {
	s := natstest.Start(t, &server.Options{})
	port := s.Addr().(*net.TCPAddr).Port
	connected := make(chan struct{}, 10)
	a := dial(t, nats.Config{URL: s.ClientURL(), ID: "a", MaxDelay: 10 * time.Millisecond,
		OnConnect: func() { connected <- struct{}{} }})
	wait(t, connected)
	first := a.Since()
	natstest.Stop(s)
	for !a.Since().IsZero() { // until this side has seen it too
		_ = a.Flush(t.Context())
	}
	if err := a.Publish("x", nil); !errors.Is(err, wire.ErrAway) || !a.Since().IsZero() {
		t.Errorf("a broker that is away takes messages (%v), since %s", err, a.Since())
	}
	natstest.Start(t, &server.Options{Port: port})
	wait(t, connected)
	if again := a.Since(); first.IsZero() || !again.After(first) {
		t.Errorf("connected since %s, then since %s", first, again)
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("it never happened")
	}
}

func TestForbiddenSubscriptionFailsTheFlush(t *testing.T) {
	s := natstest.Start(t, &server.Options{Users: []*server.User{{
		Username: "u", Password: "p", Permissions: &server.Permissions{
			Subscribe: &server.SubjectPermission{Allow: []string{"ok", "_I.a.>"}}}}}})
	url := "nats://u:p@" + s.Addr().String()
	a := dial(t, nats.Config{URL: url, ID: "a"})
	if _, err := a.Subscribe("ok", func(wire.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(context.Background()); err != nil {
		t.Fatalf("a permitted subscription: %v", err)
	}
	if _, err := a.Subscribe("secret", func(wire.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(context.Background()); !errors.Is(err, wire.ErrDenied) {
		t.Errorf("a forbidden subscription looks alive: %v", err)
	}
	if err := a.Flush(context.Background()); err != nil {
		t.Errorf("the denial is told twice: %v", err)
	}
}

// TestEachFlushTellsOfItsOwnDenials: the connection knows of a denial before its handler of errors does, which may be
// some behind.
func TestEachFlushTellsOfItsOwnDenials(t *testing.T) {
	s := natstest.Start(t, &server.Options{Users: []*server.User{{
		Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{"ok"}}}}}})
	log := make(slowLog)
	a := dial(t, nats.Config{URL: "nats://u:p@" + s.Addr().String(), ID: "a",
		Logger: zerolog.New(log).Level(zerolog.WarnLevel)})
	for range 2 {
		if err := a.Publish("secret", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := a.Flush(t.Context()); !errors.Is(err, wire.ErrDenied) {
			t.Fatalf("a forbidden message: %v", err)
		}
	}
	<-log // the handler has the first
	<-log // and is done with it
	if err := a.Flush(t.Context()); err != nil {
		t.Errorf("nothing was forbidden since: %v", err)
	}
}

// slowLog takes a line when somebody waits for it.
type slowLog chan struct{}

func (l slowLog) Write(line []byte) (int, error) {
	l <- struct{}{}
	return len(line), nil
}

// TestForbiddenRequestFailsAtOnce: who waits for its reply is told, and nobody else.
func TestForbiddenRequestFailsAtOnce(t *testing.T) {
	s := natstest.Start(t, &server.Options{Users: []*server.User{{
		Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{"ok"}}}}}})
	a := dial(t, nats.Config{URL: "nats://u:p@" + s.Addr().String(), ID: "a"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := a.Request(ctx, "ok", []byte("x")); !errors.Is(err, wire.ErrNoResponder) {
		t.Errorf("a permitted request: %v", err)
	}
	if _, err := a.Request(ctx, "secret", []byte("x")); !errors.Is(err, wire.ErrDenied) || ctx.Err() != nil {
		t.Errorf("a forbidden request: %v", err)
	}
	if err := a.Flush(ctx); err != nil {
		t.Errorf("the denial is told twice: %v", err)
	}
}
