package agent

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/mem"
)

// newTestLine is a line of an agent that does not run, in the third turn.
func newTestLine(t *testing.T) *controllerLink {
	t.Helper()
	var bus mem.Bus
	identity := newIdentity(t)
	a := New(Config{Transport: bus.Connect(identity.ID()), Identity: identity, Heartbeat: -1})
	l := newControllerLink(a, "operator", "r", "h1", wire.Key{}, terms{})
	l.begin(wire.Session{Life: "now", Turn: 3}, terms{lease: time.Minute, fresh: 3 * time.Second})
	return l
}

// Something begins only on an answer to a question of this turn that is fresh, counted from the question.
func TestOnlyFreshAnswersOfTheTurnCount(t *testing.T) {
	this := wire.Session{Life: "now", Turn: 3}
	for name, tt := range map[string]struct {
		as  wire.Session
		ago time.Duration
		ok  bool
	}{
		"fresh":                 {this, 2 * time.Second, true},
		"old":                   {this, 4 * time.Second, false},
		"of an earlier turn":    {wire.Session{Life: "now", Turn: 2}, 0, false},
		"of an earlier process": {wire.Session{Life: "before", Turn: 3}, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newTestLine(t)
			time.Sleep(time.Minute)
			l.answered(time.Now().Add(-tt.ago), tt.as, 0)
			asked := false
			err := l.awaitWanted(t.Context(), func() {
				asked = true
				l.answered(time.Now(), this, 0)
			})
			if err != nil || asked == tt.ok {
				t.Errorf("%s: asked %v, %v", name, asked, err)
			}
		})
	}
}

// A way that is too slow for anything to begin is an error after a while, and no waiting for ever.
func TestAnswersThatAlwaysComeLateAreAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestLine(t)
		err := l.awaitWanted(t.Context(), func() { l.answered(time.Now().Add(-5*time.Second), l.who(), 0) })
		if !errors.Is(err, errSlow) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// late is a controller that answers each renewal after some time, and grants what wire.Grant says.
type late struct {
	wire.Transport
	after time.Duration
	line  func() *controllerLink

	mu   sync.Mutex
	asks int // guarded by mu
}

func (c *late) Request(ctx context.Context, _ string, data []byte) ([]byte, error) {
	c.mu.Lock()
	c.asks++
	c.mu.Unlock()
	f, err := wire.Parse(data)
	if err != nil {
		return nil, err
	}
	l := c.line()
	var r wire.Renew
	if err := f.Body(l.agent.codec, wire.SealHost, wire.Keys{Host: &l.key}, &r); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(c.after):
	}
	answer := wire.Renewed{StopVerdict: wire.StopVerdict{Fresh: wire.Grant(wire.Fresh, r.Late)}}
	return l.agent.codec.Pack(wire.Header{Kind: wire.KindAnswer, To: f.Header.Nonce}, answer, wire.Packing{Key: &l.key, Seal: wire.SealHost})
}

// A controller that is late by many seconds is waited for, is not asked again and again meanwhile, and things begin
// on its answers.
func TestLateControllerKeepsItsHosts(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 4 * time.Second, 7 * time.Second, 12 * time.Second, 25 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := newTestLine(t)
			c := &late{Transport: l.agent.cfg.Transport, after: after, line: func() *controllerLink { return l }}
			l.agent.cfg.Transport = c
			ctx, cancel := context.WithCancel(t.Context())
			now := make(chan struct{}, 1)
			var keeping sync.WaitGroup
			keeping.Go(func() {
				l.keep(ctx, now, func() wire.Renew { return wire.Renew{Session: l.says()} }, func(wire.Renewed) {})
			})
			for range 3 {
				began := time.Now()
				if err := l.awaitWanted(ctx, func() { poke(now) }); err != nil {
					t.Errorf("late by %s: %v", after, err)
				}
				if took := time.Since(began); took > 8*after+10*time.Second {
					t.Errorf("late by %s: it took %s until something could begin", after, took)
				}
				time.Sleep(5 * time.Minute)
			}
			cancel()
			keeping.Wait()
			if most := 3*5*5 + 20; c.asks > most {
				t.Errorf("late by %s: it was asked %d times in 15 minutes", after, c.asks)
			}
			select {
			case <-l.isGone():
				t.Errorf("late by %s: the lease ran out", after)
			default:
			}
		})
	}
}
