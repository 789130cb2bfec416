package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// peer is an agent that takes part in the run.
type peer struct {
	id, key, xkey string
	name          string // of the agent
	hostKey       wire.Key
	bus           *bus
	local         bool
	hosts         map[string]bool // that it serves in this run; guarded by members.mu
	// listensToEach: it listens to wire.ToEach; told: that is known; guarded by members.mu
	listensToEach, toEachKnown bool

	mu    sync.Mutex
	seq   uint64    // guarded by mu
	heard time.Time // guarded by mu
	// released is when a host of its was let go last: until then nothing was to come of it; guarded by mu
	released time.Time
	seen     time.Time // by the roster, before the run; guarded by mu
	ping     *ping     // guarded by mu
	// patience is how long it may take to connect if it is not connected, by the roster; guarded by mu
	patience time.Duration
	joint    bool   // it knows signatures that are for many messages; guarded by mu
	away     bool   // the broker lost its connection; guarded by mu
	ending   ending // guarded by mu
}

// ending is what is known of an agent and the end of the run.
type ending int

const (
	needsEnd   ending = iota // it gets the end by itself, and acknowledges it
	reportsEnd               // it says by itself that it has heard of it
	hasEnded
)

func (p *peer) nextSeq() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	return p.seq
}

func (p *peer) hear(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = now
}

// release notes that a host of the agent was let go.
func (p *peer) release(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = now
}

// end notes what is known of the agent and the run's end, and returns what was known before.
func (p *peer) end(now ending) (before ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.ending = p.ending, now
	return before
}

func (p *peer) is(e ending) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending == e
}

func (p *peer) knowsJoint() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.joint
}

// setAway notes that somebody looks after the agent, or no more, and reports whether that is new.
func (p *peer) setAway(on bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.away != on
	p.away = on
	return changed
}

// lastSeen returns the end of a sentence about an agent that is not there.
func (p *peer) lastSeen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	if p.heard.After(seen) {
		seen = p.heard
	}
	if seen.IsZero() {
		return ""
	}
	return fmt.Sprintf(": last seen %s, %s ago", seen.Local().Format("2006-01-02 15:04:05"),
		time.Since(seen).Round(time.Second))
}

// route finds the agent of a host. What it cannot find is an *AbsentError.
func (h *Hub) route(ctx context.Context, name string) (*peer, error) {
	if h.cfg.Local != nil && h.cfg.Local(name) {
		return h.localPeer()
	}
	agentName := name
	if h.cfg.AgentName != nil {
		agentName = h.cfg.AgentName(name)
	}
	return h.agent(ctx, name, agentName)
}

// agent finds an agent for a host. What it cannot find is an *AbsentError.
func (h *Hub) agent(ctx context.Context, name, agentName string) (*peer, error) {
	b, err := h.brokerBus(ctx)
	if err == nil {
		err = h.requests.awaitBroker(ctx, b.answers)
	}
	if err != nil {
		never := h.cfg.Broker == nil && h.cfg.OnRecord != nil && !h.cfg.OnRecord(agentName)
		return nil, &AbsentError{Host: name, Reason: err.Error(), Never: never}
	}
	a, err := h.cfg.Roster.Find(ctx, agentName)
	var unknown *roster.UnknownError
	switch {
	case errors.As(err, &unknown):
		if why := h.requests.whyAbsent(ctx, agentName, ""); why != "" {
			return nil, &AbsentError{Host: name, Reason: fmt.Sprintf("the agent of %s %s", name, why), Never: true}
		}
		return nil, &AbsentError{Host: name,
			Reason: fmt.Sprintf("no agent named %s was ever enrolled with this broker", agentName), Never: true}
	case err != nil:
		return nil, &AbsentError{Host: name, Reason: err.Error()}
	}
	return h.peer(a, b), nil
}

// Enrolled reports whether a host has an agent, be it there or away. The error says why that is not known.
func (h *Hub) Enrolled(ctx context.Context, name string) (bool, error) {
	_, err := h.route(ctx, name)
	var absent *AbsentError
	if errors.As(err, &absent) && absent.Never {
		return false, nil
	}
	return err == nil, err
}

// peer returns the agent of a roster's entry.
func (h *Hub) peer(a roster.Agent, b *bus) *peer {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	p := h.members.peers[a.ID]
	if p == nil {
		p = &peer{id: a.ID, name: a.Name, key: a.Key, xkey: a.XKey, hostKey: wire.NewKey(), bus: b, seen: a.Seen,
			hosts: map[string]bool{}}
		h.members.peers[a.ID] = p
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.joint = a.Joint
	p.patience = min(h.cfg.Roster.Patience(a), h.times.Return)
	return p
}

var errNoBroker = errors.New("no broker is configured")

// Reset implements Link: agents that are there anyway need no new connection.
func (h *Hub) Reset(string) {}

// dial connects to the broker where that was left until now.
func (h *Hub) dial() {
	if h.cfg.Dial == nil {
		return
	}
	h.dialling.Do(func() {
		far, err := h.cfg.Dial(h.ctx)
		h.members.mu.Lock()
		defer h.members.mu.Unlock()
		h.cfg.Broker, h.cfg.Operator, h.cfg.Roster, h.cfg.WhyAbsent, h.cfg.BrokerErr = far.Broker, far.Operator, far.Roster,
			far.WhyAbsent, err
	})
}

// brokerBus listens on the broker, once. A broker that has just gone away is waited for.
func (h *Hub) brokerBus(ctx context.Context) (*bus, error) {
	h.dial()
	h.members.mu.Lock()
	broker := h.cfg.Broker
	h.members.mu.Unlock()
	if broker != nil {
		if err := h.requests.awaitBroker(ctx, func() bool { return !broker.Since().IsZero() }); err != nil {
			return nil, err
		}
	}
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	switch {
	case h.broker != nil:
		return h.broker, nil
	case h.cfg.Broker == nil && h.cfg.BrokerErr != nil:
		return nil, h.cfg.BrokerErr
	case h.cfg.Broker == nil:
		return nil, errNoBroker
	}
	b := &bus{transport: h.cfg.Broker, operator: h.cfg.Operator, joint: wire.BatchSigner{By: h.cfg.Operator},
		first: h.cfg.Broker.Since()}
	err := h.listen(b)
	if err == nil {
		err = h.presence.listen(b)
	}
	if err != nil {
		b.unsubscribe()
		return nil, err
	}
	h.broker = b
	h.work.Go(func() { h.presence.watch(b) })
	return b, nil
}

// listen takes what agents send about the run.
func (h *Hub) listen(b *bus) error {
	for subject, f := range map[string]func(wire.Msg){
		wire.ResultsOfRun(h.cfg.Run):   h.takeResult,
		wire.QuestionsOfRun(h.cfg.Run): h.takeQuestion,
	} {
		s, err := b.transport.Subscribe(subject, f)
		if err != nil {
			return fmt.Errorf("cannot listen for results: %w", err)
		}
		b.subs = append(b.subs, s)
	}
	return awaitListening(h, b)
}

// awaitListening waits until the broker has taken the subscriptions, for as long as it may be away.
func awaitListening(h *Hub, b *bus) error {
	for began := time.Now(); ; {
		ctx, cancel := context.WithTimeout(h.ctx, 5*time.Second)
		err := b.transport.Flush(ctx)
		cancel()
		switch {
		case err == nil:
			if b.warns(false) {
				h.requests.warn("the broker is back")
			}
			return nil
		case errors.Is(err, wire.ErrDenied), h.ctx.Err() != nil, time.Since(began) > min(h.times.Outage, wire.Lifetime/2):
			return fmt.Errorf("cannot listen for results: %w", err)
		case !errors.Is(err, context.DeadlineExceeded): // there is no connection now
			select {
			case <-h.ctx.Done():
			case <-time.After(h.times.Back / 10):
			}
		}
		if b.warns(true) {
			h.requests.warn(brokerAway(h.times.Outage))
		}
	}
}

func (h *Hub) buses() []*bus {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	var out []*bus
	if h.broker != nil {
		out = append(out, h.broker)
	}
	if b := h.local.bus; b != nil {
		out = append(out, b)
	}
	return out
}
