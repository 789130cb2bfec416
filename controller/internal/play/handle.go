package play

import (
	"errors"
	"fmt"
	"slices"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// handle takes one event in: variables, standing, barrier, and the screen last.
func (b *batchRun) handle(e wire.Event) {
	if h := b.barrier.by[e.Host]; e.Play != b.plan.Play.ID || h == nil || !h.live {
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
			e.Outcome.Effects = b.r.answers.Admit(e.Host, b.tasks.index.Step(e.Step), e.Outcome.Effects)
			if !b.fits(e.Host, e.Outcome.Effects) {
				b.doubt(e.Host, fmt.Sprintf("its variables take more than %d MB", mostVariables>>20))
				return
			}
		}
		b.apply(e.Host, e.Outcome.Effects)
	}
	b.course.note(e)
	b.stragglers.heed(e)
	if b.polls.heed(e) {
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
		b.barrier.stand(e.Host, e.Next)
	case wire.Ended:
		if e.Text != "" && e.Fate == wire.Failed && (b.doing[e.Host] || b.r.cause() == nil) {
			b.handle(b.breakdown(e))
		}
		b.ended(e)
	case wire.Broken:
		b.fatal = errors.New(e.Text)
		return
	}
	b.order.add(e)
	if e.Kind == wire.Done && !b.plan.Play.Gated && !b.order.free {
		b.judgeAlone(e)
	}
	if !e.Own && e.Kind == wire.Done && e.Next != "" && b.r.cause() == nil {
		b.comesTo(e.Host, e.Next)
	}
}

// apply brings effects into the mirror of the hosts' variables.
func (b *batchRun) apply(host string, effects []wire.Effect) {
	b.r.mirror.Apply(host, effects)
	var others []string
	for _, e := range effects {
		if h := b.barrier.by[e.Host]; h != nil && h.live && e.Host != host {
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
	if h := b.barrier.by[host]; h != nil && h.live && len(own) > 0 {
		b.publish(wire.Advance{Stale: []string{host}})
	}
}

// did notes the end of a step on a host.
func (b *batchRun) did(e wire.Event) {
	delete(b.holders[e.Step], e.Host)
	b.current[e.Host] = e.Next
	o := e.Outcome
	if o != nil && !e.Adopted {
		b.weigh(e)
		if r := b.barrier.round; r != nil && r.once == e.Host && r.step == e.Step {
			b.outcome = o
		}
		b.meta(e)
	}
	if r := b.barrier.round; r != nil && r.step == e.Step {
		b.barrier.did(e.Host)
	}
	if e.Next != "" {
		b.barrier.stand(e.Host, e.Next)
	}
}

// weigh counts a failure for the round in which it happened.
func (b *batchRun) weigh(e wire.Event) {
	o, r := e.Outcome, b.barrier.round
	if o.Ignored || o.Cancelled {
		return
	}
	switch o.Status {
	case wire.StatusFailed:
		if o.Rescued {
			return
		}
		b.setGone(e.Host) // even if always sections follow, or the rescue that Ansible does not count
		if _, ok := b.tasks.index.Refuge(e.Step); !ok {
			b.tally[e.Host] = true
		}
		if r != nil {
			r.failed = append(r.failed, e.Host)
			r.fatal = r.fatal || o.FailAll || b.fatalForAll(e)
		}
	case wire.StatusUnreachable:
		b.lostAt[e.Host] = e.Step
		if r != nil {
			r.unreachable = append(r.unreachable, e.Host)
			r.fatal = r.fatal || o.FailAll || b.fatalForAll(e)
		}
	}
}

// fatalForAll tells whether a failure is one of all hosts. ignore_errors counts for it as it is written.
func (b *batchRun) fatalForAll(e wire.Event) bool {
	s, r := b.tasks.index.Step(e.Step), b.barrier.round
	if s == nil || ignoresInWriting(s) {
		return false
	}
	return r != nil && r.once != "" && r.step == e.Step || b.holds(e.Host, s, s.AnyErrorsFatal) || value.IsTrue(b.rendered(e.Host, s, s.RunOnce))
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
	scope := b.r.mirror.StepScope(host, vars.SharedOf(&b.plan.Play), b.tasks.step(s))
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
	b.barrier.leave(e.Host)
	for _, hosts := range b.holders {
		delete(hosts, e.Host)
	}
	delete(b.current, e.Host)
	switch e.Fate {
	case wire.Failed:
		b.setGone(e.Host)
		b.r.failed[e.Host] = true
	case wire.Unreachable:
		b.setGone(e.Host)
		b.r.unreachable[e.Host] = true
	case wire.EndedEarly:
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
func (b *batchRun) meta(e wire.Event) {
	o := e.Outcome
	if o.Meta == "" || o.Status == wire.Skipped {
		return
	}
	switch o.Meta {
	case "end_play":
		b.endPlay = true
		b.endFailed(o)
		b.publish(wire.Advance{EndPlay: true})
		b.barrier.send(without(b.barrier.liveHosts(), e.Host))
	case "end_batch":
		b.endFailed(o)
		others := without(b.barrier.liveHosts(), e.Host)
		b.publish(wire.Advance{Drop: others})
		b.barrier.send(others)
	case "clear_facts":
		for _, h := range b.hosts {
			b.r.forgetFacts(h)
		}
	case "clear_host_errors":
		for _, h := range b.hosts {
			delete(b.r.failed, h)
			delete(b.r.unreachable, h)
			delete(b.tally, h)
		}
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
		if next := following(b.plan.Blocks, at); next != "" {
			b.back[h] = next
		}
	}
	clear(b.lostAt)
}

// endFailed fails all hosts of a batch that a host ends whose own failure was not mended yet.
func (b *batchRun) endFailed(o *wire.Outcome) {
	if !o.FailAll {
		return
	}
	b.broken, b.endedFailed = true, true
	for _, h := range b.hosts {
		if !b.r.unreachable[h] {
			b.r.failed[h] = true
		}
	}
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
	for _, h := range a.Fail {
		b.course.fail(h, b.moved[h])
	}
	for _, h := range b.hosts {
		if a.EndPlay {
			b.course.leave(h)
		}
	}
}
