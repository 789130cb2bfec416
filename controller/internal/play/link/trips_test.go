package link

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/controller/internal/fleet/roster"
)

// far is a line on which every message takes as long, in each direction.
type far struct {
	wire.Transport
	takes time.Duration
}

func (f *far) Publish(subject string, frame []byte) error {
	later(f.takes, func() { _ = f.Transport.Publish(subject, frame) })
	return nil
}

func (f *far) Request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	time.Sleep(f.takes)
	answer, err := f.Transport.Request(ctx, subject, frame)
	time.Sleep(f.takes)
	return answer, err
}

func (f *far) Subscribe(subject string, take func(wire.Msg)) (wire.Subscription, error) {
	var mu sync.Mutex // one at a time
	return f.Transport.Subscribe(subject, func(m wire.Msg) {
		if respond := m.Respond; respond != nil {
			m.Respond = func(frame []byte) error {
				later(f.takes, func() { _ = respond(frame) })
				return nil
			}
		}
		later(f.takes, func() {
			mu.Lock()
			defer mu.Unlock()
			take(m)
		})
	})
}

// one is a roster of one agent.
type one struct{ *wire.Identity }

func (o one) Find(_ context.Context, name string) (roster.Agent, error) {
	return roster.Agent{Hello: wire.Hello{ID: o.ID(), Name: name, XKey: o.XKey}, Key: o.Key}, nil
}
func (one) Size() int                           { return 1 }
func (one) Patience(roster.Agent) time.Duration { return 0 }

// pair is a controller and one agent, h1, behind a line of its own. end ends the run and both.
func pair(t *testing.T, w *world, line func(wire.Transport) wire.Transport) (hub *Hub, end func()) {
	var bus mem.Bus
	op, id := operator(t), operator(t)
	to := line(bus.Connect(id.ID()))
	ready := make(chan struct{})
	a := agent.New(agent.Config{
		Transport: to, Identity: id, Name: "h1", Modules: w.registry(), Logger: testLog(), Heartbeat: -1, Grace: -1,
		Trusted: func(k string) bool { return k == op.Key }, Ready: func() { close(ready) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	<-ready
	hub = New(Config{
		Run: "r1", Operator: op, Broker: bus.Connect(op.ID()), Roster: one{id}, Logger: testLog(),
		Asks: answerFunc(func(context.Context, wire.Ask) wire.Answer { return wire.Answer{} }),
	})
	return hub, func() {
		if err := hub.End(ctx); err != nil {
			t.Error(err)
		}
		_ = hub.Close()
		cancel()
		running.Wait()
		_ = to.Close()
	}
}

// trips is how many times as long as a message and its answer a play takes whose host is far away, until its last
// event is here.
func trips(t *testing.T, tasks int, login *wire.Login) float64 {
	const takes = 50 * time.Millisecond
	hub, end := pair(t, newWorld(), func(t wire.Transport) wire.Transport { return &far{t, takes} })
	ctx, running := t.Context(), sync.WaitGroup{}
	var texts []string
	for i := range tasks {
		texts = append(texts, fmt.Sprint(i))
	}
	s := start(t, "r1", "h1", steps("0.0", false, "test.t.echo", texts...))
	s.Window, s.Login = 256<<10, login
	began := time.Now()
	running.Go(func() {
		if err := hub.Start(ctx, s); err != nil {
			t.Error(err)
		}
	})
	done := 0
	for e := range hub.Events() {
		if e.Kind == wire.Done {
			done++
		}
		if e.Kind == wire.Ended {
			break
		}
	}
	took := time.Since(began)
	if done != tasks {
		t.Errorf("%d of %d tasks were told", done, tasks)
	}
	running.Wait()
	end()
	return float64(took) / float64(2*takes)
}

// A play without barriers takes two round trips, whatever the number of its tasks: one opens the session and asks
// whether the first task may begin, with the answer all run, and are told without waiting for one another.
func TestPlayWithoutBarriersTakesTwoRoundTrips(t *testing.T) {
	for _, tasks := range []int{1, 2, 20, 300} {
		synctest.Test(t, func(t *testing.T) {
			if got := trips(t, tasks, nil); int(got+0.5) != 2 {
				t.Errorf("%d tasks take %.2f round trips", tasks, got)
			}
		})
	}
}

// The same holds for an agent that was brought in by a login, as long as no task names another one.
func TestPlayByALoginTakesTwoRoundTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := trips(t, 20, &wire.Login{Way: map[string]string{"ansible_connection": ""}}); int(got+0.5) != 2 {
			t.Errorf("20 tasks take %.2f round trips", got)
		}
	})
}
