package link

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
)

// A power cut takes what was not synced: the controller has had more than the log holds.
func TestALogThatLostItsEndHoldsUpNobody(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.times.Gone = patience
	c.begin(steps("0.0", false, "test.t.hang", "a", "b"), "web1")
	wait(t, w.began)
	c.until(wire.Started, 1)
	_ = a.bus.Close()
	a.end()
	paths, err := filepath.Glob(filepath.Join(a.dir, "sessions", "*.log"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err == nil {
		err = os.WriteFile(paths[0], bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:2], nil), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.start()
	if l := wait(t, c.Lost()); l.Host != "web1" || !strings.Contains(l.Reason, "the agent was restarted") {
		t.Errorf("lost %+v", l)
	}
	if w.count("a") != 1 || w.count("b") != 0 {
		t.Errorf("a ran %d times, b %d times", w.count("a"), w.count("b"))
	}
}

// A plan that lay in a buffer until its host was given up does nothing, though it is good and was never obeyed.
func TestAPlanThatComesLateDoesNothing(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	a.end()
	plans := wire.HostSubject(a.identity.ID(), wire.KindPlan)
	broker, frames := b.dial("broker"), make(chan []byte, 10)
	held, err := broker.Subscribe(plans, func(m wire.Msg) { frames <- m.Data })
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 10)
	if _, err := broker.Subscribe(wire.Results("r1", a.identity.ID(), wire.KindBatch), func(wire.Msg) { told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	flush(t, broker)
	c := b.controller(op, "r1", nil)
	c.times.Ack = 300 * time.Millisecond
	var absent *AbsentError
	if err := c.Start(t.Context(), start(t, "r1", "web1", steps("0.0", false, "test.t.echo", "a", "b"))); !errors.As(err, &absent) {
		t.Fatalf("Start: %v", err)
	}
	if err := held.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	a.start()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := broker.Publish(plans, wait(t, frames)); err != nil {
		t.Fatal(err)
	}
	wait(t, told)                            // the agent took it
	for a.agent.Busy() && ctx.Err() == nil { // until the controller has told it that the run goes on without it
		time.Sleep(time.Millisecond)
	}
	if a.agent.Busy() || w.count("a") != 0 {
		t.Errorf("busy %v; the step ran %d times", a.agent.Busy(), w.count("a"))
	}
}

// What a host did that was given up meanwhile is no part of the play, and not kept from the user either.
func TestAHostThatComesBackIsToldItIsOverAndWhatItDidIsSaid(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.hang", "a", "b"), "web1")
	wait(t, w.began)
	c.until(wire.Started, 1)
	c.members.mu.Lock()
	host := c.members.hosts["web1"]
	c.members.mu.Unlock()
	c.presence.loseHost(host, "its agent has gone away")
	close(w.release)
	for until := time.Now().Add(patience); a.agent.Busy() && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	said := c.Notices()
	if len(said) != 1 || !strings.HasPrefix(said[0], `web1: is back, and had done more than it could tell before it was given up: "a" (ok)`) {
		t.Errorf("said %q", said)
	}
	if a.agent.Busy() || len(c.Notices()) != 0 {
		t.Error("the agent goes on, or it was said twice")
	}
}

func TestRunsSayWhoIsAtAnother(t *testing.T) {
	b, w, one, two := newBroker(t), newWorld(), operator(t), operator(t)
	b.agent("web1", w.registry(), one, two)
	first, second := b.controller(one, "r1", nil), b.controller(two, "r2", nil)
	first.begin(steps("0.0", false, "test.t.hang", "slow"), "web1")
	wait(t, w.began)
	second.begin(steps("0.0", false, "test.t.echo", "quick"), "web1")
	second.until(wire.Ended, 1)
	if said := second.Notices(); len(said) != 1 || !strings.HasPrefix(said[0], "web1: still at run r1 of operator "+one.Key+", since ") {
		t.Errorf("said %q", said)
	}
	if said := first.Notices(); len(said) != 0 {
		t.Errorf("the first run said %q", said)
	}
	close(w.release)
	first.until(wire.Ended, 1)
}

// The one who waits for a call hears of it when the agent that had taken it is restarted, though it is there again.
func TestACallEndsWhenItsAgentIsRestarted(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.times.Gone = patience
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(t.Context(), wire.Exec{Run: "r1", ID: "1", Host: "web1", Origin: "db1", Call: wire.Call{Module: "test.t.hang", Args: []byte(`{"text": "a"}`)}})
		ended <- err
	}()
	wait(t, w.began)
	a.restart()
	var absent *AbsentError
	if err := wait(t, ended); !errors.As(err, &absent) || !strings.Contains(err.Error(), "its agent was restarted") {
		t.Errorf("the call ended with %v", err)
	}
}

// A host that loses power forgets which calls it has had. Should one come again the controller tells the agent that
// another life of it has that call.
func TestACallThatAHostHasForgottenIsNotRunAgain(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	spy := b.operator(op)
	calls, renewals, answers := make(chan wire.Msg, 100), make(chan wire.Msg, 100), make(chan wire.Msg, 100)
	id := a.identity.ID()
	for subject, to := range map[string]chan wire.Msg{wire.HostSubject(id, wire.KindExec): calls, wire.Questions(id, "r1", wire.KindRenew): renewals, wire.Inbox(id) + ".>": answers} {
		if _, err := spy.Subscribe(subject, func(m wire.Msg) { to <- m }); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, spy)
	c := b.controller(op, "r1", nil)
	c.times.Gone, c.times.Silence = time.Hour, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, wire.Exec{Run: "r1", ID: "1", Host: "web1", Origin: "db1", Call: wire.Call{Module: "test.t.hang", Args: []byte(`{"text": "a"}`)}})
		ended <- err
	}()
	wait(t, w.began)
	call := wait(t, calls)
	_ = a.bus.Close()
	a.end()
	if err := os.WriteFile(filepath.Join(a.dir, "journal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.start()
	for len(renewals) > 0 {
		<-renewals
	}
	for len(answers) > 0 {
		<-answers
	}
	if ack, err := spy.Request(ctx, call.Subject, call.Data); err != nil || len(ack) == 0 {
		t.Fatalf("the call that came again was answered with %q, %v", ack, err)
	}
	wait(t, renewals)
	wait(t, answers)
	a.end()
	cancel()
	wait(t, ended)
	if n := w.count("a"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}
