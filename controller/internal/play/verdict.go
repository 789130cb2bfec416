package play

import "hark/playbook/plan"

// roundup is what a finished round looks like when it is judged: whether the failures of some hosts end the play for all.
type roundup struct {
	// hosts are those of the batch that were reachable when the round began, finished and failed ones too.
	hosts []string
	// failed left the step failed with no rescue to take them; unreachable were lost at it.
	failed, unreachable []string
	// fatal: the step has any_errors_fatal, or ran once for all.
	fatal   bool
	maxFail *float64 // percent
	batch   int      // size of the batch
	// refuge is the section of a block in which a host goes on, false if that is a plain body or nowhere.
	refuge func(host string) bool
}

// verdict is what becomes of the batch after a round.
type verdict struct {
	// broken: the play does not go on after this batch.
	broken bool
	// banners is how often NO MORE HOSTS LEFT is shown.
	banners int
	// fail are hosts to be failed where they stand; drop ends the batch at once, without always or handlers.
	fail []string
	drop bool
}

// judge follows the arithmetic of Ansible's linear strategy. tally holds the hosts that count as failed for it, which
// are not all that failed: one that goes on in an always section does not count, one that was well
// when another failed fatally does. It is changed.
func judge(u roundup, tally map[string]bool) verdict {
	var v verdict
	if u.fatal && len(u.failed)+len(u.unreachable) > 0 {
		for _, h := range u.hosts {
			if !u.refuge(h) {
				tally[h] = true
				v.broken = true
			}
		}
	}
	if u.maxFail != nil && float64(len(tally))/float64(max(1, u.batch)) > *u.maxFail/100 {
		now := map[string]bool{}
		for _, h := range u.failed {
			now[h] = true
		}
		for _, h := range u.hosts {
			if !now[h] {
				tally[h] = true
				v.fail = append(v.fail, h)
			}
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

// sheltered tells whether a host at this place of the plan is in a rescue or always section.
func sheltered(x *plan.Index, at plan.ID) bool {
	return at != "" && x.Section(at) != plan.InBody
}
