// Package strategy decides when the hosts of a batch may go on, and with whom. It is a state machine that is told
// what has come of hosts and says what follows for them. It has no clock, no wire, no screen and no goroutine: who
// drives it sends what it decides, and shows it. Where a host goes by itself (conditions, rescue, always) its session
// knows; here counts where it comes to stand.
//
// A host of a batch:
//
//	        Enter             Stand, Did.Next               Release, Adopt, Pass, Fail, Drop
//	(none) ───────▶ under way ───────────────▶ at a gate ────────────────────────────────────▶ under way ... ──Leave──▶ gone
//
// A round, which is one step that hosts are let go for, in plays of strategy linear:
//
//	       all live hosts stand         Answer                   all live hosts stand
//	(none) ────────────────────▶ turn ─────────▶ open ────────────────────────────────▶ judged ──▶ (none)
//	                                              │  ▲
//	                        a host has done it ───┘  │ as many as the limit allows are let go (throttle, forks);
//	                                                 │ the others adopt what came of a step that one host does for all (run_once)
//
// The step of a round is the smallest at which a live host stands: a host in a rescue section waits until the others,
// who are at earlier steps, have come past it. Judged is whether the failures of a round end the play for all
// (any_errors_fatal, max_fail_percentage).
//
// In plays of the strategies free and host_pinned there are no rounds: a host at a gate goes on as soon as there is a
// token for its step (throttle). A batch that is not gated, as that of a single host, has nothing to wait for; its
// failures are judged one by one.
package strategy

import (
	"maps"

	"hark/playbook/plan"
)

// Config is what the machine of a batch is made for.
type Config struct {
	// Hosts are those of the batch, in its order.
	Hosts []string
	// Gated says that hosts stand at gates at all, Free that each goes on by itself (strategies free and host_pinned).
	Gated, Free bool
	// MaxFail is max_fail_percentage, nil for none.
	MaxFail *float64
	// Tagged is the language of ansible-core 2.19.
	Tagged bool
	// Blocks returns where a failure leads.
	Blocks Blocks
	// Fates are the hosts that are out, over all batches of a run. The machine adds to them.
	Fates *Fates
	// Before, if there is one, is the machine of the same batch before some of its hosts were brought back (meta
	// clear_host_errors): what counts as failed there counts here.
	Before *Machine
}

// Blocks are the places of the plan, fragments included. A *plan.Index is them.
type Blocks interface {
	// Refuge reports whether a rescue or an always section takes a host whose step fails.
	Refuge(step plan.ID) (plan.Section, bool)
	// Shelter reports whether such a host stands in a rescue or always section then, and not in the body of a block
	// within.
	Shelter(step plan.ID) bool
	// Section is the section of its innermost block in which a step stands.
	Section(step plan.ID) plan.Section
}

// Machine is the lockstep of one batch. It belongs to one goroutine.
type Machine struct {
	*state
	strategy strategy
}

// strategy is how hosts come past the gates of a play.
type strategy interface {
	// did takes in that a host has done a step, before it stands anywhere; left, that a host takes no further part.
	did(d Done)
	left(host string)
	// proceed decides what can be decided now; answer is how the step is let go that it has asked about.
	proceed()
	answer(turn *Decision, r Rule)
	// letGo reports whether a host was let go for a step and has not told the end of it.
	letGo(host string, step plan.ID) bool
}

// Balance is what a batch leaves for those after it.
type Balance struct {
	// Broken: a failure was one of all hosts, and the play does not go on after this batch.
	Broken bool
	// EndPlay: no batch of the play comes after this one. EndedFailed: nor any play, as the host that ended it had failed.
	EndPlay, EndedFailed bool
}

// New makes the machine of a batch that nobody has entered.
func New(c Config) *Machine {
	s := &state{Config: c, barrier: newBarrier(c.Hosts), tally: map[string]bool{}}
	if c.Before != nil {
		maps.Copy(s.tally, c.Before.tally)
		s.balance.EndedFailed = c.Before.balance.EndedFailed
	}
	m := &Machine{state: s}
	switch {
	case !c.Gated && !c.Free:
		m.strategy = &alone{s}
	case c.Free:
		m.strategy = &free{state: s, holders: map[plan.ID]map[string]bool{}}
	default:
		m.strategy = &linear{state: s, moved: map[string]plan.ID{}}
	}
	return m
}

// Enter says that the session of a host begins.
func (m *Machine) Enter(host string) { m.barrier.enter(host) }

// Ahead says that the hosts which have entered are let go for a step before they come to it: the first of a linear
// play, at whose gate they do not wait. One that waits there all the same is let go with those for which that was
// said.
func (m *Machine) Ahead(step plan.ID) {
	r := &round{step: step, going: make(map[string]bool, m.barrier.live)}
	for _, h := range m.barrier.liveHosts() {
		r.going[h] = true
	}
	m.round = r
}

// Stand says that a host waits at the gate of a step.
func (m *Machine) Stand(host string, at plan.ID) { m.barrier.stand(host, at) }

// Did says that a host has done a step.
func (m *Machine) Did(d Done) {
	if !m.Live(d.Host) {
		return
	}
	if !d.Adopted {
		m.count(d)
	}
	m.strategy.did(d)
	if !d.Adopted {
		m.meta(d)
	}
	if d.Next != "" {
		m.barrier.stand(d.Host, d.Next)
	}
}

// Leave says that a host takes no further part, and why. It is harmless to say it twice.
func (m *Machine) Leave(host string, why Fate) {
	if !m.Live(host) {
		return
	}
	m.barrier.leave(host)
	m.strategy.left(host)
	switch why {
	case Failed:
		m.Fates.Fail(host)
	case Unreachable:
		m.Fates.Lose(host)
	}
}

// Proceed gives what follows of all that was said since it was asked last. To a Turn among it the driver says Answer.
func (m *Machine) Proceed() []Decision {
	if m.Gated && m.turn == nil {
		m.strategy.proceed()
	}
	said := m.said
	m.said = nil
	return said
}

// Answer says how the step is let go about which a Turn has asked, and gives what follows.
func (m *Machine) Answer(r Rule) []Decision {
	turn := m.turn
	if m.turn = nil; turn != nil {
		m.strategy.answer(turn, r)
	}
	return m.Proceed()
}

// LiveHosts are those that take part, in the order of the batch.
func (m *Machine) LiveHosts() []string { return m.barrier.liveHosts() }

// Count is how many take part.
func (m *Machine) Count() int { return m.barrier.live }

// Empty reports whether nobody takes part.
func (m *Machine) Empty() bool { return m.barrier.empty() }

// UnderWay are the hosts that take part and stand at no gate.
func (m *Machine) UnderWay() []string { return m.barrier.underWay() }

// Awaited are the hosts under way for which others wait at their gates; nobody waits where each goes by itself.
func (m *Machine) Awaited() []string {
	if !m.Gated || m.Free || m.barrier.still() || m.barrier.moving == m.barrier.live {
		return nil
	}
	return m.UnderWay()
}

// LetGo reports whether a host was let go for a step and has not told the end of it.
func (m *Machine) LetGo(host string, step plan.ID) bool { return m.strategy.letGo(host, step) }

// At is the step of the round for which a host was let go and of which it has not told the end; "" where there are no
// rounds.
func (m *Machine) At(host string) plan.ID {
	if r := m.round; r != nil && r.going[host] {
		return r.step
	}
	return ""
}

// DoesForAll reports whether a host does a step for all now.
func (m *Machine) DoesForAll(host string, step plan.ID) bool {
	return m.round != nil && m.round.once == host && m.round.step == step
}

// Balance is what there is of it so far.
func (m *Machine) Balance() Balance { return m.balance }

// Over says that the batch has ended: who counted as failed is out.
func (m *Machine) Over() {
	for h := range m.tally {
		m.Fates.Fail(h)
	}
}
