package display

import (
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// lane is one host's events on their way to the screen.
type lane struct {
	host  string
	at    int // place among the lanes
	queue []wire.Event
	// done is the last step that the host has finished; from, if set, is the earliest that its next event can be of.
	done, from plan.ID
	ended      bool
	// start is when the step in hand began, included what it included, until that is shown.
	start    time.Time
	included []wire.Included
	// halted is what the debugger has shown of the step in hand.
	halted *wire.Outcome
	// since is when the lane began to wait for its turn, zero if it does not; passed says that it waited long enough
	// and waits no more at the step on the screen.
	since  time.Time
	passed bool
}

func (l *lane) pass() { l.since, l.passed = time.Time{}, true }

// note draws from an event where its host stands.
func (l *lane) note(e wire.Event) {
	switch e.Kind {
	case wire.AtGate:
		l.from = e.Next
	case wire.Ended:
		l.ended = true
	case wire.Done:
		l.done, l.from = e.Step, e.Next
	default:
		if e.Step != "" {
			l.from = e.Step
		}
	}
}

// lanes are the events that wait for their place on the screen, in the order of the hosts. With tens of thousands of
// lanes nothing may look at all of them for each event.
type lanes struct {
	all []*lane
	by  map[string]*lane
	// waiting is how many lanes have a queue, heads how many of them have one that begins with an event of each step;
	// blocker is the lane that kept the next step from the screen last.
	waiting int
	heads   map[plan.ID]int
	blocker *lane
	// held is about how many bytes wait in the queues.
	held int
}

func newLanes(hosts []string) *lanes {
	ls := &lanes{by: make(map[string]*lane, len(hosts)), heads: map[plan.ID]int{}}
	for i, h := range hosts {
		l := &lane{host: h, at: i, ended: true}
		ls.all = append(ls.all, l)
		ls.by[h] = l
	}
	return ls
}

// put puts an event at the end of a queue.
func (ls *lanes) put(l *lane, e wire.Event) {
	if l.queue = append(l.queue, e); len(l.queue) == 1 {
		ls.waiting++
		ls.heads[e.Step]++
	}
	ls.held += heft(e)
}

// take takes the first event off a queue.
func (ls *lanes) take(l *lane) {
	step := l.queue[0].Step
	if ls.heads[step]--; ls.heads[step] == 0 {
		delete(ls.heads, step)
	}
	ls.held -= heft(l.queue[0])
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
		ls.waiting--
		return
	}
	ls.heads[l.queue[0].Step]++
}

// heft is about how many bytes an event takes here.
func heft(e wire.Event) int {
	n := 512 + len(e.Name) + len(e.Text)
	if o := e.Outcome; o != nil {
		n += len(o.Result) + len(o.Item) + len(o.Label)
	}
	return n
}

// earliest is the smallest step that has an event waiting.
func (ls *lanes) earliest() (plan.ID, bool) {
	var first plan.ID
	found := false
	for step := range ls.heads {
		if !found || plan.Compare(step, first) < 0 {
			first, found = step, true
		}
	}
	return first, found
}

// ripe reports whether no host can come up with an event of a step before next. between reports whether there are
// steps between two.
func (ls *lanes) ripe(next plan.ID, between func(a, b plan.ID) bool) bool {
	first := 0
	if ls.blocker != nil {
		first = ls.blocker.at
	}
	for i := range ls.all {
		if l := ls.all[(first+i)%len(ls.all)]; l.mayPrecede(next, between) {
			ls.blocker = l
			return false
		}
	}
	return true
}

func (l *lane) mayPrecede(step plan.ID, between func(a, b plan.ID) bool) bool {
	switch {
	case l.ended || len(l.queue) > 0: // what waits is not before step: it was the smallest
		return false
	case l.from != "":
		return plan.Compare(l.from, step) < 0
	}
	return plan.Compare(l.done, step) < 0 && between(l.done, step)
}

// due reports whether more events of a step can come from the lane.
func (l *lane) due(step plan.ID) bool {
	switch {
	case l.ended:
		return false
	case l.from != "":
		return plan.Compare(l.from, step) <= 0
	}
	return plan.Compare(l.done, step) < 0
}

// past reports whether all hosts are past a step.
func (ls *lanes) past(step plan.ID) bool {
	for _, l := range ls.all {
		if l.due(step) || len(l.queue) > 0 && l.queue[0].Step == step {
			return false
		}
	}
	return true
}

// turn begins a step: nobody has waited for his turn at it.
func (ls *lanes) turn() {
	for _, l := range ls.all {
		l.since, l.passed = time.Time{}, false
	}
}
