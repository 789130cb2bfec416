// Package strategy decides when the hosts of a batch may go on, and with which others. It is a state machine: callers
// report what hosts did, and it returns the consequences. It has no clock, no wire, no screen and no goroutine; the
// driver sends and shows its decisions. A host's session knows where the host goes by itself (conditions, rescue,
// always); here only the gates count.
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
//	                                                 │ the others adopt the outcome of a step that one host does
//	                                                 │ for all (run_once)
//
// The step of a round is the smallest at which a live host stands. A host in a rescue section waits until the others,
// which are at earlier steps, have passed it. Judging decides whether the failures of a round end the play for all
// (any_errors_fatal, max_fail_percentage).
//
// In plays of the strategies free and host_pinned there are no rounds: a host at a gate goes on as soon as there is a
// token for its step (throttle). A batch that is not gated, such as that of a single host, waits for nothing; its
// failures are judged one by one.
package strategy

import (
	"maps"

	"hark/playbook/plan"
)

// Config configures the machine of a batch.
type Config struct {
	// Hosts are the hosts of the batch, in its order.
	Hosts []string
	// Gated says that hosts stand at gates at all, Free that each goes on by itself (strategies free and host_pinned).
	Gated, Free bool
	// MaxFail is max_fail_percentage, nil for none.
	MaxFail *float64
	// Tagged says that the level is 2.19 or later.
	Tagged bool
	// Blocks returns where a failure leads.
	Blocks Blocks
	// States are the hosts that are out, over all batches of a run. The machine adds to them.
	States *HostStates
	// Before, if set, is the machine of the same batch before some of its hosts were brought back (meta
	// clear_host_errors): what counts as failed there counts here.
	Before *Machine
}

// Blocks are the blocks of the plan, fragments included. A *plan.Index implements it.
type Blocks interface {
	// Refuge returns the section that takes a host whose step fails: rescue or always. It returns false if there is none.
	Refuge(step plan.ID) (plan.Section, bool)
	// Shelter reports whether such a host then stands in a rescue or always section, and not in the body of a block within
	// it.
	Shelter(step plan.ID) bool
	// Fails returns the step whose blocks a host fails in that has done one step and waits at another.
	Fails(done, at plan.ID) plan.ID
	// Section returns the section of its innermost block in which a step stands.
	Section(step plan.ID) plan.Section
}

// Machine is the state machine of one batch. It belongs to one goroutine.
type Machine struct {
	*state
	strategy strategy
}

// strategy is how hosts pass the gates of a play.
type strategy interface {
	// did records that a host has done a step, before it stands anywhere; left, that a host takes no further part.
	did(d Done)
	left(host string)
	// proceed decides what can be decided now. answer says how hosts are let go for the step that it has asked about.
	proceed()
	answer(turn *Decision, r Rule)
	// letGo reports whether a host was let go for a step and has not reported its end.
	letGo(host string, step plan.ID) bool
}

// Balance is what a batch leaves for those after it.
type Balance struct {
	// Broken says that a failure applied to all hosts, and the play does not go on after this batch.
	Broken bool
	// EndPlay says that no batch of the play follows. EndedFailed says that no play follows either, since the host that
	// ended it had failed.
	EndPlay, EndedFailed bool
}

// New returns the machine of a batch that no host has entered.
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

// Enter reports that the session of a host begins.
func (m *Machine) Enter(host string) { m.barrier.enter(host) }

// Ahead reports that the hosts that have entered are let go for a step before they reach it: the first of a linear
// play, at whose gate they do not wait. A host that waits there nevertheless is let go with them.
func (m *Machine) Ahead(step plan.ID) {
	r := &round{step: step, going: make(map[string]bool, m.barrier.live)}
	for _, h := range m.barrier.liveHosts() {
		r.going[h] = true
	}
	m.round = r
}

// Stand reports that a host waits at the gate of a step.
func (m *Machine) Stand(host string, at plan.ID) { m.barrier.stand(host, at) }

// Did reports that a host has done a step.
func (m *Machine) Did(d Done) {
	if !m.Live(d.Host) {
		return
	}
	if !d.Adopted {
		m.count(d)
	}
	m.barrier.did(d)
	m.strategy.did(d)
	if !d.Adopted {
		m.meta(d)
	}
	if d.Next != "" {
		m.barrier.stand(d.Host, d.Next)
	}
}

// Leave reports that a host takes no further part, and why. A second call is harmless.
func (m *Machine) Leave(host string, why HostState) {
	if !m.Live(host) {
		return
	}
	m.barrier.leave(host)
	m.strategy.left(host)
	switch why {
	case Failed:
		m.States.Fail(host)
	case Unreachable:
		m.States.Lose(host)
	}
}

// Proceed returns the consequences of everything reported since the last call. If a Turn is among them, the driver must
// call Answer.
func (m *Machine) Proceed() []Decision {
	if m.Gated && m.turn == nil {
		m.strategy.proceed()
	}
	said := m.said
	m.said = nil
	return said
}

// Answer returns the rule that a Turn has asked for, and returns the consequences.
func (m *Machine) Answer(r Rule) []Decision {
	turn := m.turn
	if m.turn = nil; turn != nil {
		m.strategy.answer(turn, r)
	}
	return m.Proceed()
}

// LiveHosts returns the hosts that take part, in the order of the batch.
func (m *Machine) LiveHosts() []string { return m.barrier.liveHosts() }

// Count returns how many hosts take part.
func (m *Machine) Count() int { return m.barrier.live }

// Empty reports whether no host takes part.
func (m *Machine) Empty() bool { return m.barrier.empty() }

// UnderWay returns the hosts that take part and stand at no gate.
func (m *Machine) UnderWay() []string { return m.barrier.underWay() }

// Awaited returns the hosts under way for which others wait at their gates; there are none where each host goes by
// itself.
func (m *Machine) Awaited() []string {
	if !m.Gated || m.Free || m.barrier.still() || m.barrier.moving == m.barrier.live {
		return nil
	}
	return m.UnderWay()
}

// LetGo reports whether a host was let go for a step and has not reported its end.
func (m *Machine) LetGo(host string, step plan.ID) bool { return m.strategy.letGo(host, step) }

// At returns the step of the round for which a host was let go and whose end it has not reported; "" where there are no
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

// Balance returns the balance so far.
func (m *Machine) Balance() Balance { return m.balance }

// Over reports that the batch has ended: hosts that counted as failed are out.
func (m *Machine) Over() {
	for h := range m.tally {
		m.States.Fail(h)
	}
}
