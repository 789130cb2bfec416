package link

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// Hub is the Link. It speaks to agents behind the broker and to the one in this process over the same messages; only
// the transport and the keys differ.
type Hub struct {
	cfg    *Config
	times  *Times
	codec  *wire.Codec
	runKey wire.Key

	ctx    context.Context
	cancel context.CancelFunc
	work   *crew
	events chan wire.Event
	lost   chan LostHost
	ends   chan struct{} // once for each agent that has heard of the run's end
	once   sync.Once     // of Close

	members  *members
	requests *requester
	replies  *replier
	presence *presenceMonitor

	local    localAgent
	blobs    brokerBlobs
	notices  notices
	dialling sync.Once

	// These are guarded by members.mu too: an Advance is numbered and noted at the moment that it moves its hosts.

	broker   *bus           // nil until it is used; guarded by members.mu
	seq      uint64         // of the last Advance; guarded by members.mu
	advances []wire.Advance // of the play under way; guarded by members.mu
	asked    *answers       // guarded by members.mu
}

// eventRoom is how many events may wait for the reader; beyond it acknowledgements wait.
const eventRoom = 4096

// New makes a Hub. It subscribes when the first host of a transport is started. Close it.
func New(cfg Config) *Hub {
	times := cfg.Times.orDefault()
	h := &Hub{
		cfg: &cfg, times: &times, codec: &wire.Codec{}, runKey: wire.NewKey(), work: &crew{},
		events: make(chan wire.Event, eventRoom), lost: make(chan LostHost, 64), ends: make(chan struct{}, eventRoom),
		members: newMembers(), asked: newAnswers(),
	}
	if cfg.EventsOf != nil {
		h.events, h.lost = cfg.EventsOf.events, cfg.EventsOf.lost
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.requests = &requester{cfg: h.cfg, times: h.times, codec: h.codec, ctx: h.ctx, work: h.work}
	h.replies = &replier{cfg: h.cfg, codec: h.codec}
	h.presence = &presenceMonitor{
		cfg: h.cfg, times: h.times, codec: h.codec, ctx: h.ctx, work: h.work, members: h.members, requests: h.requests,
		lost: h.lost, lateAcks: func(now time.Time) { sendLateAcks(h, now, false) },
	}
	h.blobs = brokerBlobs{hub: h, by: map[string]*brokerBlob{}}
	return h
}

// Run returns the id of the run.
func (h *Hub) Run() string { return h.cfg.Run }

// host is a host of the run. Its fields are guarded by members.mu.
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

// receipt is the acknowledgement of an opening that came within the session's first batch; nobody has to wait for it
// alone then.
type receipt struct {
	ack   *wire.Ack
	waits context.CancelFunc
}

// takeReceipt notes the acknowledgement of the host's opening that a batch has brought. members.mu is held.
func (t *host) takeReceipt(ack *wire.Ack) {
	if ack != nil && t.awaits != nil && t.awaits.ack == nil {
		t.awaits.ack = ack
		t.awaits.waits()
	}
}

// received returns the receipt that a batch has brought, nil if none has. No more is awaited.
func received(h *Hub, t *host) *wire.Ack {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
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
	h.members.mu.Lock()
	t := h.members.turnTo(s.Host, p)
	if s.Lease == 0 {
		s.Lease = h.cfg.Lease
	}
	if s.Fresh == 0 {
		s.Fresh = h.times.Fresh
	}
	t.fresh, t.last = s.Fresh, s.Last && !p.local
	in := wire.Opening{
		Start: s, HostKey: p.hostKey, RunKey: h.runKey, Advanced: h.seq, Acked: t.seq, Turn: t.turn, Place: t.place,
		Each: true, Unsigned: true, Sealed: true, Within: !p.local,
	}
	waiting, done := context.WithCancel(ctx)
	defer done()
	t.awaits = &receipt{waits: done}
	h.members.mu.Unlock()

	h.cfg.opens(p, &in)
	nonce := wire.NewNonce()
	if h.cfg.Nonce != nil {
		nonce = h.cfg.Nonce(s.Host, in.Turn)
	}
	ack, err := h.requests.command(waiting, p, wire.KindPlan, s.Digest, nonce, in)
	if within := received(h, t); within != nil {
		ack, err = *within, nil
	}
	if ack.Ends {
		willEnd(h, t)
	}
	h.notices.add(s.Host, ack.Others)
	err = started(h, t, ack, err)
	if err != nil && ctx.Err() == nil { // its session may have spoken, and begins nothing more when the host is reported
		h.presence.settle(&t.grants)
	}
	return h.requests.absent(ctx, p, s.Host, err)
}

// willEnd notes that the agent of a host tells that it has heard of the run's end, unless it was told meanwhile that
// all of the run there is over.
func willEnd(h *Hub, t *host) {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	if t.went {
		t.peer.end(hasEnded)
	} else {
		t.peer.end(reportsEnd)
	}
}

// started notes what came of a Start. A session that was heard of has begun, even if its acknowledgement was lost;
// one that is given up is refused from then on, so nothing begins should the plan arrive late.
func started(h *Hub, t *host, ack wire.Ack, err error) error {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
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

// gathers returns how long an opening waits for others that are signed with it, where so many are under way.
func gathers(openings int32) time.Duration {
	const crowd, moment = 32, 5 * time.Millisecond
	if openings < crowd {
		return 0
	}
	return moment
}

// refusedError is an agent's refusal.
type refusedError struct {
	text     string
	replayed bool
}

func (e *refusedError) Error() string { return e.text }

// Advance implements Link. The Hub numbers the Advances of the run. An agent that misses one asks for it.
func (h *Hub) Advance(a wire.Advance) error {
	h.members.mu.Lock()
	h.seq++
	a.Run, a.Seq = h.cfg.Run, h.seq
	var debts []dueAck
	for _, t := range letGo(h.members.hosts, &a) {
		debts = append(debts, takeDueAck(h.cfg.Run, t, time.Now()))
	}
	if len(h.advances) > 0 && h.advances[0].Play != a.Play {
		h.advances = nil
	}
	h.advances = append(h.advances, a)
	h.members.mu.Unlock()
	defer sendAcks(h, debts)
	return h.broadcast(wire.KindAdvance, a, &h.runKey)
}

// Cancel implements Link.
func (h *Hub) Cancel(c wire.Cancel) error {
	c.Run = h.cfg.Run
	sendLateAcks(h, time.Now(), true) // sessions send their end after that
	err := h.broadcast(wire.KindCancel, c, nil)
	h.work.Go(func() { h.requests.tellEach(h.ctx, h.members.allPeers(), wire.KindCancel, c) })
	return err
}

// End implements Link. All are told at once; those that say nothing of it are told one by one.
func (h *Hub) End(ctx context.Context) error {
	end := wire.End{Run: h.cfg.Run}
	h.members.mu.Lock()
	for _, t := range h.members.hosts {
		t.playing = false
	}
	h.members.mu.Unlock()
	peers := h.members.allPeers()
	n := 0
	for _, p := range peers {
		if p.is(reportsEnd) {
			n++
		}
	}
	if n > 0 && h.broadcast(wire.KindEnd, end, nil) == nil {
		h.awaitEnds(ctx, n)
	}
	h.requests.tellEach(ctx, slices.DeleteFunc(peers, func(p *peer) bool { return p.is(hasEnded) }), wire.KindEnd, end)
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
	if err := h.replies.open(f, p, &end); err != nil {
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
		h.members.mu.Lock()
		started := h.local.cancel != nil // and is not from now on, since ctx is over
		h.members.mu.Unlock()
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
