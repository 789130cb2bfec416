package link

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/agent/wire"
)

// broadcast publishes to all agents of the run, signed once for each transport. Agents that cannot be reached now ask
// when they are back.
func (h *Hub) broadcast(k wire.Kind, body any, key *wire.Key) error {
	for _, b := range h.buses() {
		p := wire.Packing{Sign: b.operator, Key: key}
		if key != nil {
			p.Seal = wire.SealRun
		}
		head := wire.Header{Kind: k, Fleet: h.cfg.Fleet, Run: h.cfg.Run, Targets: []string{wire.TargetRun}}
		frame, err := h.codec.Pack(head, body, p)
		if err != nil {
			return err
		}
		for _, subject := range subjects(h, b, k) {
			if err := b.transport.Publish(subject, frame); err != nil {
				h.cfg.Logger.Debug().Str("kind", string(k)).AnErr("cause", err).Msg("cannot reach the agents now")
			}
		}
	}
	return nil
}

// subjects returns those on which the agents of the run listen. Of those that have not said so yet both are.
func subjects(h *Hub, b *bus, k wire.Kind) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	some, others := false, false
	for _, p := range h.peers {
		if p.bus == b {
			some, others = some || p.listensToEach || !p.toEachKnown, others || !p.listensToEach
		}
	}
	if some {
		all = append(all, wire.ToEach(h.cfg.Run))
	}
	if others {
		all = append(all, wire.RunSubject(h.cfg.Run, k))
	}
	return all
}

// tellWorkers is how many agents are sent something one by one at the same time.
const tellWorkers = 64

// tellEach tells agents something in clear and waits until each has acknowledged it, twice at most.
func (h *Hub) tellEach(ctx context.Context, peers []*peer, k wire.Kind, body any) {
	queue := make(chan *peer)
	var workers sync.WaitGroup
	for range min(tellWorkers, len(peers)) {
		workers.Go(func() {
			for p := range queue {
				h.tell(ctx, p, k, body)
			}
		})
	}
	for _, p := range peers {
		queue <- p
	}
	close(queue)
	workers.Wait()
}

func (h *Hub) tell(ctx context.Context, p *peer, k wire.Kind, body any) {
	nonce := wire.NewNonce()
	head := wire.Header{Kind: k, Fleet: h.cfg.Fleet, Run: h.cfg.Run, Targets: []string{p.id}, Nonce: nonce}
	frame, err := h.codec.Pack(head, body, wire.Packing{Sign: p.bus.operator})
	for range 2 {
		if err != nil || ctx.Err() != nil {
			return
		}
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		var ack wire.Ack
		err := h.request(try, p, wire.HostSubject(p.id, k), nonce, frame, &ack)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
}
