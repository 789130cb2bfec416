package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"syscall"
	"testing"
	"time"

	"hark/agent/wire"
)

// TestRefusalsOfLongAgoAreNoNews, though they are counted.
func TestRefusalsOfLongAgoAreNoNews(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	r := &refusals{}
	for range 3 * mostRefusals {
		r.add(wire.Untrusted, start)
	}
	r.add(wire.Replayed, start.Add(50*time.Minute))
	if got, want := r.lately(start.Add(70*time.Minute)), (map[wire.Reason]uint64{wire.Replayed: 1}); !maps.Equal(got, want) {
		t.Errorf("lately %v, want %v", got, want)
	}
	if got := r.lately(start.Add(5 * time.Hour)); len(got) != 0 {
		t.Errorf("hours later %v", got)
	}
	if n := r.n[wire.Untrusted]; n != 3*mostRefusals || len(r.last) > mostRefusals {
		t.Errorf("%d are counted, %d remembered", n, len(r.last))
	}
}

// TestWhatTheHostCannotDoIsNotTheMessagesFault: a full disk makes no message malformed.
func TestWhatTheHostCannotDoIsNotTheMessagesFault(t *testing.T) {
	g := newTarget(t)
	for _, c := range []struct {
		err  error
		want wire.Reason
	}{
		{fmt.Errorf("cannot write the log of a session: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), wire.Unable},
		{errors.New("it is no JSON"), wire.Malformed},
		{refusal("not this one"), wire.Untrusted},
	} {
		before := g.agent.Refused()[c.want]
		g.agent.inbox.refuse(wire.Msg{}, wire.KindPlan, c.err)
		if after := g.agent.Refused()[c.want]; after != before+1 {
			t.Errorf("%v does not count as %s: %v", c.err, c.want, g.agent.Refused())
		}
	}
}
