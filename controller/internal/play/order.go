package play

import (
	"time"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// order puts the events of hosts that ran ahead of each other into play order and feeds the view. One step is on the
// screen at a time; events of later steps wait until no host can come up with an earlier one any more.
// The results of a step are shown in the order of the hosts, but a host that keeps the others waiting for longer than
// patience loses its turn, so that a slow host hides nothing. In a free play everything is shown as it arrives.
type order struct {
	view view.View
	warn func(text string)
	// verbose prints text at a level of verbosity.
	verbose func(level int, text string)
	recap   *recap
	tasks   *tasks
	free    bool

	// patience is how long a result waits for hosts that stand before its own; 0 is not at all. now is the clock.
	patience time.Duration
	now      func() time.Time

	lanes []*lane
	by    map[string]*lane

	// step is on the screen, as task. included says that hosts have included files there.
	step     plan.ID
	task     view.Task
	included bool
	// waiting is how many lanes have a queue, heads how many of them have one that begins with an event of each step; blocker is the lane
	// that kept the next step from the screen last. With tens of thousands of lanes nothing may look at all of them for each event.
	waiting int
	heads   map[plan.ID]int
	blocker *lane
	// held is about how many bytes wait in the queues.
	held int
	// patient are the lanes that wait for their turn at the step on the screen, in the order in which they began to.
	patient []*lane
	// front is the first lane from which more of the step on the screen can come. Lanes beyond it have to wait.
	front int
	// early are warnings of the step that came before its banner could.
	early []string
	// paused: the debugger has the screen.
	paused bool
}

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
	// since is when the lane began to wait for its turn, zero if it does not; passed says that it waited long enough and waits
	// no more at the step on the screen.
	since  time.Time
	passed bool
}

func newOrder(v view.View, warn func(string), r *recap, t *tasks, free bool, hosts []string) *order {
	o := &order{view: v, warn: warn, verbose: func(int, string) {}, recap: r, tasks: t, free: free, now: time.Now, by: make(map[string]*lane, len(hosts)), heads: map[plan.ID]int{}}
	for i, h := range hosts {
		l := &lane{host: h, at: i, ended: true}
		o.lanes = append(o.lanes, l)
		o.by[h] = l
	}
	return o
}

// enter says that events of the host will come.
func (o *order) enter(host string) {
	if l := o.by[host]; l != nil {
		l.ended = false
	}
}

// add takes an event and shows what can be shown now.
func (o *order) add(e wire.Event) {
	l := o.by[e.Host]
	if l == nil {
		return
	}
	e.Outcome = visible(e.Outcome)
	l.note(e)
	if e.Kind != wire.AtGate && e.Kind != wire.Ended {
		if l.queue = append(l.queue, e); len(l.queue) == 1 {
			o.waiting++
			o.heads[e.Step]++
		}
		o.held += heft(e)
		if o.held > mostHeld {
			o.spill()
		}
	}
	if o.free {
		o.showAll(l)
		o.closeStep()
		return
	}
	if o.paused {
		return
	}
	if l.at > o.front {
		o.showStep(l)
	}
	o.moveFront()
	o.flush()
}

// moveFront shows the lanes whose turn it is, up to the first from which more of this step can come.
func (o *order) moveFront() {
	for o.front < len(o.lanes) {
		l := o.lanes[o.front]
		o.showStep(l)
		if o.due(l) {
			return
		}
		o.front++
	}
}

// due tells that more events of the step on the screen can come from the lane.
func (o *order) due(l *lane) bool {
	switch {
	case l.ended:
		return false
	case l.from != "":
		return plan.Compare(l.from, o.step) <= 0
	}
	return plan.Compare(l.done, o.step) < 0
}

// wake is how long until a lane has waited long enough; false if none waits.
func (o *order) wake() (time.Duration, bool) {
	for len(o.patient) > 0 && (o.patient[0].since.IsZero() || o.patient[0].at <= o.front) {
		o.patient = o.patient[1:]
	}
	if len(o.patient) == 0 || o.waiting == 0 {
		return 0, false
	}
	return max(0, o.patient[0].since.Add(o.patience).Sub(o.now())), true
}

// tick lets those pass that have waited long enough.
func (o *order) tick() {
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
	o.flush()
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

// flush shows all that is ripe.
func (o *order) flush() {
	for o.waiting > 0 && !o.paused {
		next, ok := o.earliest()
		if !ok || next == o.step || !o.ripe(next) {
			break
		}
		o.turnTo(next)
	}
	if o.included && o.finished() {
		o.closeStep()
	}
}

// turnTo brings the next step to the screen, with all that waits for it.
func (o *order) turnTo(next plan.ID) {
	o.closeStep()
	o.warnEarly()
	o.step, o.task, o.front, o.patient = next, view.Task{}, 0, nil
	for _, l := range o.lanes {
		l.since, l.passed = time.Time{}, false
	}
	o.moveFront()
	for _, l := range o.lanes[min(o.front, len(o.lanes)):] {
		o.showStep(l)
	}
}

// settle shows all that is ripe, whoever's turn it is. The driver calls it when no host is under way.
func (o *order) settle() {
	for _, l := range o.lanes {
		if len(l.queue) > 0 {
			l.pass()
			o.showStep(l)
		}
	}
	o.flush()
}

// drain shows all that is there, however early: nothing more will come.
func (o *order) drain() {
	o.paused = false
	o.spill()
	o.closeStep()
	o.warnEarly()
}

// mostHeld is how many bytes of events may wait for their place on the screen; beyond it they are shown out of order.
const mostHeld = 64 << 20

// heft is about how many bytes an event takes here.
func heft(e wire.Event) int {
	n := 512 + len(e.Name) + len(e.Text)
	if o := e.Outcome; o != nil {
		n += len(o.Result) + len(o.Item) + len(o.Label)
	}
	return n
}

// spill shows all that is there, even while the debugger has the screen: hosts that are far ahead may not take all memory.
func (o *order) spill() {
	defer func(was bool) { o.paused = was }(o.paused)
	o.paused = false
	for o.waiting > 0 {
		for _, l := range o.lanes {
			l.pass()
			o.showStep(l)
		}
		if next, ok := o.earliest(); ok {
			o.turnTo(next)
		}
	}
}

// earliest is the smallest step that has an event waiting.
func (o *order) earliest() (plan.ID, bool) {
	var first plan.ID
	found := false
	for step := range o.heads {
		if !found || plan.Compare(step, first) < 0 {
			first, found = step, true
		}
	}
	return first, found
}

// ripe tells that no host can come up with an event of a step before next.
func (o *order) ripe(next plan.ID) bool {
	first := 0
	if o.blocker != nil {
		first = o.blocker.at
	}
	for i := range o.lanes {
		if l := o.lanes[(first+i)%len(o.lanes)]; o.mayPrecede(l, next) {
			o.blocker = l
			return false
		}
	}
	return true
}

func (o *order) mayPrecede(l *lane, step plan.ID) bool {
	switch {
	case l.ended || len(l.queue) > 0: // what waits is not before step: it was the smallest
		return false
	case l.from != "":
		return plan.Compare(l.from, step) < 0
	}
	return plan.Compare(l.done, step) < 0 && o.tasks.index.Between(l.done, step)
}

// finished tells that all hosts are past the step on the screen.
func (o *order) finished() bool {
	for _, l := range o.lanes {
		if o.due(l) || len(l.queue) > 0 && l.queue[0].Step == o.step {
			return false
		}
	}
	return true
}

// showStep shows what the lane has of the step on the screen. Warnings and the like that belong to no step go along.
func (o *order) showStep(l *lane) {
	for len(l.queue) > 0 && !o.paused {
		e := l.queue[0]
		if e.Step != "" && e.Step != o.step || o.holds(l, e) {
			return
		}
		o.take(l)
		o.show(l, e)
	}
}

// holds tells whether an event has to wait because hosts before its own are still at the step. What prints no
// result waits for nobody, unless it would bring a banner in which a host may be named: that is the first host's.
func (o *order) holds(l *lane, e wire.Event) bool {
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

// namesHosts tells whether the name of a step may differ from host to host.
func (o *order) namesHosts(id plan.ID) bool {
	s := o.tasks.index.Step(id)
	return s != nil && templar.IsTemplate(value.YAMLStr(s.Name))
}

// take takes the first event off a lane's queue.
func (o *order) take(l *lane) {
	step := l.queue[0].Step
	if o.heads[step]--; o.heads[step] == 0 {
		delete(o.heads, step)
	}
	o.held -= heft(l.queue[0])
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
		o.waiting--
		return
	}
	o.heads[l.queue[0].Step]++
}

func (o *order) showAll(l *lane) {
	for len(l.queue) > 0 {
		e := l.queue[0]
		o.take(l)
		if e.Step != "" && (e.Step != o.step || e.Kind == wire.Started) {
			o.step, o.task = e.Step, view.Task{}
		}
		o.show(l, e)
	}
}
