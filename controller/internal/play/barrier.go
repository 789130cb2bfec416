package play

import (
	"slices"

	"hark/playbook/plan"
)

// barrier knows where the hosts of a batch stand and picks the step that goes next. It is a state machine
// without clock or wire: the driver tells it what happened and publishes what it decides.
//
//	moving ──stand(at)──▶ at a gate ──release──▶ moving ... ──leave──▶ gone
//
// A round is one step: it opens when every live host stands at a gate, with the smallest step among them,
// and closes when every live host stands at a gate again.
type barrier struct {
	hosts []*stander // in the order of the batch
	by    map[string]*stander
	// live is how many take part, moving how many of them stand at no gate.
	live, moving int

	round *round
}

// stander is one host of the batch.
type stander struct {
	name string
	live bool
	at   plan.ID // the gate at which it waits; "" while it moves
}

// round is one step that hosts were let go for.
type round struct {
	step plan.ID
	// queue are hosts at the step that were not let go yet, going those that do the step now.
	queue []string
	going map[string]bool
	// limit is how many may go at once; 0 is no limit.
	limit int
	// once is the host that does the step for all; adopters are the others that stand at it.
	once     string
	adopters []string
	// adopted: the others have been told how the step came out.
	adopted bool

	// failed and unreachable are the hosts that left the step so; fatal: such a failure ends the play for all.
	failed, unreachable []string
	fatal               bool
}

// rule says how a step is let go.
type rule struct {
	once  bool
	limit int
}

func newBarrier(hosts []string) *barrier {
	b := &barrier{by: make(map[string]*stander, len(hosts))}
	for _, name := range hosts {
		h := &stander{name: name}
		b.hosts = append(b.hosts, h)
		b.by[name] = h
	}
	return b
}

// enter makes a host live: its session has begun.
func (b *barrier) enter(host string) {
	if h := b.by[host]; h != nil && !h.live {
		h.live = true
		b.live++
		b.moving++
	}
}

// stand says that a host waits at a gate.
func (b *barrier) stand(host string, at plan.ID) {
	if h := b.by[host]; h != nil && h.live {
		b.place(h, at)
	}
}

// place moves a live host to a gate, or away from one with at "".
func (b *barrier) place(h *stander, at plan.ID) {
	if h.at == "" {
		b.moving--
	}
	if at == "" {
		b.moving++
	}
	h.at = at
}

// leave says that a host takes no further part. It is harmless to say it twice.
func (b *barrier) leave(host string) {
	h := b.by[host]
	if h == nil || !h.live {
		return
	}
	b.place(h, "")
	h.live = false
	b.live--
	b.moving--
	b.did(host)
	if b.round != nil {
		b.round.queue = without(b.round.queue, host)
		b.round.adopters = without(b.round.adopters, host)
	}
}

// did says that a host has done the step of the round.
func (b *barrier) did(host string) {
	if b.round != nil {
		delete(b.round.going, host)
	}
}

// still tells that every live host stands at a gate: nobody is under way.
func (b *barrier) still() bool { return b.moving == 0 }

// empty tells that no host is live.
func (b *barrier) empty() bool { return b.live == 0 }

// standing are the hosts that stand at gates.
func (b *barrier) standing() []string {
	if b.moving == b.live {
		return nil
	}
	var names []string
	for _, h := range b.hosts {
		if h.live && h.at != "" {
			names = append(names, h.name)
		}
	}
	return names
}

// next is the smallest step at which a live host stands, with the hosts at it.
func (b *barrier) next() (step plan.ID, hosts []string) {
	for _, h := range b.hosts {
		if !h.live || h.at == "" {
			continue
		}
		switch {
		case step == "" || plan.Compare(h.at, step) < 0:
			step, hosts = h.at, []string{h.name}
		case h.at == step:
			hosts = append(hosts, h.name)
		}
	}
	return step, hosts
}

// open begins a round: all live hosts stand still. It gives the hosts to be let go; all tells that no host at the step stays.
func (b *barrier) open(step plan.ID, hosts []string, r rule) (released []string, all bool) {
	b.round = &round{step: step, queue: slices.Clone(hosts), limit: r.limit, going: make(map[string]bool, len(hosts))}
	if r.once {
		b.round.once, b.round.adopters, b.round.queue = hosts[0], slices.Clone(hosts[1:]), hosts[:1:1]
	}
	released = b.release()
	return released, len(released) == len(hosts)
}

// release lets hosts go as far as the limit of the round allows.
func (b *barrier) release() []string {
	r := b.round
	if r == nil {
		return nil
	}
	n := len(r.queue)
	if r.limit > 0 {
		n = min(n, max(0, r.limit-len(r.going)))
	}
	released := slices.Clone(r.queue[:n])
	r.queue = r.queue[n:]
	for _, name := range released {
		r.going[name] = true
		b.place(b.by[name], "")
	}
	return released
}

// onceDone tells that the host which does the step for all has done it, and the others wait for its outcome.
func (b *barrier) onceDone() bool {
	r := b.round
	return r != nil && r.once != "" && !r.adopted && len(r.going) == 0
}

// send sets hosts in motion that were told to leave where they stand.
func (b *barrier) send(hosts []string) {
	for _, name := range hosts {
		if h := b.by[name]; h != nil && h.live {
			b.place(h, "")
		}
		if b.round != nil {
			b.round.queue = without(b.round.queue, name)
		}
	}
}

// liveHosts are the names of the hosts that take part, in the order of the batch.
func (b *barrier) liveHosts() []string {
	var names []string
	for _, h := range b.hosts {
		if h.live {
			names = append(names, h.name)
		}
	}
	return names
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}
