// Package display shows a run as Ansible would, although hosts run ahead of each other and their results arrive in any
// order: when to show which result (Order), how often to show a running job (JobPolls), and what the recap counts
// (Recap). The views in controller/internal/ui/view do the rest.
//
// One step is on the screen at a time. Events of later steps wait until no host can come up with an earlier one. The
// results of a step are shown in the order of the hosts:
//
//	            its lane is the front, or has passed
//	a: [2][3]  ─────────────────────────────────────▶ TASK 2
//	b: [2]                                              a: ok
//	c: (at 1)  ◀─ front: more of the step on the screen may come from it; b waits no longer than patience
//
// A host that keeps the others waiting for longer than patience loses its turn, so that a slow host hides nothing. In a
// free play everything is shown as it arrives.
package display

import (
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/ui/view"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// Config configures an Order.
type Config struct {
	View view.View
	Warn func(text string)
	// Verbose prints text at a level of verbosity; nil prints none.
	Verbose func(level int, text string)
	Recap   *Recap
	Steps   *steps.Set
	// Free shows everything as it arrives.
	Free  bool
	Hosts []string // in their order
	// Patience is how long a result waits for the hosts before its own; 0 is not at all.
	Patience time.Duration
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

// Order sorts the events of a batch into play order and feeds the view. It belongs to one goroutine.
type Order struct {
	*page
	*hostQueues
	patience time.Duration
	now      func() time.Time

	// patient are the lanes that wait for their turn at the step on the screen, in the order in which they began to wait.
	patient []*hostQueue
	// front is the first lane from which more of the step on the screen may come. Lanes behind it wait.
	front int
	// paused says that the debugger has the screen.
	paused bool
}

// New returns the Order of a batch. Each host must Enter before its events.
func New(c Config) *Order {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Verbose == nil {
		c.Verbose = func(int, string) {}
	}
	return &Order{page: &page{Config: c}, hostQueues: newHostQueues(c.Hosts), patience: c.Patience, now: c.Now}
}

// Enter announces that events of the host will come.
func (o *Order) Enter(host string) {
	if l := o.by[host]; l != nil {
		l.ended = false
	}
}

// Add takes an event and shows what can be shown now.
func (o *Order) Add(e wire.Event) {
	l := o.by[e.Host]
	if l == nil {
		return
	}
	e.Outcome = visible(e.Outcome)
	l.note(e)
	if e.Kind != wire.AtGate && e.Kind != wire.Ended {
		if o.put(l, e); o.held > mostHeld {
			o.spill()
		}
	}
	if o.Free {
		o.showAll(l)
		o.closeStep(o.all)
		return
	}
	if o.paused {
		return
	}
	if l.at > o.front {
		o.showStep(l)
	}
	o.moveFront()
	o.showRipe()
}

// moveFront shows the lanes whose turn it is, up to the first from which more of this step may come.
func (o *Order) moveFront() {
	for o.front < len(o.all) {
		l := o.all[o.front]
		o.showStep(l)
		if l.due(o.step) {
			return
		}
		o.front++
	}
}

// Wake returns the time until a lane has waited long enough; false if none waits.
func (o *Order) Wake() (time.Duration, bool) {
	for len(o.patient) > 0 && (o.patient[0].since.IsZero() || o.patient[0].at <= o.front) {
		o.patient = o.patient[1:]
	}
	if len(o.patient) == 0 || o.waiting == 0 {
		return 0, false
	}
	return max(0, o.patient[0].since.Add(o.patience).Sub(o.now())), true
}

// Tick passes the lanes that have waited long enough.
func (o *Order) Tick() {
	now := o.now()
	for len(o.patient) > 0 {
		l := o.patient[0]
		if !l.since.IsZero() && now.Sub(l.since) < o.patience {
			break
		}
		o.patient = o.patient[1:]
		if !l.since.IsZero() {
			l.pass()
			o.showStep(l)
		}
	}
	o.showRipe()
}

// showRipe shows all steps that are ripe.
func (o *Order) showRipe() {
	for o.waiting > 0 && !o.paused {
		next, ok := o.earliest()
		if !ok || next == o.step || !o.ripe(next, o.Steps.Between) {
			break
		}
		o.turnTo(next)
	}
	if o.included && o.past(o.step) {
		o.closeStep(o.all)
	}
}

// turnTo brings the next step to the screen, with all events that wait for it.
func (o *Order) turnTo(next plan.ID) {
	o.closeStep(o.all)
	o.warnEarly()
	o.step, o.task, o.front, o.patient = next, view.Task{}, 0, nil
	o.turn()
	o.moveFront()
	for _, l := range o.all[min(o.front, len(o.all)):] {
		o.showStep(l)
	}
}

// PassAll shows everything that is ripe, regardless of turns, since no host is under way.
func (o *Order) PassAll() {
	for _, l := range o.all {
		if len(l.queue) > 0 {
			l.pass()
			o.showStep(l)
		}
	}
	o.showRipe()
}

// Drain shows everything, however early, since nothing more will come.
func (o *Order) Drain() {
	o.paused = false
	o.spill()
	o.closeStep(o.all)
	o.warnEarly()
}

// mostHeld is how many bytes of events may wait for their place on the screen. Beyond it they are shown out of order.
const mostHeld = 64 << 20

// spill shows everything, even while the debugger has the screen: hosts that are far ahead must not take all memory.
func (o *Order) spill() {
	defer func(was bool) { o.paused = was }(o.paused)
	o.paused = false
	for o.waiting > 0 {
		for _, l := range o.all {
			l.pass()
			o.showStep(l)
		}
		if next, ok := o.earliest(); ok {
			o.turnTo(next)
		}
	}
}

// showStep shows the lane's events of the step on the screen, and warnings and the like that belong to no step.
func (o *Order) showStep(l *hostQueue) {
	for len(l.queue) > 0 && !o.paused {
		e := l.queue[0]
		if e.Step != "" && e.Step != o.step || o.holds(l, e) {
			return
		}
		o.take(l)
		o.show(l, e)
	}
}

// holds reports whether an event waits because hosts before its own are still at the step. An event that prints no
// result waits for nobody, unless it would print a banner that may name a host: that is the first host's.
func (o *Order) holds(l *hostQueue, e wire.Event) bool {
	switch {
	case o.patience == 0, l.at <= o.front, l.passed, e.Kind == wire.Warning, e.Adopted:
		return false
	case e.Kind == wire.Started && (o.task.ID != "" || !o.namesHosts(e.Step)):
		return false
	}
	if l.since.IsZero() {
		l.since = o.now()
		o.patient = append(o.patient, l)
	}
	return true
}

// namesHosts reports whether the name of a step may differ from host to host.
func (o *Order) namesHosts(id plan.ID) bool {
	s := o.Steps.Step(id)
	return s != nil && templar.IsTemplateText(s.Name)
}

func (o *Order) showAll(l *hostQueue) {
	for len(l.queue) > 0 {
		e := l.queue[0]
		o.take(l)
		if e.Step != "" && (e.Step != o.step || e.Kind == wire.Started) {
			o.step, o.task = e.Step, view.Task{}
		}
		o.show(l, e)
	}
}

// Announce shows the banner of a step whose results will never come.
func (o *Order) Announce(e wire.Event) {
	o.Drain()
	if o.step != e.Step {
		o.turnTo(e.Step)
	}
	o.banner(e)
}

// Halt shows a result that may not be the last of its step, regardless of turns, and stops the screen: the debugger has
// it.
func (o *Order) Halt(e wire.Event) {
	l := o.by[e.Host]
	if l == nil {
		return
	}
	e.Outcome = visible(e.Outcome)
	l.pass()
	if o.step != e.Step {
		o.turnTo(e.Step)
	}
	o.showStep(l)
	o.redone(l)
	l.halted = e.Outcome
	o.View.Done(view.Result{Task: o.banner(e), Host: e.Host, Outcome: e.Outcome, Start: l.start, End: o.now()})
	o.paused = true
}

// Resume goes on with the events since Halt.
func (o *Order) Resume() {
	o.paused = false
	o.moveFront()
	o.showRipe()
}
