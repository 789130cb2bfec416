package display

import (
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// hostQueue is the queue of one host's events for the screen.
type hostQueue struct {
	host  string
	at    int // place among the lanes
	queue []wire.Event
	// done is the last step that the host has finished. from, if set, is the earliest step of its next event.
	done, from plan.ID
	ended      bool
	// start is when the current step began, including what it included, until that is shown.
	start    time.Time
	included []wire.Included
	// notFound are failures of includes whose file is not there.
	notFound []view.Result
	// halted is what the debugger has shown of the current step.
	halted *wire.Outcome
	// since is when the lane began to wait for its turn, zero if it does not wait. passed says that it has waited long
	// enough and waits no more at the step on the screen.
	since  time.Time
	passed bool
}

func (l *hostQueue) pass() { l.since, l.passed = time.Time{}, true }

// note updates where the host stands by an event.
func (l *hostQueue) note(e wire.Event) {
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

// hostQueues are the events that wait for their place on the screen, in the order of the hosts. There may be tens of
// thousands of lanes, so nothing may look at all of them for each event.
type hostQueues struct {
	all []*hostQueue
	by  map[string]*hostQueue
	// waiting is how many lanes have a queue, heads how many queues begin with an event of each step. blocker is the lane
	// that kept the next step from the screen last.
	waiting int
	heads   map[plan.ID]int
	blocker *hostQueue
	// held is about how many bytes wait in the queues.
	held int
}

func newHostQueues(hosts []string) *hostQueues {
	ls := &hostQueues{by: make(map[string]*hostQueue, len(hosts)), heads: map[plan.ID]int{}}
	for i, h := range hosts {
		l := &hostQueue{host: h, at: i, ended: true}
		ls.all = append(ls.all, l)
		ls.by[h] = l
	}
	return ls
}

// put adds an event to a queue.
func (ls *hostQueues) put(l *hostQueue, e wire.Event) {
	if l.queue = append(l.queue, e); len(l.queue) == 1 {
		ls.waiting++
		ls.heads[e.Step]++
	}
	ls.held += heft(e)
}

// take removes the first event of a queue.
func (ls *hostQueues) take(l *hostQueue) {
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

// heft returns about how many bytes an event takes here.
func heft(e wire.Event) int {
	n := 512 + len(e.Name) + len(e.Text)
	if o := e.Outcome; o != nil {
		n += len(o.Result) + len(o.Item) + len(o.Label)
	}
	return n
}

// earliest returns the smallest step with a waiting event.
func (ls *hostQueues) earliest() (plan.ID, bool) {
	var first plan.ID
	found := false
	for step := range ls.heads {
		if !found || plan.Compare(step, first) < 0 {
			first, found = step, true
		}
	}
	return first, found
}

// ripe reports whether no host can still send an event of a step before next. between reports whether there are steps
// between two.
func (ls *hostQueues) ripe(next plan.ID, between func(a, b plan.ID) bool) bool {
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

func (l *hostQueue) mayPrecede(step plan.ID, between func(a, b plan.ID) bool) bool {
	switch {
	case l.ended || len(l.queue) > 0: // what waits is not before step: it was the smallest
		return false
	case l.from != "":
		return plan.Compare(l.from, step) < 0
	}
	return plan.Compare(l.done, step) < 0 && between(l.done, step)
}

// due reports whether the lane may still send events of a step.
func (l *hostQueue) due(step plan.ID) bool {
	switch {
	case l.ended:
		return false
	case l.from != "":
		return plan.Compare(l.from, step) <= 0
	}
	return plan.Compare(l.done, step) < 0
}

// past reports whether all hosts are past a step.
func (ls *hostQueues) past(step plan.ID) bool {
	for _, l := range ls.all {
		if l.due(step) || len(l.queue) > 0 && l.queue[0].Step == step {
			return false
		}
	}
	return true
}

// turn begins a step, at which no host has waited yet.
func (ls *hostQueues) turn() {
	for _, l := range ls.all {
		l.since, l.passed = time.Time{}, false
	}
}
