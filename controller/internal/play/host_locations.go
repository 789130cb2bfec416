package play

import (
	"slices"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// hostLocations are the steps that hosts do or stand at. They belong to the goroutine of the batch.
type hostLocations struct {
	at    map[string]plan.ID
	doing map[string]bool // those that have begun it
}

func newHostLocations() *hostLocations {
	return &hostLocations{at: map[string]plan.ID{}, doing: map[string]bool{}}
}

// begin says that a host begins a step. It is false if that is known.
func (w *hostLocations) begin(host string, step plan.ID) bool {
	if w.doing[host] && w.at[host] == step {
		return false
	}
	w.at[host], w.doing[host] = step, true
	return true
}

// done says that a host has done its step, and where it stands then.
func (w *hostLocations) done(host string, next plan.ID) {
	delete(w.doing, host)
	w.at[host] = next
}

// put says where a host is, or is taken to be.
func (w *hostLocations) put(host string, at plan.ID) { w.at[host] = at }

// leave says that a host has left.
func (w *hostLocations) leave(host string) { delete(w.at, host) }

// of returns where a host is, "" if that is not known.
func (w *hostLocations) of(host string) plan.ID { return w.at[host] }

// isDoing reports whether a host is amid its step.
func (w *hostLocations) isDoing(host string) bool { return w.doing[host] }

// presence is who still takes part, for the magic variables that change while a play runs. It is safe for concurrent
// use.
type presence struct {
	hosts []string                      // of the batch
	named func(host string) value.Value // the name of a host as a variable, see vars.Names

	mu   sync.Mutex
	all  []string        // of the play, with those that add_host has added since: guarded by mu
	gone map[string]bool // hosts that failed or went away: guarded by mu
}

// newPresence begins without the hosts that are out.
func newPresence(hosts, all []string, out []string, named func(host string) value.Value) *presence {
	p := &presence{hosts: hosts, all: all, named: named, gone: map[string]bool{}}
	p.leave(out...)
	return p
}

// leave says that hosts take no part any more.
func (p *presence) leave(hosts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range hosts {
		p.gone[h] = true
	}
}

// add says that add_host has added a host: it joins those of the play, whatever its pattern is, and runs nothing.
func (p *presence) add(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.all, host) {
		p.all = append(slices.Clone(p.all), host)
	}
}

// known returns all hosts of the play.
func (p *presence) known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// absent returns all that have left.
func (p *presence) absent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for h := range p.gone {
		out = append(out, h)
	}
	return out
}

// of parts hosts into those that take part and those that have left.
func (p *presence) of(hosts []string) (here, gone []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	here = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return p.gone[h] })
	gone = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return !p.gone[h] })
	return here, gone
}

// magic answers the magic variables that change while the play runs.
func (p *presence) magic(name string) (value.Value, bool) {
	switch name {
	case "ansible_play_hosts":
		here, _ := p.of(p.known())
		return vars.Names(here, p.named), true
	case "ansible_play_batch", "play_hosts", "ansible_current_hosts":
		here, _ := p.of(p.hosts)
		return vars.Names(here, p.named), true
	case "ansible_play_hosts_all":
		return vars.Names(p.known(), p.named), true
	case "ansible_failed_hosts":
		_, gone := p.of(p.hosts)
		return vars.Names(gone, p.named), true
	}
	return nil, false
}
