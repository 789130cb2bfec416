package strategy

import (
	"slices"

	"hark/playbook/plan"
)

// barrier holds where the hosts of a batch stand, and picks the next step.
type barrier struct {
	hosts []*barrierHost // in the order of the batch
	by    map[string]*barrierHost
	// live is how many take part, moving how many of them stand at no gate.
	live, moving int
}

// barrierHost is one host of the batch.
type barrierHost struct {
	name string
	live bool
	at   plan.ID // the gate at which it waits; "" while it moves
	// last is the step that it did last, "" if that failed.
	last plan.ID
	// ruled says, in free plays, that the limit of the step at which it waits is known.
	ruled bool
	limit int
}

func newBarrier(hosts []string) *barrier {
	b := &barrier{by: make(map[string]*barrierHost, len(hosts))}
	for _, name := range hosts {
		h := &barrierHost{name: name}
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

// stand records that a host waits at a gate.
func (b *barrier) stand(host string, at plan.ID) {
	if h := b.by[host]; h != nil && h.live {
		b.place(h, at)
	}
}

// place moves a live host to a gate, or away from one with at "".
func (b *barrier) place(h *barrierHost, at plan.ID) {
	if h.at == "" {
		b.moving--
	}
	if at == "" {
		b.moving++
	}
	h.at, h.ruled = at, false
}

// did records the last step of a live host. Behind one that failed its place is where it waits.
func (b *barrier) did(d Done) {
	h := b.by[d.Host]
	if h.last = ""; d.Came == Well {
		h.last = d.Step
	}
}

// leave records that a live host takes no further part.
func (b *barrier) leave(host string) {
	h := b.by[host]
	b.place(h, "")
	h.live = false
	b.live--
	b.moving--
}

// still reports whether every live host stands at a gate.
func (b *barrier) still() bool { return b.moving == 0 }

// empty reports whether no host is live.
func (b *barrier) empty() bool { return b.live == 0 }

// waiting returns the hosts that stand at gates.
func (b *barrier) waiting() []*barrierHost {
	if b.moving == b.live {
		return nil
	}
	var hosts []*barrierHost
	for _, h := range b.hosts {
		if h.live && h.at != "" {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// next returns the smallest step at which a live host stands, and the hosts at it.
func (b *barrier) next() (step plan.ID, hosts []string) {
	for _, h := range b.hosts {
		if !h.live || h.at == "" {
			continue
		}
		switch {
		case h.at == step:
			hosts = append(hosts, h.name)
		case step == "" || plan.Compare(h.at, step) < 0:
			step, hosts = h.at, []string{h.name}
		}
	}
	return step, hosts
}

// send sets hosts in motion.
func (b *barrier) send(hosts []string) {
	for _, name := range hosts {
		if h := b.by[name]; h != nil && h.live {
			b.place(h, "")
		}
	}
}

// underWay returns the live hosts that stand at no gate.
func (b *barrier) underWay() []string {
	var names []string
	for _, h := range b.hosts {
		if h.live && h.at == "" {
			names = append(names, h.name)
		}
	}
	return names
}

// liveHosts returns the live hosts, in the order of the batch.
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
