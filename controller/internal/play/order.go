package play

import (
	"encoding/json"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/view"
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
	// waiting is how many lanes have a queue; blocker is the lane that kept the next step from the screen last.
	waiting int
	blocker *lane
	// front is the first lane from which more of the step on the screen can come. Lanes beyond it have to wait.
	front int
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
	// since is when the lane began to wait for its turn, zero if it does not; passed says that it waited long enough and waits
	// no more at the step on the screen.
	since  time.Time
	passed bool
}

func newOrder(v view.View, warn func(string), r *recap, t *tasks, free bool, hosts []string) *order {
	o := &order{view: v, warn: warn, verbose: func(int, string) {}, recap: r, tasks: t, free: free, now: time.Now, by: make(map[string]*lane, len(hosts))}
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
	l.note(e)
	if e.Kind != wire.AtGate && e.Kind != wire.Ended {
		if len(l.queue) == 0 {
			o.waiting++
		}
		l.queue = append(l.queue, e)
	}
	if o.free {
		o.showAll(l)
		o.closeStep()
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
	var first time.Time
	for i := o.front + 1; i < len(o.lanes) && o.waiting > 0; i++ {
		if l := o.lanes[i]; !l.since.IsZero() && (first.IsZero() || l.since.Before(first)) {
			first = l.since
		}
	}
	if first.IsZero() {
		return 0, false
	}
	return max(0, first.Add(o.patience).Sub(o.now())), true
}

// tick lets those pass that have waited long enough.
func (o *order) tick() {
	now := o.now()
	for _, l := range o.lanes {
		if !l.since.IsZero() && now.Sub(l.since) >= o.patience {
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
	for o.waiting > 0 {
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
	o.step, o.task, o.front = next, view.Task{}, 0
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
	for o.waiting > 0 {
		for _, l := range o.lanes {
			l.pass()
			o.showStep(l)
		}
		if next, ok := o.earliest(); ok {
			o.turnTo(next)
		}
	}
	o.closeStep()
}

// earliest is the smallest step that has an event waiting.
func (o *order) earliest() (plan.ID, bool) {
	var first plan.ID
	found := false
	for _, l := range o.lanes {
		if len(l.queue) > 0 && (!found || plan.Compare(l.queue[0].Step, first) < 0) {
			first, found = l.queue[0].Step, true
		}
	}
	return first, found
}

// ripe tells that no host can come up with an event of a step before next.
func (o *order) ripe(next plan.ID) bool {
	if o.blocker != nil && o.mayPrecede(o.blocker, next) {
		return false
	}
	for _, l := range o.lanes {
		if o.mayPrecede(l, next) {
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
	for len(l.queue) > 0 {
		e := l.queue[0]
		if e.Step != "" && e.Step != o.step || o.holds(l, e) {
			return
		}
		o.take(l)
		o.show(l, e)
	}
}

// holds tells whether an event has to wait because hosts before its own are still at the step. What prints no
// result waits for nobody.
func (o *order) holds(l *lane, e wire.Event) bool {
	if o.patience == 0 || l.at <= o.front || l.passed || e.Kind == wire.Started || e.Kind == wire.Warning || e.Adopted {
		return false
	}
	if l.since.IsZero() {
		l.since = o.now()
	}
	return true
}

// take takes the first event off a lane's queue.
func (o *order) take(l *lane) {
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
		o.waiting--
	}
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

// show hands one event to the view.
func (o *order) show(l *lane, e wire.Event) {
	if e.Kind == wire.Warning {
		o.warn(e.Text)
		return
	}
	if e.Adopted || e.Step == "" {
		return
	}
	t := o.banner(e)
	r := view.Result{Task: t, Host: e.Host, Outcome: e.Outcome, Start: l.start, End: e.Time}
	switch e.Kind {
	case wire.Started:
		l.start = e.Time
		o.view.HostStart(t, e.Host)
	case wire.Item:
		o.view.ItemDone(r)
		l.start = e.Time
	case wire.Retry:
		o.view.Retry(r)
	case wire.Progress:
		if e.Text == "" {
			o.view.Progress(r)
		} else {
			o.view.AsyncDone(r)
		}
	case wire.Notified:
		o.view.Notified(e.Text, e.Host)
	case wire.Done:
		o.done(l, r)
	}
}

// banner announces the step on the screen with its first event. A meta step is announced for each of its hosts,
// as Ansible does in linear plays; in free ones a view announces a step with its results.
func (o *order) banner(e wire.Event) view.Task {
	fresh := o.task.ID == ""
	if fresh {
		o.task = o.tasks.shown(e)
	}
	if fresh || o.task.Kind == plan.Meta && e.Kind == wire.Done && !o.free {
		o.view.TaskStart(o.task)
	}
	return o.task
}

// announce shows the banner of a step whose results will never come.
func (o *order) announce(e wire.Event) {
	o.drain()
	if o.step != e.Step {
		o.turnTo(e.Step)
	}
	o.banner(e)
}

// done shows the end of a step on a host.
func (o *order) done(l *lane, r view.Result) {
	if r.Outcome == nil {
		return
	}
	l.start = time.Time{}
	if r.Task.Kind == plan.Meta {
		o.verbose(2, "META: "+metaText(r.Outcome))
		if r.Outcome.Status == wire.Skipped {
			o.view.Done(r)
		}
		return
	}
	if r.Task.Kind == plan.Include && lostRole(r) {
		return // the error was shown; Ansible neither shows a result nor counts one
	}
	o.recap.add(r.Host, r.Outcome, r.Task.Kind == plan.Include)
	o.recap.addCustom(r.Host, r.Outcome)
	o.view.Done(r)
	l.included = append(l.included, r.Outcome.Included...)
	o.included = o.included || len(l.included) > 0
}

// metaText is what -vv tells of a meta step.
func metaText(o *wire.Outcome) string {
	var result struct {
		Msg        string
		SkipReason string `json:"skip_reason"`
	}
	if json.Unmarshal(o.Result, &result) == nil && o.Status == wire.Skipped && result.SkipReason != "" {
		return result.SkipReason
	}
	return result.Msg
}

// lostRole tells whether an include_role failed because the role cannot be had.
func lostRole(r view.Result) bool {
	if r.Outcome.Status != wire.StatusFailed || !strings.HasSuffix(r.Task.Action, "include_role") {
		return false
	}
	var result map[string]json.RawMessage
	return json.Unmarshal(r.Outcome.Result, &result) == nil && result["reason"] != nil
}

// closeStep ends the step on the screen: all its results are there, so the files that it included can be told with
// all their hosts.
func (o *order) closeStep() {
	if !o.included {
		return
	}
	o.included = false
	type file struct {
		wire.Included
		hosts []string
	}
	var files []*file
	byIndex := map[int]*file{}
	for _, l := range o.lanes {
		for _, in := range l.included {
			f := byIndex[in.Index]
			if f == nil {
				f = &file{Included: in}
				byIndex[in.Index] = f
				files = append(files, f)
			}
			f.hosts = append(f.hosts, l.host)
			o.recap.of(l.host).OK++
		}
		l.included = nil
	}
	for _, f := range files {
		o.view.Included(o.task, view.Include{Path: f.Path, Label: f.Label, Hosts: f.hosts})
	}
}
