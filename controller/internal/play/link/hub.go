package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// Hub is the Link. It speaks to agents behind the broker and to the one in this process over the same messages; only
// the transport and the keys differ.
type Hub struct {
	cfg    Config
	times  Times
	codec  wire.Codec
	plans  wire.SharedPlans
	runKey wire.Key

	ctx    context.Context
	cancel context.CancelFunc
	work   crew
	events chan wire.Event
	lost   chan LostHost
	ends   chan struct{} // once for each agent that has heard of the run's end
	once   sync.Once     // of Close

	local    localAgent
	blobs    brokerBlobs
	notices  notices
	dialling sync.Once
	openings atomic.Int32 // how many sessions are being opened

	mu       sync.Mutex
	broker   *bus                    // nil until it is used; guarded by mu
	peers    map[string]*peer        // by agent id; guarded by mu
	hosts    map[string]*host        // by inventory name; guarded by mu
	seq      uint64                  // of the last Advance; guarded by mu
	places   uint64                  // how many openings there were; guarded by mu
	advances []wire.Advance          // of the play under way; guarded by mu
	asked    *answers                // guarded by mu
	execs    map[string]*pendingExec // by Exec.ID; guarded by mu
}

// eventRoom is how many events may wait for the reader; beyond it acknowledgements wait.
const eventRoom = 4096

// New makes a Hub. It subscribes when the first host of a transport is started. Close it.
func New(cfg Config) *Hub {
	h := &Hub{
		cfg: cfg, times: cfg.Times.orDefault(), runKey: wire.NewKey(),
		events: make(chan wire.Event, eventRoom), lost: make(chan LostHost, 64), ends: make(chan struct{}, eventRoom),
		peers: map[string]*peer{}, hosts: map[string]*host{}, asked: newAnswers(), execs: map[string]*pendingExec{},
	}
	if cfg.EventsOf != nil {
		h.events, h.lost = cfg.EventsOf.events, cfg.EventsOf.lost
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.blobs = brokerBlobs{hub: h, by: map[string]*brokerBlob{}}
	return h
}

// Run returns the id of the run.
func (h *Hub) Run() string { return h.cfg.Run }

// host is a host of the run. Its fields are guarded by Hub.mu.
//
//	Start --> opening --> playing --> idle --> Start ...
//	             |           |
//	             +-----------+--> over (not there, lost): its session gets that --> Start ...
type host struct {
	name        string
	peer        *peer
	turn        uint64        // of the last Start
	life        string        // of the agent that took it, "" until it was heard of
	seq         uint64        // of the last event that was delivered
	playing     bool          // it was started and has not ended
	opening     bool          // its agent has not acknowledged the start yet
	over        bool          // it was given up: whatever comes of it is refused
	missing     int           // how often its agent was asked and had no session of it
	known       time.Time     // when its session was known to be there, or was last found missing
	gate        plan.ID       // before which it waits for the others, "" if it does not
	place       uint64        // of the last opening, see wire.Opening
	hears       bool          // its agent takes an Advance as the answer to a batch
	deferredAck *deferredAck  // a batch that is to be answered, nil for none
	fresh       time.Duration // for how long an answer counts, see wire.Start
	last        bool          // its session goes with the end of the play
	went        bool          // and that was the last that its agent had of the run
	awaits      *receipt      // the acknowledgement of its opening, nil if none is awaited
	grants
}

// turnTo begins a turn of a host at an agent. h.mu is held.
func (h *Hub) turnTo(name string, p *peer) *host {
	t := h.hosts[name]
	if t == nil {
		t = &host{name: name}
		h.hosts[name] = t
	}
	p.hosts[name] = true
	p.release(time.Now()) // what was not heard of it before is no silence
	t.peer, t.turn, t.life, t.missing = p, t.turn+1, "", 0
	t.playing, t.opening, t.over, t.gate = true, true, false, ""
	h.places++
	t.place, t.hears, t.deferredAck, t.went = h.places, false, nil, false
	return t
}

// receipt is the acknowledgement of an opening that came within the session's first batch; nobody has to wait for it
// alone then.
type receipt struct {
	ack   *wire.Ack
	waits context.CancelFunc
}

// takeReceipt notes the acknowledgement of the host's opening that a batch has brought. Hub.mu is held.
func (t *host) takeReceipt(ack *wire.Ack) {
	if ack != nil && t.awaits != nil && t.awaits.ack == nil {
		t.awaits.ack = ack
		t.awaits.waits()
	}
}

// received returns the receipt that a batch has brought, nil if none has. No more is awaited.
func received(h *Hub, t *host) *wire.Ack {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := t.awaits
	t.awaits = nil
	return r.ack
}

// Settle implements Link: agents of a Hub are there, or are not.
func (h *Hub) Settle(context.Context, string, *wire.Login) bool { return false }

// Start implements Link.
func (h *Hub) Start(ctx context.Context, s wire.Start) error {
	route := func() (*peer, error) { return h.route(ctx, s.Host) }
	switch {
	case s.Absent != "" || s.Remote:
		route = h.localPeer
	case s.Login != nil && s.Login.Agent != "":
		route = func() (*peer, error) { return h.agent(ctx, s.Host, s.Login.Agent) }
	}
	p, err := route()
	if err != nil {
		return err
	}
	h.mu.Lock()
	t := h.turnTo(s.Host, p)
	if s.Lease == 0 {
		s.Lease = h.cfg.Lease
	}
	if s.Fresh == 0 {
		s.Fresh = h.times.Fresh
	}
	t.fresh, t.last = s.Fresh, s.Last && !p.local
	in := wire.Opening{Start: s, HostKey: p.hostKey, RunKey: h.runKey, Advanced: h.seq, Acked: t.seq, Turn: t.turn, Place: t.place, Each: true, Unsigned: true, Sealed: true, Within: !p.local}
	waiting, done := context.WithCancel(ctx)
	defer done()
	t.awaits = &receipt{waits: done}
	h.mu.Unlock()

	h.opens(p, &in)
	nonce := wire.NewNonce()
	if h.cfg.Nonce != nil {
		nonce = h.cfg.Nonce(s.Host, in.Turn)
	}
	ack, err := h.command(waiting, p, wire.KindPlan, s.Digest, nonce, in)
	if within := received(h, t); within != nil {
		ack, err = *within, nil
	}
	if ack.Ends {
		willEnd(h, t)
	}
	h.notices.add(s.Host, ack.Others)
	return h.absent(ctx, p, s.Host, started(h, t, ack, err))
}

// willEnd notes that the agent of a host tells that it has heard of the run's end, unless it was told meanwhile that
// all of the run there is over.
func willEnd(h *Hub, t *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.went {
		t.peer.end(hasEnded)
	} else {
		t.peer.end(reportsEnd)
	}
}

// started notes what came of a Start. A session that was heard of has begun, even if its acknowledgement was lost;
// one that is given up is refused from then on, so nothing begins should the plan arrive late.
func started(h *Hub, t *host, ack wire.Ack, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.opening = false
	switch {
	case err == nil && ack.Life == "":
		err = &refusedError{text: "it is of an older version than this controller: hark agents upgrade"}
	case err == nil:
		t.hears = ack.Hears && !t.peer.local
		t.peer.listensToEach, t.peer.toEachKnown = ack.Each, true
		if t.life == "" {
			t.life = ack.Life
		}
	case errors.Is(err, context.DeadlineExceeded) && t.life != "" && !t.over:
		err = nil
	}
	if err != nil {
		t.playing, t.over = false, true
	}
	return err
}

// command sends a sealed message to one agent until it is acknowledged. It is the same bytes each time, so that the
// agent knows it again.
func (h *Hub) command(ctx context.Context, p *peer, k wire.Kind, digest, nonce string, body any) (ack wire.Ack, err error) {
	head := wire.Header{Kind: k, Fleet: h.cfg.Fleet, Run: h.cfg.Run, Plan: digest, Seq: p.nextSeq(), Targets: []string{p.id}, Nonce: nonce}
	packing := wire.Packing{Sign: p.bus.operator, To: p.xkey, Box: p.bus.operator}
	var frame []byte
	if in, ok := body.(wire.Opening); ok {
		h.openings.Add(1)
		defer h.openings.Add(-1)
		if p.knowsJoint() {
			packing.Jointly = func(head []byte) ([]byte, error) { return p.bus.joint.Sign(head, gathers(h.openings.Load())) }
		}
		frame, err = h.plans.Pack(&h.codec, head, in, packing)
	} else {
		frame, err = h.codec.Pack(head, body, packing)
	}
	if err != nil {
		return ack, err
	}
	const tries = 3
	late := make(chan wire.Ack, tries) // an acknowledgement counts also after the next try
	all, done := context.WithCancel(ctx)
	defer done()
	for range tries {
		ack, err = h.reach(all, p, wire.HostSubject(p.id, k), nonce, frame, late, h.times.Ack/tries)
		switch {
		case err == nil && ack.Err != "":
			return ack, &refusedError{ack.Err, ack.Replayed}
		case err == nil, ctx.Err() != nil, !errors.Is(err, context.DeadlineExceeded):
			return ack, err
		}
	}
	return ack, err
}

// gathers returns how long an opening waits for others that are signed with it, where so many are under way.
func gathers(openings int32) time.Duration {
	const crowd, moment = 32, 5 * time.Millisecond
	if openings < crowd {
		return 0
	}
	return moment
}

// request sends a frame to an agent and reads the answer, which the agent must have signed. An agent whose clock is
// off is told the time.
func (h *Hub) request(ctx context.Context, p *peer, subject, nonce string, frame []byte, into any) error {
	to := inquiry{transport: p.bus.transport, operator: p.bus.operator, codec: &h.codec, key: p.key, fleet: h.cfg.Fleet, session: &p.hostKey}
	if _, err := to.put(ctx, subject, nonce, frame, into); err != nil {
		return err
	}
	p.hear(time.Now())
	return nil
}

// refusedError is an agent's refusal.
type refusedError struct {
	text     string
	replayed bool
}

func (e *refusedError) Error() string { return e.text }

// absent returns an error for the user to read.
func (h *Hub) absent(ctx context.Context, p *peer, name string, err error) error {
	var refused *refusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &AbsentError{Host: name, Reason: fmt.Sprintf("the agent of %s does not take the plan: %s", name, refused.text), Replayed: refused.replayed}
	case errors.Is(err, wire.ErrNoResponder):
		if why := h.whyAbsent(ctx, p.name, p.key); why != "" {
			return &AbsentError{Host: name, Reason: fmt.Sprintf("the agent of %s %s%s", name, why, p.lastSeen())}
		}
		return &AbsentError{Host: name, Reason: fmt.Sprintf("the agent of %s is not connected to the broker%s", name, p.lastSeen())}
	case errors.Is(err, context.DeadlineExceeded):
		return &AbsentError{Host: name, Reason: fmt.Sprintf("the agent of %s did not answer within %s%s", name, h.times.Ack, p.lastSeen())}
	}
	return &AbsentError{Host: name, Reason: fmt.Sprintf("cannot reach the agent of %s: %v", name, err)}
}

// Advance implements Link. The Hub numbers the Advances of the run. An agent that misses one asks for it.
func (h *Hub) Advance(a wire.Advance) error {
	h.mu.Lock()
	h.seq++
	a.Run, a.Seq = h.cfg.Run, h.seq
	var debts []dueAck
	for _, t := range letGo(h.hosts, &a) {
		debts = append(debts, takeDueAck(h.cfg.Run, t, time.Now()))
	}
	if len(h.advances) > 0 && h.advances[0].Play != a.Play {
		h.advances = nil
	}
	h.advances = append(h.advances, a)
	h.mu.Unlock()
	defer sendAcks(h, debts)
	return h.broadcast(wire.KindAdvance, a, &h.runKey)
}

// Cancel implements Link.
func (h *Hub) Cancel(c wire.Cancel) error {
	c.Run = h.cfg.Run
	sendLateAcks(h, time.Now(), true) // sessions send their end after that
	err := h.broadcast(wire.KindCancel, c, nil)
	h.work.Go(func() { h.tellEach(h.ctx, h.allPeers(), wire.KindCancel, c) })
	return err
}

// End implements Link. All are told at once; those that say nothing of it are told one by one.
func (h *Hub) End(ctx context.Context) error {
	end := wire.End{Run: h.cfg.Run}
	h.mu.Lock()
	for _, t := range h.hosts {
		t.playing = false
	}
	h.mu.Unlock()
	peers := h.allPeers()
	n := 0
	for _, p := range peers {
		if p.is(reportsEnd) {
			n++
		}
	}
	if n > 0 && h.broadcast(wire.KindEnd, end, nil) == nil {
		h.awaitEnds(ctx, n)
	}
	h.tellEach(ctx, slices.DeleteFunc(peers, func(p *peer) bool { return p.is(hasEnded) }), wire.KindEnd, end)
	return ctx.Err()
}

// awaitEnds waits until n agents have said that they have heard of the run's end, or no other does for a while.
func (h *Hub) awaitEnds(ctx context.Context, n int) {
	for ; n > 0; n-- {
		select {
		case <-h.ends:
		case <-time.After(h.times.Answer / 4):
			return
		case <-ctx.Done():
			return
		}
	}
}

// takeEnded notes that an agent has heard of the run's end.
func (h *Hub) takeEnded(f *wire.Frame, p *peer) error {
	var end wire.End
	if err := h.open(f, p, &end); err != nil {
		return err
	}
	if p.end(hasEnded) == reportsEnd {
		select {
		case h.ends <- struct{}{}:
		case <-h.ctx.Done():
		}
	}
	return nil
}

// Events implements Link. The channel is never closed.
func (h *Hub) Events() <-chan wire.Event { return h.events }

// Lost implements Link.
func (h *Hub) Lost() <-chan LostHost { return h.lost }

// Close implements Link. The transport to the broker stays open: it is the caller's.
func (h *Hub) Close() error {
	h.once.Do(func() {
		h.cancel()
		for _, b := range h.buses() {
			b.unsubscribe()
		}
		h.mu.Lock()
		started := h.local.cancel != nil // and is not from now on, since ctx is over
		h.mu.Unlock()
		if started {
			h.local.stop()
		}
		h.work.wait()
		h.blobs.clear()
	})
	return nil
}

// crew are the goroutines of a Hub. None starts once wait was called.
type crew struct {
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool // guarded by mu
}

// Go runs f, unless the Hub is being closed.
func (c *crew) Go(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Go(f)
	}
}

func (c *crew) wait() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
}
