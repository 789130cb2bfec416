package link

import (
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
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	some, others := false, false
	for _, p := range h.members.peers {
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
