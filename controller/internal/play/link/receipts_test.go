package link

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// counting counts what an agent answers and asks, and what it is sent. The first lost of its requests do not arrive.
type counting struct {
	wire.Transport
	lost                  atomic.Int64
	plans, answers, asked atomic.Int64
}

func (c *counting) Request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	c.asked.Add(1)
	if c.lost.Add(-1) >= 0 {
		return nil, errors.New("it is lost")
	}
	return c.Transport.Request(ctx, subject, frame)
}

func (c *counting) Subscribe(subject string, take func(wire.Msg)) (wire.Subscription, error) {
	return c.Transport.Subscribe(subject, func(m wire.Msg) {
		if strings.HasSuffix(m.Subject, "."+string(wire.KindPlan)) {
			c.plans.Add(1)
		}
		if respond := m.Respond; respond != nil {
			m.Respond = func(frame []byte) error {
				c.answers.Add(1)
				return respond(frame)
			}
		}
		take(m)
	})
}

// The acknowledgement of an opening goes with the first result if that is there soon, and is no message of its own:
// one that is lost comes again with what is sent again. Else it goes alone, and who opens waits for no task.
func TestTheAcknowledgementGoesWithTheFirstResult(t *testing.T) {
	for name, c := range map[string]struct {
		module                string
		lost                  int64
		plans, answers, asked int64
	}{
		"a result at once":      {"test.t.echo", 0, 1, 0, 2}, // what begins asks first
		"the first one is lost": {"test.t.echo", 1, 1, 0, 3},
		"a long task":           {"test.t.hang", 0, 1, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, line := newWorld(), &counting{}
				line.lost.Store(c.lost)
				hub, end := pair(t, w, func(t wire.Transport) wire.Transport { line.Transport = t; return line })
				s := start(t, "r1", "h1", steps("0.0", false, c.module, "a"))
				s.Last = true
				began := time.Now()
				if err := hub.Start(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("the opening took %s", took)
				}
				close(w.release)
				for e := range hub.Events() {
					if e.Kind == wire.Ended {
						break
					}
				}
				end()
				if w.count("a") != 1 {
					t.Errorf("it ran %d times", w.count("a"))
				}
				more := line.asked.Load() - c.asked // one, where the end comes too late for the batch with the result
				if line.plans.Load() != c.plans || line.answers.Load() != c.answers || more < 0 || more > 1 {
					t.Errorf("%d plans, %d answers, %d requests", line.plans.Load(), line.answers.Load(), line.asked.Load())
				}
			})
		})
	}
}

// A gate at which nothing is told at once: the acknowledgement does not wait for it.
func TestAnAcknowledgementGoesAloneWhereNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := &counting{}
		line.lost.Store(5) // while the plan is pulled, which takes longer than the acknowledgement waits for a result
		hub, end := pair(t, newWorld(), func(t wire.Transport) wire.Transport { line.Transport = t; return line })
		s := start(t, "r1", "h1", steps("0.0", false, "test.t.echo", "a"))
		s.Plan = nil
		began := time.Now()
		if err := hub.Start(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second || line.answers.Load() != 1 {
			t.Errorf("the opening took %s and %d answers", took, line.answers.Load())
		}
		for e := range hub.Events() {
			if e.Kind == wire.Ended {
				break
			}
		}
		end()
	})
}

// Who is only being opened, and was never heard of, is not silent.
func TestWhoIsBeingOpenedIsNotAsked(t *testing.T) {
	h := New(Config{Run: "r1", Logger: testLog()})
	defer h.Close()
	p := &peer{id: "a", hosts: map[string]bool{}}
	h.members.peers[p.id] = p
	h.members.mu.Lock()
	h.members.turnTo("h1", p)
	h.members.mu.Unlock()
	if asked := silent(allAwaited(h.members), h.times.Silence, false, time.Now().Add(time.Second)); len(asked) > 0 {
		t.Error("it is asked whether it is there")
	}
	if asked := silent(allAwaited(h.members), h.times.Silence, false, time.Now().Add(waitsLonger*h.times.Silence+time.Second)); len(asked) != 1 {
		t.Error("it is never asked whether it is there")
	}
}

// Openings that are under way together have one signature where their agents know that, and one each where they do
// not. All are obeyed.
func TestOpeningsAreSignedTogether(t *testing.T) {
	for knows, want := range map[bool]int{true: 2, false: 40} {
		synctest.Test(t, func(t *testing.T) {
			line := &signatures{seen: map[string]bool{}}
			hub, end := pair(t, newWorld(), func(t wire.Transport) wire.Transport { line.Transport = t; return line })
			hub.cfg.Roster = knowing{hub.cfg.Roster, knows}
			hub.requests.openings.Store(32) // so that the first waits for others
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					if err := hub.Start(t.Context(), start(t, "r1", fmt.Sprint("h", i), steps("0.0", false, "test.t.echo", "a"))); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for ended := 0; ended < 40; {
				if e := <-hub.Events(); e.Kind == wire.Ended {
					ended++
				}
			}
			end()
			if len(line.seen) != want {
				t.Errorf("known: %t, %d signatures, want %d", knows, len(line.seen), want)
			}
		})
	}
}

// knowing are agents that know signatures for many messages, or do not.
type knowing struct {
	Roster
	joint bool
}

func (k knowing) Find(ctx context.Context, name string) (roster.Agent, error) {
	a, err := k.Roster.Find(ctx, name)
	a.Joint = k.joint
	return a, err
}

// signatures are those of the openings that come to an agent.
type signatures struct {
	wire.Transport

	mu   sync.Mutex
	seen map[string]bool // guarded by mu
}

func (s *signatures) Subscribe(subject string, take func(wire.Msg)) (wire.Subscription, error) {
	return s.Transport.Subscribe(subject, func(m wire.Msg) {
		if strings.HasSuffix(m.Subject, "."+string(wire.KindPlan)) {
			frame := m.Data[len("hk1\n"):]
			n, size := binary.Uvarint(frame)
			_, more := binary.Uvarint(frame[size+int(n):])
			sig := frame[size+int(n)+more:][:ed25519.SignatureSize]
			s.mu.Lock()
			s.seen[string(sig)] = true
			s.mu.Unlock()
		}
		take(m)
	})
}
