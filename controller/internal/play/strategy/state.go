package strategy

import "hark/playbook/plan"

// state is what all strategies share of a batch.
type state struct {
	Config
	barrier *barrier
	// round is the current round, nil if there is none.
	round *round
	// turn is the step whose rule was asked for, with its hosts, until the answer comes.
	turn *Decision
	// tally are the hosts that count as failed for any_errors_fatal and max_fail_percentage (see judge).
	tally   map[string]bool
	balance Balance
	said    []Decision
}

// Live reports whether a host takes part.
func (s *state) Live(host string) bool {
	h := s.barrier.by[host]
	return h != nil && h.live
}

func (s *state) say(d Decision) { s.said = append(s.said, d) }

// ask asks for the rule of a step at which hosts stand.
func (s *state) ask(step plan.ID, hosts []string) {
	s.turn = &Decision{Kind: Turn, Step: step, Hosts: hosts}
	s.say(*s.turn)
}

// count counts a failure that takes its host out of the play.
func (s *state) count(d Done) {
	if d.Came != Ill || d.Rescued {
		return
	}
	if _, ok := s.Blocks.Refuge(d.Step); !ok || d.Spent {
		s.tally[d.Host] = true
	}
}

// meta does what a meta step asks of the hosts of the batch.
func (s *state) meta(d Done) {
	switch d.Meta {
	case MetaEndPlay:
		s.balance.EndPlay = true
		s.endFailed(d)
		s.say(Decision{Kind: EndPlay})
		s.send(without(s.barrier.liveHosts(), d.Host))
	case MetaEndBatch:
		s.endFailed(d)
		s.drop(without(s.barrier.liveHosts(), d.Host))
	case MetaClearErrors:
		for _, h := range s.Hosts {
			s.States.Clear(h)
			delete(s.tally, h)
		}
	}
}

// endFailed fails all hosts of a batch that a failed host ends.
func (s *state) endFailed(d Done) {
	if !d.Fatal {
		return
	}
	s.balance.Broken, s.balance.EndedFailed = true, true
	for _, h := range s.Hosts {
		if !s.States.Unreachable(h) {
			s.States.Fail(h)
		}
	}
}

// drop ends the play for hosts at once.
func (s *state) drop(hosts []string) {
	s.send(hosts)
	s.say(Decision{Kind: Drop, Hosts: hosts})
}

// send sets hosts in motion that must leave where they stand.
func (s *state) send(hosts []string) {
	s.barrier.send(hosts)
	if s.round != nil {
		for _, h := range hosts {
			s.round.queue = without(s.round.queue, h)
		}
	}
}

// end applies a verdict to the batch as a whole.
func (s *state) end(v verdict) {
	s.balance.Broken = s.balance.Broken || v.broken
	for range v.banners {
		s.say(Decision{Kind: NoneLeft})
	}
}
