package play

import (
	"errors"
	"fmt"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/play/lockstep"
	"hark/controller/internal/play/steps"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// handle takes one event in: variables, standing, barrier, and the screen last.
func (b *batchRun) handle(e wire.Event) {
	if e.Play != b.plan.Play.ID || !b.machine.Live(e.Host) {
		return // of a play that is over, or of a host that was given up
	}
	if !e.Own && !b.admit(&e) {
		return
	}
	if !e.Own && !b.onCourse(e) {
		return
	}
	if e.Outcome != nil {
		if !e.Own {
			e.Outcome.Effects = b.r.answers.Admit(e.Host, b.steps.Step(e.Step), e.Outcome.Effects)
			if !b.fits(e.Host, e.Outcome.Effects) {
				b.doubt(e.Host, fmt.Sprintf("its variables take more than %d MB", mostVariables>>20))
				return
			}
		}
		b.apply(e.Host, e.Outcome.Effects)
	}
	b.course.note(e)
	b.stragglers.heed(e)
	if b.polls.Heed(e) {
		return
	}
	switch e.Kind {
	case wire.Output:
		b.follow(e)
		return
	case wire.Started:
		if b.doing[e.Host] && b.current[e.Host] == e.Step {
			return // it began the step itself, and then handed it over
		}
		b.current[e.Host], b.doing[e.Host] = e.Step, true
	case wire.Done:
		delete(b.doing, e.Host)
		b.did(e)
	case wire.AtGate:
		b.current[e.Host] = e.Next
		b.machine.Stand(e.Host, e.Next)
	case wire.Ended:
		if e.Text != "" && e.Fate == wire.Failed && (b.doing[e.Host] || b.r.cause() == nil) {
			b.handle(b.breakdown(e))
		}
		b.ended(e)
	case wire.Broken:
		b.fatal = errors.New(e.Text)
		return
	}
	b.order.Add(e)
	if !e.Own && e.Kind == wire.Done && e.Next != "" && b.r.cause() == nil {
		b.comesTo(e.Host, e.Next)
	}
}

// apply brings effects into the mirror of the hosts' variables.
func (b *batchRun) apply(host string, effects []wire.Effect) {
	b.r.mirror.Apply(host, effects)
	var others []string
	for _, e := range effects {
		if b.machine.Live(e.Host) && e.Host != host {
			others = append(others, e.Host)
		}
		if e.Layer == string(vars.Facts) {
			if e.Host != "" {
				b.r.facts.changed(e.Host)
			} else {
				b.r.facts.changed(host)
			}
		}
	}
	if len(others) > 0 {
		b.publish(wire.Advance{Stale: others})
	}
}

// give brings effects of another host's step to a host that stands elsewhere, or has left.
func (b *batchRun) give(host string, effects []wire.Effect) {
	own := slices.Clone(effects)
	for i := range own {
		if own[i].Host == "" {
			own[i].Host = host
		}
	}
	b.r.mirror.Apply(host, own)
	if b.machine.Live(host) && len(own) > 0 {
		b.publish(wire.Advance{Stale: []string{host}})
	}
}

// did notes the end of a step on a host.
func (b *batchRun) did(e wire.Event) {
	b.current[e.Host] = e.Next
	if o := e.Outcome; o != nil && !e.Adopted {
		if failed(o) && !o.Rescued {
			b.setGone(e.Host) // even if always sections follow, or the rescue that Ansible does not count
		}
		if o.Status == wire.StatusUnreachable && !o.Ignored && !o.Cancelled {
			b.lostAt[e.Host] = e.Step
		}
		if b.machine.DoesForAll(e.Host, e.Step) {
			b.outcome = o
		}
		b.meta(o)
	}
	b.machine.Did(b.done(e))
}

// failed tells whether an outcome is a failure that counts.
func failed(o *wire.Outcome) bool {
	return o.Status == wire.StatusFailed && !o.Ignored && !o.Cancelled
}

// done is the end of a step as it concerns other hosts.
func (b *batchRun) done(e wire.Event) lockstep.Done {
	d := lockstep.Done{Host: e.Host, Step: e.Step, Next: e.Next, Adopted: e.Adopted}
	o := e.Outcome
	if o == nil || e.Adopted {
		return d
	}
	d.Rescued = o.Rescued
	switch {
	case o.Cancelled:
		d.Came = lockstep.Cancelled
	case failed(o):
		d.Came = lockstep.Ill
	case o.Status == wire.StatusUnreachable && !o.Ignored:
		d.Came = lockstep.Lost
	}
	switch {
	case d.Came == lockstep.Lost, d.Came == lockstep.Ill && !d.Rescued:
		s := b.steps.Step(e.Step)
		d.Excused = s == nil || ignoresInWriting(s)
		d.Fatal = o.FailAll || !d.Excused && b.fatalForAll(e.Host, s)
	case o.Meta != "" && o.Status != wire.Skipped:
		d.Meta, d.Fatal = metaOf(o.Meta), o.FailAll
	}
	return d
}

// metaOf is what a meta step asks of other hosts.
func metaOf(action string) lockstep.Meta {
	switch action {
	case "end_play":
		return lockstep.MetaEndPlay
	case "end_batch":
		return lockstep.MetaEndBatch
	case "clear_host_errors":
		return lockstep.MetaClearErrors
	}
	return lockstep.NoMeta
}

// fatalForAll tells whether a failure at a step is one of all hosts.
func (b *batchRun) fatalForAll(host string, s *plan.Step) bool {
	alone := !b.plan.Play.Gated && !b.plan.Play.Free() && b.onceForAll(s)
	return alone || b.holds(host, s, s.AnyErrorsFatal) || value.IsTrue(b.rendered(host, s, s.RunOnce))
}

// holds tells whether a keyword of a step is true for a host. What cannot be rendered is not.
func (b *batchRun) holds(host string, s *plan.Step, e plan.Expr) bool {
	on, _ := value.AsBool(value.OrNone(b.rendered(host, s, e)))
	return on
}

// rendered is a keyword of a step as it is for a host; nil if there is none or it cannot be rendered.
func (b *batchRun) rendered(host string, s *plan.Step, e plan.Expr) value.Value {
	if e.IsZero() || !templar.IsTemplate(e.V) {
		return e.V
	}
	scope := b.r.mirror.StepScope(host, vars.SharedOf(&b.plan.Play), b.steps.Vars(s))
	v, err := templar.New(scope, b.r.in.Templates).Template(b.r.ctx, e.V)
	if err != nil {
		return nil
	}
	return v
}

func ignoresInWriting(s *plan.Step) bool {
	if s.IgnoreErrors.IsZero() {
		return false
	}
	ok, err := value.Truth(s.IgnoreErrors.V)
	return ok && err == nil
}

// ended notes that a host takes no further part.
func (b *batchRun) ended(e wire.Event) {
	why := map[wire.Fate]lockstep.Fate{wire.Failed: lockstep.Failed, wire.Unreachable: lockstep.Unreachable}[e.Fate]
	b.machine.Leave(e.Host, why)
	delete(b.current, e.Host)
	if e.Fate != wire.Finished {
		b.setGone(e.Host)
	}
}

func (b *batchRun) setGone(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone[host] = true
}

// standing are the hosts of a list that still take part, for the magic variables that change while a play runs.
func (b *batchRun) standing(hosts []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return b.gone[h] })
}

// meta does what a meta step asks of the controller.
func (b *batchRun) meta(o *wire.Outcome) {
	if o.Status == wire.Skipped {
		return
	}
	switch o.Meta {
	case "clear_facts":
		for _, h := range b.hosts {
			b.r.forgetFacts(h)
		}
	case "clear_host_errors":
		b.bringBack()
	case "refresh_inventory":
		if err := b.r.refreshInventory(); err != nil {
			b.fatal = err
		}
	}
}

// bringBack notes where the hosts go on that were lost before.
func (b *batchRun) bringBack() {
	for h, at := range b.lostAt {
		if next := steps.Following(b.plan.Blocks, at); next != "" {
			b.back[h] = next
		}
	}
	clear(b.lostAt)
}

// publish sends an Advance of this play to all its hosts.
func (b *batchRun) publish(a wire.Advance) {
	b.r.seq++
	a.Run, a.Play, a.Seq = b.r.in.Run, b.plan.Play.ID, b.r.seq
	b.steer(a)
	if err := b.r.link.Advance(a); err != nil && b.fatal == nil {
		b.fatal = err
	}
}

// steer notes what an Advance makes of the hosts' courses.
func (b *batchRun) steer(a wire.Advance) {
	for _, h := range a.Drop {
		b.course.leave(h)
	}
	for _, h := range b.hosts {
		if a.EndPlay {
			b.course.leave(h)
		}
	}
}
