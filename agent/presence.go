package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"hark/agent/wire"
)

// presence says that the agent is there, until ctx is over: hello after each connection, a heartbeat now and then,
// bye at the end.
func (a *Agent) presence(ctx context.Context) {
	if a.cfg.Heartbeat < 0 {
		<-ctx.Done()
		return
	}
	said := a.standing()
	for {
		select {
		case <-ctx.Done():
			a.say(wire.KindBye)
			flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = a.cfg.Transport.Flush(flush)
			return
		case <-a.cfg.Connected:
			a.greet()
			a.again()
		case <-time.After(a.cfg.Heartbeat - rand.N(a.cfg.Heartbeat/5+1)):
			if now := a.standing(); now != said { // lists shall show it
				said = now
				a.say(wire.KindHello)
			}
			a.say(wire.KindBeat)
		}
	}
}

// standing is what is said anew when it changes: trouble and hold.
func (a *Agent) standing() string {
	h := a.hello()
	if h.Hold == nil {
		return h.Trouble
	}
	return h.Trouble + "\n" + h.Hold.Until.String() + h.Hold.Why
}

// greet says hello.
func (a *Agent) greet() {
	if a.cfg.Heartbeat <= 0 {
		return
	}
	a.say(wire.KindHello)
	if a.cfg.Greeted == nil {
		return
	}
	a.serve(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if a.cfg.Transport.Flush(ctx) == nil {
			a.cfg.Greeted()
		}
	})
}

// again repeats what may have been lost with the last connection: requests in flight, events, missed Advances.
func (a *Agent) again() {
	a.mu.Lock()
	relink := a.relink
	a.link, a.relink = context.WithCancel(context.Background())
	a.mu.Unlock()
	relink()
	for _, s := range a.sessions() {
		poke(s.out.retry)
		poke(s.renew)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.remnants {
		poke(m.out.retry)
	}
}

// connection is over when the broker was lost and is reached again.
func (a *Agent) connection() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.link
}

// say publishes a message of presence. It may fail: the next connection says hello again.
func (a *Agent) say(k wire.Kind) {
	var body any = struct{}{}
	switch k {
	case wire.KindHello:
		body = a.hello()
	case wire.KindBeat:
		body = a.beat()
	}
	frame, err := a.codec.Pack(wire.Header{Kind: k, Fleet: a.cfg.Fleet}, body, wire.Packing{Sign: a.cfg.Identity, Now: a.cfg.Now})
	if err == nil {
		err = a.cfg.Transport.Publish(wire.Presence(a.id, k), frame)
	}
	if err != nil {
		a.cfg.Logger.Debug().Str("kind", string(k)).AnErr("cause", err).Msg("cannot say that this agent is here")
	}
}

// beat is what changes while the agent is there.
func (a *Agent) beat() wire.Beat {
	b := wire.Beat{Refused: a.Refused(), Lately: a.refused.lately(a.cfg.Now())}
	if a.cfg.Host.Jobs.Afoot == nil {
		return b
	}
	for _, j := range a.cfg.Host.Jobs.Afoot() {
		if b.Afoot++; len(b.Jobs) < wire.MostTold {
			b.Jobs = append(b.Jobs, wire.JobTold{ID: j.ID, Run: j.Run, State: j.State, Began: j.Began})
		}
	}
	return b
}

// takeCrowd passes on how many agents the fleet has, and keeps it for the next start: after a power cut a whole fleet
// starts at once.
func (a *Agent) takeCrowd(data []byte) {
	n := wire.ParseCrowd(data)
	if n == 0 {
		return
	}
	a.cfg.Crowd(n)
	if a.store == nil {
		return
	}
	if err := a.store.KeepCrowd(n); err != nil {
		a.cfg.Logger.Debug().AnErr("cause", err).Msg("cannot keep the size of the fleet")
	}
}

// reachable reports whether the broker answers this agent, which it is asked.
func (a *Agent) reachable(ctx context.Context) bool {
	if a.cfg.Transport.Since().IsZero() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askBroker)
	defer cancel()
	return a.cfg.Transport.Flush(ctx) == nil
}

// askBroker is how long the broker may take to answer.
const askBroker = 3 * time.Second

// takePing answers an operator who asks whether the agent is there and which sessions of a run it holds.
func (a *Agent) takePing(l *letter) {
	alive := wire.Alive{
		Hello: a.hello(), Life: a.life, Turns: map[string]uint64{}, Refused: a.Refused(), Lately: a.refused.lately(a.cfg.Now()),
	}
	if a.cfg.Program != nil {
		alive.Program = a.cfg.Program()
	}
	a.mu.Lock()
	if r := a.runs[l.Header.Run]; r != nil {
		for host, s := range r.sessions {
			alive.Turns[host] = s.line.who().Turn
			poke(s.out.retry) // who asks may be there to hear what waits
		}
	}
	for m := range a.remnants {
		if m.line.run == l.Header.Run {
			alive.Left = append(alive.Left, m.line.host)
			poke(m.out.retry)
		}
	}
	a.mu.Unlock()
	a.answer(l, alive)
}
