package strategy

import "hark/playbook/plan"

// free is the strategies free and host_pinned: each host goes by itself, and waits at a gate only for a token.
type free struct {
	*state
	// holders are the hosts that do a step whose number is limited.
	holders map[plan.ID]map[string]bool
}

func (f *free) did(d Done) { delete(f.holders[d.Step], d.Host) }

func (f *free) left(host string) {
	for _, hosts := range f.holders {
		delete(hosts, host)
	}
}

func (f *free) letGo(host string, step plan.ID) bool { return f.holders[step][host] }

// proceed lets hosts go for whose steps there are tokens. It asks for the limit once, when a host comes to its gate.
func (f *free) proceed() {
	for _, h := range f.barrier.waiting() {
		if !h.ruled {
			f.ask(h.at, []string{h.name})
			return
		}
		f.grant(h)
	}
}

func (f *free) answer(turn *Decision, r Rule) {
	h := f.barrier.by[turn.Hosts[0]]
	h.ruled, h.limit = true, r.Limit
}

// grant lets a host go, if there is a token for its step.
func (f *free) grant(h *barrierHost) {
	step := h.at
	if h.limit > 0 && len(f.holders[step]) >= h.limit {
		return
	}
	if f.holders[step] == nil {
		f.holders[step] = map[string]bool{}
	}
	f.holders[step][h.name] = true
	f.barrier.send([]string{h.name})
	f.say(Decision{Kind: Release, Step: step, Hosts: []string{h.name}})
}

// alone is a batch without gates, such as that of a single host: it waits for nothing, and each failure is judged by
// itself. The host leaves by itself too.
type alone struct{ *state }

func (a *alone) left(string)                {}
func (a *alone) proceed()                   {}
func (a *alone) answer(*Decision, Rule)     {}
func (a *alone) letGo(string, plan.ID) bool { return true }

func (a *alone) did(d Done) {
	if d.Came != Ill && d.Came != Lost || d.Rescued {
		return
	}
	refuge := a.Blocks.Shelter(d.Step)
	u := roundup{hosts: []string{d.Host}, fatal: d.Fatal, tagged: a.Tagged, maxFail: a.MaxFail, batch: len(a.Hosts),
		refuge: func(string) bool { return refuge }}
	if d.Came == Ill {
		u.failed = u.hosts
	} else {
		u.unreachable = u.hosts
	}
	a.end(judge(u, a.tally))
}
