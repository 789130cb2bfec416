package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"hark/agent/wire"
)

// announcer tells the operators that the agent is there, and what it says of itself.
type announcer struct {
	cfg        *Config
	id         string
	codec      *wire.Codec
	refused    *refusals
	handedOver <-chan struct{}
	hello      func() wire.Hello
	// serve runs what belongs to the work of the agent; reconnected is called after each connection but the first.
	serve       func(func())
	reconnected func()
}

// run reports that the agent is there: a hello after each connection, a heartbeat at intervals, a bye at the
// end. It returns when ctx is done or another process reports presence.
func (p *announcer) run(ctx context.Context) {
	if p.cfg.Heartbeat < 0 {
		select {
		case <-ctx.Done():
		case <-p.handedOver:
		}
		return
	}
	said := p.announcement()
	for {
		select {
		case <-p.handedOver:
			p.say(wire.KindBye)
			return
		case <-ctx.Done():
			p.say(wire.KindBye)
			flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = p.cfg.Transport.Flush(flush)
			return
		case <-p.cfg.Connected:
			p.greet()
			p.reconnected()
		case <-time.After(p.cfg.Heartbeat - rand.N(p.cfg.Heartbeat/5+1)):
			if now := p.announcement(); now != said { // so that lists show it
				said = now
				p.say(wire.KindHello)
			}
			p.say(wire.KindBeat)
		}
	}
}

// announcement returns the part of a hello that may change: trouble and hold.
func (p *announcer) announcement() string {
	h := p.hello()
	if h.Hold == nil {
		return h.Trouble
	}
	return h.Trouble + "\n" + h.Hold.Until.String() + h.Hold.Why
}

// greet says hello.
func (p *announcer) greet() {
	if p.cfg.Heartbeat <= 0 {
		return
	}
	p.say(wire.KindHello)
	if p.cfg.Greeted == nil {
		return
	}
	p.serve(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if p.cfg.Transport.Flush(ctx) == nil {
			p.cfg.Greeted()
		}
	})
}

// say publishes a message of presence. It may fail: after the next connection the agent says hello again.
func (p *announcer) say(k wire.Kind) {
	var body any = struct{}{}
	switch k {
	case wire.KindHello:
		body = p.hello()
	case wire.KindBeat:
		body = p.beat()
	}
	frame, err := p.codec.Pack(wire.Header{Kind: k, Fleet: p.cfg.Fleet}, body,
		wire.Packing{Sign: p.cfg.Identity, Now: p.cfg.Now})
	if err == nil {
		err = p.cfg.Transport.Publish(wire.Presence(p.id, k), frame)
	}
	if err != nil {
		p.cfg.Logger.Debug().Str("kind", string(k)).AnErr("cause", err).Msg("cannot say that this agent is here")
	}
}

// beat returns the body of a heartbeat.
func (p *announcer) beat() wire.Beat {
	b := wire.Beat{Refused: p.refused.all(), RefusedLastHour: p.refused.lately(p.cfg.Now())}
	if p.cfg.Host.Jobs.Afoot == nil {
		return b
	}
	for _, j := range p.cfg.Host.Jobs.Afoot() {
		if b.JobCount++; len(b.Jobs) < wire.MaxBeatJobs {
			b.Jobs = append(b.Jobs, wire.BeatJob{ID: j.ID, Run: j.Run, State: j.State, Began: j.Began})
		}
	}
	return b
}

// again repeats what may have been lost with the last connection: requests in flight, events, missed Advances.
func (a *Agent) again() {
	a.mu.Lock()
	relink := a.relink
	a.link, a.relink = context.WithCancel(context.Background())
	a.mu.Unlock()
	relink()
	for _, s := range a.runs.sessions() {
		poke(s.out.retry)
		poke(s.renew)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.formerSessions {
		poke(m.out.retry)
	}
}

// connection is over when the broker was lost and is reached again.
func (a *Agent) connection() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.link
}

// handleFleetSize passes on how many agents the fleet has, and stores it for the next start: after a power cut a
// whole fleet starts at once.
func (a *Agent) handleFleetSize(data []byte) {
	n := wire.ParseFleetSize(data)
	if n == 0 || a.handover.keepsAny() {
		return
	}
	a.cfg.FleetSizeChanged(n)
	if a.store == nil {
		return
	}
	if err := a.store.KeepFleetSize(n); err != nil {
		a.cfg.Logger.Debug().AnErr("cause", err).Msg("cannot keep the size of the fleet")
	}
}

// reachable asks the broker whether it answers this agent.
func reachable(ctx context.Context, t wire.Transport) bool {
	if t.Since().IsZero() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askBroker)
	defer cancel()
	return t.Flush(ctx) == nil
}

// askBroker is how long the broker may take to answer.
const askBroker = 3 * time.Second

// greetAgain is how often pings have an agent say hello again at most.
const greetAgain = time.Second

// remind says hello again if a ping asks for it: somebody has overwritten at the broker what this agent said.
func (a *Agent) remind(l *letter) {
	var ask wire.Ping
	if l.Body(a.codec, "", wire.Keys{}, &ask) != nil || !ask.Greet || a.cfg.Heartbeat <= 0 {
		return
	}
	now := a.cfg.Now()
	a.mu.Lock()
	soon := now.Sub(a.reminded) < greetAgain
	if !soon {
		a.reminded = now
	}
	a.mu.Unlock()
	if !soon {
		a.presence.say(wire.KindHello)
	}
}

// handlePing answers the question whether the agent is there and which sessions of a run it holds.
func (a *Agent) handlePing(l *letter) {
	defer a.remind(l)
	alive := wire.Alive{
		Hello: a.hello(), Life: a.life, Turns: map[string]uint64{}, Refused: a.Refused(),
		RefusedLastHour: a.inbox.refused.lately(a.cfg.Now()),
	}
	if a.cfg.Program != nil {
		alive.Program = a.cfg.Program()
	}
	a.mu.Lock()
	if r := a.runs.byID[l.Header.Run]; r != nil {
		for host, s := range r.sessions {
			alive.Turns[host] = s.line.who().Turn
			poke(s.out.retry) // the sender may be the controller that waiting events are for
		}
	}
	for m := range a.formerSessions {
		if m.line.run == l.Header.Run {
			alive.Left = append(alive.Left, m.line.host)
			poke(m.out.retry)
		}
	}
	a.mu.Unlock()
	a.inbox.answer(l, alive)
}
