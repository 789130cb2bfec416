package link

import (
	"context"
	"sync/atomic"
	"testing"

	"hark/agent/wire"
)

// TestEndIsToldToAllAtOnce: who has said that he has heard of the run's end is not told again.
func TestEndIsToldToAllAtOnce(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	b.agent("web2", w.registry(), op)
	var alone atomic.Int32
	words := make(chan struct{}, 8)
	watch := b.dial("watcher")
	for subject, f := range map[string]func(wire.Msg){
		"hark.t.h.*.end":  func(wire.Msg) { alone.Add(1) },
		"hark.r.r1.*.end": func(wire.Msg) { words <- struct{}{} },
	} {
		if _, err := watch.Subscribe(subject, f); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, watch)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a"), "web1", "web2")
	c.until(wire.Ended, 2)
	if err := c.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait(t, words)
	wait(t, words)
	if n := alone.Load(); n != 0 {
		t.Errorf("%d agents were told alone", n)
	}
}

// TestEndIsToldToThoseThatSayNothing: a word that does not come, since the agent was started again, keeps nobody from
// being told.
func TestEndIsToldToThoseThatSayNothing(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	told := make(chan struct{}, 8)
	watch := b.dial("watcher")
	if _, err := watch.Subscribe("hark.t.h.*.end", func(wire.Msg) { told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	flush(t, watch)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a"), "web1")
	c.until(wire.Ended, 1)
	a.restart()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.End(ctx); err != nil {
		t.Fatal(err)
	}
	wait(t, told)
}

// TestOnlyTheSessionSaysThatItHasEnded: a word that is not closed with its key does not count.
func TestOnlyTheSessionSaysThatItHasEnded(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a"), "web1")
	c.until(wire.Ended, 1)
	key := wire.NewKey()
	var codec wire.Codec
	for name, p := range map[string]wire.Packing{"another key": {Key: &key, Seal: wire.SealHost}, "signed, in clear": {Sign: a.identity}} {
		frame, err := codec.Pack(wire.Header{Kind: wire.KindEnd, Run: "r1"}, wire.End{Run: "r1"}, p)
		if err != nil {
			t.Fatal(err)
		}
		c.takeResult(wire.Msg{Subject: wire.Results("r1", a.identity.ID(), wire.KindEnd), Data: frame})
		if p := c.members.peers[a.identity.ID()]; !p.is(reportsEnd) {
			t.Errorf("%s: it counts", name)
		}
	}
}
