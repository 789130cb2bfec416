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

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// TestABeginningTravelsWithWhatComesNext: unless that takes long, or somebody waits for it.
func TestABeginningTravelsWithWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(*outbox)
		want []wire.EventKind // of the next batch, at once
	}{
		"nothing":       {func(*outbox) {}, nil},
		"its end":       {func(o *outbox) { _ = o.add(wire.Event{Kind: wire.Done}) }, []wire.EventKind{wire.Started, wire.Done}},
		"time":          {func(*outbox) { time.Sleep(2 * linger) }, []wire.EventKind{wire.Started}},
		"another":       {func(o *outbox) { _ = o.add(wire.Event{Kind: wire.Started}) }, nil},
		"who waits":     {func(o *outbox) { o.urge() }, []wire.EventKind{wire.Started}},
		"acknowledging": {func(o *outbox) { o.ack(0) }, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutbox(newTestLine(t), nil, 0)
			defer o.close(false)
			_ = o.add(wire.Event{Kind: wire.Started})
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

// An Advance that names the session answers what told of its gate: nothing is sent again then. What begins on it
// counts from when that was sent first, however often it was sent since, so an Advance that was held back lets
// nothing begin.
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
			_ = o.add(wire.Event{Kind: wire.AtGate, Next: "1.0"})
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
			_ = o.add(wire.Event{Kind: wire.Done})
			o.heard() // a copy of the same
			if o.empty() {
				t.Errorf("%s: what came after the gate counts as heard", name)
			}
			cancel()
			running.Wait()
		})
	}
}

// owing is a controller that owes the answer to a batch which tells of a gate, as long as none comes after it: it
// remembers one of each session.
type owing struct {
	wire.Transport
	line *controllerLink

	mu   sync.Mutex
	last chan struct{}  // of the batch that came last, closed when another comes; guarded by mu
	came map[uint64]int // how often each event has; guarded by mu
}

// owedFor is how long controllers owe an answer.
const owedFor = 1500 * time.Millisecond

func (c *owing) Request(ctx context.Context, _ string, frame []byte) ([]byte, error) {
	f, err := wire.Parse(frame)
	var codec wire.Codec
	var b wire.Batch
	if err == nil {
		err = f.Body(&codec, wire.SealHost, wire.Keys{Host: &c.line.key}, &b)
	}
	if err != nil {
		return nil, err
	}
	forgotten := make(chan struct{})
	c.mu.Lock()
	if c.last != nil {
		close(c.last)
	}
	c.last = forgotten
	for _, e := range b.Events {
		c.came[e.Seq]++
	}
	c.mu.Unlock()
	end := b.Events[len(b.Events)-1]
	if end.Gate() != "" {
		select {
		case <-time.After(owedFor):
		case <-forgotten:
			<-ctx.Done()
			return nil, ctx.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: f.Header.Run, To: f.Header.Nonce}, wire.Acked{Run: b.Run, Host: b.Host, Seq: end.Seq},
		wire.Packing{Key: &c.line.key, Seal: wire.SealHost})
}

// A session that was let go by an Advance which does not name it goes on while it is owed an answer. What it tells
// then waits for that answer: sent beside it, it would make the controller forget what it owes, and everything would
// be sent again, later than it would have been answered.
func TestWhatIsOwedIsNotForgotten(t *testing.T) {
	for _, pause := range []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := newTestLine(t)
			c := &owing{Transport: l.agent.cfg.Transport, line: l, came: map[uint64]int{}}
			l.agent.cfg.Transport = c
			o := newOutbox(l, nil, 0)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { o.run(ctx) })
			const steps = 5
			for range steps {
				_ = o.add(wire.Event{Kind: wire.Started})
				_ = o.add(wire.Event{Kind: wire.Done, Next: "1.0"})
				time.Sleep(pause)
			}
			began := time.Now()
			if err := o.flushed(ctx); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 2*owedFor {
				t.Errorf("a step each %s: the last is there after %s", pause, took)
			}
			for seq := range uint64(2 * steps) {
				if n := c.came[seq+1]; n != 1 {
					t.Errorf("a step each %s: event %d came %d times", pause, seq+1, n)
				}
			}
			o.close(false)
			cancel()
			running.Wait()
		})
	}
}

// What changes things is in the log when it begins, and what came of it when it is told; a batch that leaves is in it
// too. What only passes waits.
func TestTheLogHasWhatOthersKnowAndWhatTheHostHasComeBy(t *testing.T) {
	done, started := wire.Event{Kind: wire.Done, Step: "1"}, wire.Event{Kind: wire.Started, Step: "1"}
	for name, tt := range map[string]struct {
		do   func(*outbox)
		want uint64 // the last event in the log
	}{
		"passes":  {func(o *outbox) { _ = o.add(started); _ = o.add(done) }, 0},
		"begins":  {func(o *outbox) { _ = o.add(started); _ = o.durable(t.Context()) }, 1},
		"is done": {func(o *outbox) { _ = o.add(started); _ = o.durable(t.Context()); _ = o.add(done); _ = o.add(started) }, 2},
		"leaves":  {func(o *outbox) { _ = o.add(started); _ = o.add(done); f, _ := o.takeOff(t.Context(), 0); f.land() }, 2},
		"is over": {func(o *outbox) { _ = o.add(started); _ = o.add(done); o.close(true) }, 2},
	} {
		s, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		log, err := s.Begin(store.Head{Run: "r", Host: "h1", Boot: "b"})
		if err != nil {
			t.Fatal(err)
		}
		o := newOutbox(newTestLine(t), log, 0)
		tt.do(o)
		found, errs := s.Recover()
		if len(errs) > 0 || len(found) != 1 || found[0].Seq != tt.want {
			t.Errorf("what %s: the log has %+v, %v", name, found, errs)
		}
		o.close(false)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
