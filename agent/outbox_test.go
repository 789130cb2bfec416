package agent

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
)

// TestABeginningTravelsWithWhatComesNext: unless that takes long, or somebody waits for it.
func TestABeginningTravelsWithWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(*outbox)
		want []wire.EventKind // of the next batch, at once
	}{
		"nothing":       {func(*outbox) {}, nil},
		"its end":       {func(o *outbox) { o.add(wire.Event{Kind: wire.Done}) }, []wire.EventKind{wire.Started, wire.Done}},
		"time":          {func(*outbox) { time.Sleep(2 * linger) }, []wire.EventKind{wire.Started}},
		"another":       {func(o *outbox) { o.add(wire.Event{Kind: wire.Started}) }, nil},
		"who waits":     {func(o *outbox) { o.urge() }, []wire.EventKind{wire.Started}},
		"acknowledging": {func(o *outbox) { o.ack(0) }, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutbox(newTestLine(t), nil, 0)
			defer o.close(false)
			o.add(wire.Event{Kind: wire.Started})
			tt.then(o)
			synctest.Wait()
			var got []wire.EventKind
			if f, _ := o.takeOff(t.Context(), 0); f != nil {
				defer f.land()
				for _, raw := range f.Events {
					var e wire.Event
					if err := json.Unmarshal(raw, &e); err != nil {
						t.Fatal(err)
					}
					got = append(got, e.Kind)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("after %s %v is sent, want %v", name, got, tt.want)
			}
		})
	}
}

// silent is a controller that answers nothing by itself.
type silent struct {
	wire.Transport
	sent atomic.Int64
}

func (c *silent) Request(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	c.sent.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// An Advance that names the session answers what told of its gate: nothing is sent again then. What begins on it counts from when that was sent first, however often it was
// sent since, so an Advance that was held back lets nothing begin.
func TestAdvanceIsAnAnswerToWhatToldOfTheGate(t *testing.T) {
	for name, tt := range map[string]struct {
		after  time.Duration
		wanted bool
	}{"soon": {2 * time.Second, true}, "held back": {time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			l := newTestLine(t)
			c := &silent{Transport: l.agent.cfg.Transport}
			l.agent.cfg.Transport = c
			o := newOutbox(l, nil, 0)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { o.run(ctx) })
			o.heard()
			o.add(wire.Event{Kind: wire.AtGate, Next: "1.0"})
			time.Sleep(tt.after)
			o.heard()
			sent := c.sent.Load()
			if !o.empty() || l.isWanted() != tt.wanted {
				t.Errorf("%s: nothing waits: %v; something may begin: %v", name, o.empty(), l.isWanted())
			}
			time.Sleep(time.Hour)
			if c.sent.Load() != sent {
				t.Errorf("%s: it was sent again", name)
			}
			o.add(wire.Event{Kind: wire.Done})
			o.heard() // a copy of the same
			if o.empty() {
				t.Errorf("%s: what came after the gate counts as heard", name)
			}
			cancel()
			running.Wait()
		})
	}
}
