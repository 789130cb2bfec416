package strategy

import (
	"slices"

	"hark/playbook/plan"
)

// round is one step for which hosts are let go.
type round struct {
	step plan.ID
	rule Rule
	// queue are hosts at the step that were not let go yet, going those that do the step now.
	queue []string
	going map[string]bool
	// once is the host that does the step for all, came its outcome; adopters are the other hosts at the step.
	once     string
	came     *Done
	adopters []string
	// adopted says that the others have received the outcome.
	adopted bool

	// failed and unreachable are the hosts that left the step so. fatal says that such a failure ends the play for all.
	failed, unreachable []string
	fatal               bool
}

// did records that a host has done the step.
func (r *round) did(host string) { delete(r.going, host) }

// leave removes a host.
func (r *round) leave(host string) {
	r.did(host)
	r.queue, r.adopters = without(r.queue, host), without(r.adopters, host)
}

// weigh counts a failure for the round in which it happened, and keeps the outcome of a step that one host does for
// all. At level 2.19 and later a failure that a rescue handles counts too.
func (r *round) weigh(d Done, tagged bool) {
	own := r.once != "" && r.step == d.Step
	if own && r.once == d.Host {
		r.came = &d
	}
	switch {
	case d.Came == Ill && (tagged || !d.Rescued):
		r.failed = append(r.failed, d.Host)
	case d.Came == Lost:
		r.unreachable = append(r.unreachable, d.Host)
	default:
		return
	}
	r.fatal = r.fatal || d.Fatal || own && !d.Excused
}

// onceDone reports whether the host that does the step for all has done it, and the others wait for its outcome.
func (r *round) onceDone() bool { return r.once != "" && !r.adopted && len(r.going) == 0 }

// linear is the strategy of that name: one round after the other.
type linear struct {
	*state
	// moved is where hosts stood that were failed from outside, since the last round was judged.
	moved map[string]plan.ID
}

func (m *linear) letGo(host string, step plan.ID) bool {
	return m.round != nil && m.round.step == step && m.round.going[host]
}

func (m *linear) left(host string) {
	if m.round != nil {
		m.round.leave(host)
	}
}

func (m *linear) did(d Done) {
	r := m.round
	if r == nil {
		return
	}
	if !d.Adopted {
		r.weigh(d, m.Tagged)
	}
	if r.step == d.Step {
		r.did(d.Host)
	}
}

// proceed grants free tokens, shares the outcome of a step that ran once, closes the round and asks for the next.
func (m *linear) proceed() {
	if r := m.round; r != nil && r.onceDone() {
		m.share()
	}
	m.release(false)
	if !m.barrier.still() {
		return
	}
	m.say(Decision{Kind: Still})
	if m.closeRound() || m.barrier.empty() {
		return
	}
	m.ask(m.barrier.next())
}

// answer begins the round of a step, at which the hosts of a turn stand. All live hosts stand at gates.
func (m *linear) answer(turn *Decision, rule Rule) {
	if rule.Abort {
		m.carryOut(verdict{broken: true, drop: true})
		return
	}
	hosts := turn.Hosts
	r := &round{step: turn.Step, rule: rule, going: make(map[string]bool, len(hosts))}
	m.round = r
	if len(rule.Passing) > 0 {
		hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return slices.Contains(rule.Passing, h) })
		m.barrier.send(rule.Passing)
		m.say(Decision{Kind: Pass, Step: r.step, Hosts: rule.Passing, All: len(hosts) == 0})
	}
	if len(hosts) == 0 {
		return
	}
	r.queue = slices.Clone(hosts)
	if rule.Once {
		r.once, r.adopters, r.queue = hosts[0], slices.Clone(hosts[1:]), []string{hosts[0]}
	}
	m.release(!rule.Once && len(rule.Passing) == 0)
}

// release lets hosts go as far as the limit of the round allows. whole says that only those in the queue were at the
// step.
func (m *linear) release(whole bool) {
	r := m.round
	if r == nil || len(r.queue) == 0 {
		return
	}
	n := len(r.queue)
	if r.rule.Limit > 0 {
		n = min(n, max(0, r.rule.Limit-len(r.going)))
	}
	if n == 0 {
		return
	}
	released := slices.Clone(r.queue[:n])
	r.queue = r.queue[n:]
	for _, name := range released {
		r.going[name] = true
	}
	m.barrier.send(released)
	m.say(Decision{Kind: Release, Step: r.step, Hosts: released, All: whole && len(r.queue) == 0})
}

// share has the hosts at a step take over the outcome of the host that did it for all.
func (m *linear) share() {
	r := m.round
	r.adopted = true
	came := r.came
	switch {
	case came != nil && came.Came == Cancelled: // the others leave by themselves
	case came != nil && came.Came == Well:
		m.adopt(r, false)
	case came != nil && came.Came == Ill && r.rule.Shares:
		m.shareFailure(r)
	default:
		// Only the host has failed, or is gone. Either that ends the play for all, or the others go on as if nothing had
		// happened.
		v := m.judge(r)
		m.round = nil // it is judged
		if !m.carryOut(v) {
			m.adopt(r, true)
		}
	}
}

// adopt has the hosts at the step of a round take an outcome over.
func (m *linear) adopt(r *round, blank bool) {
	m.send(r.adopters)
	m.say(Decision{Kind: Adopt, Step: r.step, Hosts: slices.Clone(r.adopters), From: r.once, Blank: blank})
}

// shareFailure fails every host of the batch with the one that did the step for all: those at the step take its outcome
// over, the others fail where they stand. At level 2.19 and later the failure, being fatal, fails them once more when
// the round is judged, which takes them out of the rescue section that they have reached. ansible-core 2.19 does so,
// since it marks hosts as failed in both places.
func (m *linear) shareFailure(r *round) {
	others := without(m.barrier.liveHosts(), r.once)
	for _, h := range r.adopters { // they fail in the step at which they stand
		m.barrier.by[h].last = ""
	}
	at := m.strand(others)
	elsewhere := Decision{Kind: Fail}
	for i, h := range others {
		if !slices.Contains(r.adopters, h) {
			elsewhere.Hosts, elsewhere.At = append(elsewhere.Hosts, h), append(elsewhere.At, at[i])
		}
	}
	m.adopt(r, false)
	if len(elsewhere.Hosts) > 0 {
		m.send(elsewhere.Hosts)
		m.say(elsewhere)
	}
}

// fail fails hosts where they stand.
func (m *linear) fail(hosts []string) {
	at := m.strand(hosts)
	m.send(hosts)
	m.say(Decision{Kind: Fail, Hosts: hosts, At: at})
}

// strand fails hosts from outside. It returns a step for each host: the host fails in the blocks around that step.
func (m *linear) strand(hosts []string) []plan.ID {
	var places []plan.ID
	for _, h := range hosts {
		b := m.barrier.by[h]
		at := m.Blocks.Fails(b.last, b.at)
		b.last = ""
		places = append(places, at)
		m.moved[h] = at
		if _, ok := m.Blocks.Refuge(at); !ok {
			m.States.Fail(h)
		}
	}
	return places
}

// closeRound judges a finished round. It returns true if that set hosts in motion.
func (m *linear) closeRound() bool {
	r := m.round
	if r == nil {
		return false
	}
	v := m.judge(r)
	m.round = nil
	clear(m.moved)
	return m.carryOut(v)
}

// carryOut applies a verdict. It returns true if that set hosts in motion.
func (m *linear) carryOut(v verdict) bool {
	m.end(v)
	live := m.barrier.liveHosts()
	if v.drop {
		if len(live) > 0 {
			m.drop(live)
		}
		return len(live) > 0
	}
	fail := slices.DeleteFunc(v.fail, func(h string) bool { return !slices.Contains(live, h) })
	if len(fail) > 0 {
		m.fail(fail)
	}
	return len(fail) > 0
}
