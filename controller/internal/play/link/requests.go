package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// requester sends agents what they must acknowledge or answer, and waits for it.
type requester struct {
	cfg   *Config
	times *Times
	codec *wire.Codec
	ctx   context.Context // of the Hub
	work  *crew
	plans wire.SharedPlans

	openings atomic.Int32 // how many sessions are being opened
}

// command sends a sealed message to one agent until it is acknowledged. It is the same bytes each time, so that the
// agent knows it again.
func (r *requester) command(ctx context.Context, p *peer, k wire.Kind, digest, nonce string,
	body any) (ack wire.Ack, err error) {
	head := wire.Header{
		Kind: k, Fleet: r.cfg.Fleet, Run: r.cfg.Run, Plan: digest, Seq: p.nextSeq(), Targets: []string{p.id},
		Nonce: nonce,
	}
	packing := wire.Packing{Sign: p.bus.operator, To: p.xkey, Box: p.bus.operator}
	var frame []byte
	if in, ok := body.(wire.Opening); ok {
		r.openings.Add(1)
		defer r.openings.Add(-1)
		if p.knowsJoint() {
			packing.Jointly = func(head []byte) ([]byte, error) { return p.bus.joint.Sign(head, gathers(r.openings.Load())) }
		}
		frame, err = r.plans.Pack(r.codec, head, in, packing)
	} else {
		frame, err = r.codec.Pack(head, body, packing)
	}
	if err != nil {
		return ack, err
	}
	const tries = 3
	late := make(chan wire.Ack, tries) // an acknowledgement counts also after the next try
	all, done := context.WithCancel(ctx)
	defer done()
	for range tries {
		ack, err = r.reach(all, p, wire.HostSubject(p.id, k), nonce, frame, late, r.times.Ack/tries)
		switch {
		case err == nil && ack.Err != "":
			return ack, &refusedError{ack.Err, ack.Replayed}
		case err == nil, ctx.Err() != nil, !errors.Is(err, context.DeadlineExceeded):
			return ack, err
		}
	}
	return ack, err
}

// reach puts a request to an agent, each time within limit. That the broker is away counts as nothing, and an agent
// that was there lately, and is not connected now, is waited for: its broker or itself may have been restarted. One
// that cannot connect, by the registrar's book, is not. An answer that comes after limit, while ctx lasts, goes to
// late, and is the answer to the next try.
func (r *requester) reach(ctx context.Context, p *peer, subject, nonce string, frame []byte, late chan wire.Ack,
	limit time.Duration) (wire.Ack, error) {
	began := time.Now()
	for {
		ack, err := try(ctx, r, p, subject, nonce, frame, late, limit)
		if err == nil || ctx.Err() != nil {
			return ack, err
		}
		switch away := !p.local && !p.bus.answers(); {
		case errors.Is(err, wire.ErrAway), away && errors.Is(err, context.DeadlineExceeded):
			if err := r.awaitBroker(ctx, p.bus.answers); err != nil {
				return ack, err
			}
			began = time.Now()
		case errors.Is(err, wire.ErrNoResponder) && time.Now().Before(r.expected(p, began)) &&
			r.whyAbsent(ctx, p.name, p.key) == "":
			select {
			case <-ctx.Done():
				return ack, err
			case <-r.ctx.Done():
				return ack, err
			case <-time.After(r.times.Back / 10):
			}
		default:
			return ack, err
		}
	}
}

// try puts a request once, and waits for so long for its answer or a late one.
func try(ctx context.Context, r *requester, p *peer, subject, nonce string, frame []byte, late chan wire.Ack,
	limit time.Duration) (wire.Ack, error) {
	failed := make(chan error, 1)
	r.work.Go(func() {
		var ack wire.Ack
		if err := r.request(ctx, p, subject, nonce, frame, &ack); err != nil {
			failed <- err
			return
		}
		select {
		case late <- ack:
		default: // there is one already
		}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case ack := <-late:
		return ack, nil
	case err := <-failed:
		return wire.Ack{}, err
	case <-timer.C:
		return wire.Ack{}, context.DeadlineExceeded
	case <-ctx.Done():
		return wire.Ack{}, ctx.Err()
	case <-r.ctx.Done():
		return wire.Ack{}, r.ctx.Err()
	}
}

// request sends a frame to an agent and reads the answer, which the agent must have signed. An agent whose clock is
// off is told the time.
func (r *requester) request(ctx context.Context, p *peer, subject, nonce string, frame []byte, into any) error {
	to := inquiry{
		transport: p.bus.transport, operator: p.bus.operator, codec: r.codec, key: p.key, fleet: r.cfg.Fleet,
		session: &p.hostKey,
	}
	if _, err := to.put(ctx, subject, nonce, frame, into); err != nil {
		return err
	}
	p.hear(time.Now())
	return nil
}

// expected is until when an agent that nobody answers for may still come, if it has been waited for since began.
func (r *requester) expected(p *peer, began time.Time) time.Time {
	p.mu.Lock()
	patience, heard := p.patience, p.heard
	p.mu.Unlock()
	if !heard.IsZero() {
		patience = max(patience, min(roster.Restart, r.times.Return))
	}
	until := began.Add(patience)
	if back := r.comeback(p.bus); back.After(until) {
		return back
	}
	return until
}

// comeback is until when agents may take to come back to a broker that was away, the zero time if it was not.
func (r *requester) comeback(b *bus) time.Time {
	found := b.found()
	if found.IsZero() {
		return found
	}
	n := 0
	if r.cfg.Roster != nil {
		n = r.cfg.Roster.Size()
	}
	return found.Add(wire.Comeback(n) + r.times.Back)
}

// awaitBroker waits until there is a connection to the broker and it answers.
func (r *requester) awaitBroker(ctx context.Context, answers func() bool) error {
	if answers() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(r.times.Outage, wire.Lifetime/2))
	defer cancel()
	for !answers() {
		select {
		case <-ctx.Done():
			return wire.ErrAway
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-time.After(r.times.Back / 30):
		}
	}
	return nil
}

// absent returns an error for the user to read.
func (r *requester) absent(ctx context.Context, p *peer, name string, err error) error {
	if err == nil {
		return nil
	}
	out := &AbsentError{Host: name}
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		out.Reason = fmt.Sprintf("the agent of %s does not take the plan: %s", name, refused.text)
		out.Replayed = refused.replayed
	case errors.Is(err, wire.ErrNoResponder):
		why := r.whyAbsent(ctx, p.name, p.key)
		if why == "" {
			why = "is not connected to the broker"
		}
		out.Reason = fmt.Sprintf("the agent of %s %s%s", name, why, p.lastSeen())
	case errors.Is(err, context.DeadlineExceeded):
		out.Reason = fmt.Sprintf("the agent of %s did not answer within %s%s", name, r.times.Ack, p.lastSeen())
	default:
		out.Reason = fmt.Sprintf("cannot reach the agent of %s: %v", name, err)
	}
	return out
}

// whyAbsent returns what the registrar's book says of an agent that is not connected.
func (r *requester) whyAbsent(ctx context.Context, name, key string) string {
	if r.cfg.WhyAbsent == nil {
		return ""
	}
	return r.cfg.WhyAbsent(ctx, name, key)
}

// tellEach tells agents something in clear and waits until each has acknowledged it, twice at most.
func (r *requester) tellEach(ctx context.Context, peers []*peer, k wire.Kind, body any) {
	queue := make(chan *peer)
	var workers sync.WaitGroup
	for range min(tellWorkers, len(peers)) {
		workers.Go(func() {
			for p := range queue {
				r.tell(ctx, p, k, body)
			}
		})
	}
	for _, p := range peers {
		queue <- p
	}
	close(queue)
	workers.Wait()
}

func (r *requester) tell(ctx context.Context, p *peer, k wire.Kind, body any) {
	nonce := wire.NewNonce()
	head := wire.Header{Kind: k, Fleet: r.cfg.Fleet, Run: r.cfg.Run, Targets: []string{p.id}, Nonce: nonce}
	frame, err := r.codec.Pack(head, body, wire.Packing{Sign: p.bus.operator})
	for range 2 {
		if err != nil || ctx.Err() != nil {
			return
		}
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		var ack wire.Ack
		err := r.request(try, p, wire.HostSubject(p.id, k), nonce, frame, &ack)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
}

func (r *requester) warn(text string) {
	if r.cfg.Warn != nil {
		r.cfg.Warn(text)
	}
}
