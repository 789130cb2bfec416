package strategy

import (
	"slices"

	"hark/playbook/plan"
)

// roundup describes a finished round for judge: do the failures of some hosts end the play for all?
type roundup struct {
	// hosts are the hosts of the batch that were reachable when the round began, including finished and failed ones.
	hosts []string
	// failed left the step failed without a rescue; unreachable were lost at it.
	failed, unreachable []string
	// fatal says that the step has any_errors_fatal, or ran once for all.
	fatal bool
	// tagged is the level of ansible-core 2.19 or later. There such a failure, even one that a rescue handles, fails the
	// other hosts where they stand: they enter their rescue and always sections too, and no play after this one.
	tagged  bool
	maxFail *float64 // percent
	batch   int      // size of the batch
	// refuge returns the section of a block in which a host goes on, false if that is a plain body or nowhere.
	refuge func(host string) bool
}

// verdict is what becomes of the batch after a round.
type verdict struct {
	// broken says that the play does not go on after this batch.
	broken bool
	// banners is how often NO MORE HOSTS LEFT is shown.
	banners int
	// fail are hosts that fail where they stand; drop ends the batch at once, without always or handlers.
	fail []string
	drop bool
}

// judge judges the round, with all hosts that could still be reached when it began.
func (m *linear) judge(r *round) verdict {
	if len(r.failed)+len(r.unreachable) == 0 && !m.balance.Broken && (m.MaxFail == nil || len(m.tally) == 0) {
		return verdict{}
	}
	u := roundup{
		failed: r.failed, unreachable: r.unreachable, fatal: r.fatal, tagged: m.Tagged, maxFail: m.MaxFail,
		batch:  len(m.Hosts),
		refuge: func(h string) bool { return m.sheltered(r, h) },
	}
	for _, h := range m.Hosts {
		if !m.States.Unreachable(h) || slices.Contains(r.unreachable, h) {
			u.hosts = append(u.hosts, h)
		}
	}
	return judge(u, m.tally)
}

// sheltered reports whether a host goes on in a rescue or an always section after the round.
func (m *linear) sheltered(r *round, host string) bool {
	if from, ok := m.moved[host]; ok {
		return m.Blocks.Shelter(from)
	}
	if slices.Contains(r.failed, host) {
		return m.Blocks.Shelter(r.step)
	}
	at := m.barrier.by[host].at
	return at != "" && m.Blocks.Section(at) != plan.InBody
}

// judge follows the arithmetic of Ansible's linear strategy (plugins/strategy/linear.py). tally holds the hosts that
// count as failed for it, which are not all that failed: a host that goes on in an always section does not count, and
// one that was well when another failed fatally does. judge changes it.
func judge(u roundup, tally map[string]bool) verdict {
	var v verdict
	fatal := u.fatal && len(u.failed)+len(u.unreachable) > 0
	if fatal && u.tagged {
		v.fail = remaining(u.hosts, u.failed)
		for _, h := range v.fail {
			tally[h] = true
		}
	}
	if fatal && !u.tagged {
		for _, h := range u.hosts {
			if !u.refuge(h) {
				tally[h] = true
				v.broken = true
			}
		}
	}
	if u.maxFail != nil && float64(len(tally))/float64(max(1, u.batch)) > *u.maxFail/100 {
		v.fail = remaining(u.hosts, u.failed)
		for _, h := range v.fail {
			tally[h] = true
		}
		v.broken = true
		v.banners++
	}
	if v.broken && len(tally) >= len(u.hosts) {
		v.drop = true
		v.banners++
	}
	return v
}

// remaining returns the hosts that are not among others.
func remaining(hosts, others []string) []string {
	among := make(map[string]bool, len(others))
	for _, h := range others {
		among[h] = true
	}
	var rest []string
	for _, h := range hosts {
		if !among[h] {
			rest = append(rest, h)
		}
	}
	return rest
}
