package link

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestAgentsThatCannotConnectAreNotWaitedFor, and the registrar's book says why.
func TestAgentsThatCannotConnectAreNotWaitedFor(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op).end()
	c := b.controller(op, "r1", nil)
	c.times.Return = time.Hour
	c.cfg.WhyAbsent = func(_ context.Context, name, key string) string {
		switch {
		case name == "web1" && key != "":
			return "was revoked"
		case name == "web2" && key == "":
			return "waits for approval"
		}
		return ""
	}
	for host, want := range map[string]string{
		"web1": "the agent of web1 was revoked: last seen ", "web2": "the agent of web2 waits for approval", "web3": "no agent named web3 was ever enrolled with this broker",
	} {
		err := c.Start(t.Context(), start(t, "r1", host, steps("0.0", false, "test.t.echo", "a")))
		var absent *AbsentError
		if !errors.As(err, &absent) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
	}
}
