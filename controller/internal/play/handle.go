package play

import (
	"errors"
	"fmt"
	"strings"

	"hark/agent/evaluate"
	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/handover"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/progress"
	"hark/controller/internal/play/strategy"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// handle takes one event in: variables, where its host is, what follows for others, and the screen last.
func (b *batchRun) handle(e wire.Event) {
	if e.Play != b.plan.Play.ID || !b.machine.Live(e.Host) {
		return // of a play that is over, or of a host that was given up
	}
	effects, ok := admitted(b, &e)
	if !ok {
		return
	}
	if e.Outcome != nil {
		b.apply(e.Host, effects)
	}
	addWrittenSecrets(b, &e)
	b.r.hidden.hide(&e)
	b.tracker.Note(e)
	b.slow.Heed(e)
	if b.polls.Heed(e) {
		return
	}
	switch e.Kind {
	case wire.Output:
		b.follow(e)
		return
	case wire.Started:
		if !b.where.begin(e.Host, e.Step) {
			return // it began the step itself, and then handed it over
		}
	case wire.Done:
		b.where.done(e.Host, e.Next)
		b.did(e)
	case wire.AtGate:
		b.where.put(e.Host, e.Next)
		b.machine.Stand(e.Host, e.Next)
	case wire.Ended:
		// A session that has broken the run ends for that; it is reported once.
		if e.Text != "" && e.State == wire.Failed && b.fatal == nil && (b.where.isDoing(e.Host) || b.r.cause() == nil) {
			b.handle(b.lost.breakdown(e))
		}
		b.ended(e)
	case wire.Broken:
		b.fatal = errors.New(e.Text)
		return
	}
	b.order.Add(e)
	if !e.Own && e.Kind == wire.Done && e.Next != "" && b.r.cause() == nil {
		b.lost.faulty(e.Host, b.tracker.Comes(e.Host, e.Next))
	}
}

// admitted returns the effects of an event that may change variables, which are those that it has from then on. It is
// false if nobody may hear of the event.
func admitted(b *batchRun, e *wire.Event) (effects admit.Effects, ok bool) {
	if !e.Own && !b.believes(e) {
		return effects, false
	}
	o := e.Outcome
	if o == nil {
		return effects, true
	}
	if s := b.steps.Step(e.Step); e.Own {
		if effects = b.r.admission.Evaluated(e.Host, s, o.Effects); e.Kind == wire.Done {
			b.r.admission.Done(e.Host, e.Step)
		}
	} else {
		var err error
		if effects, err = b.r.admission.Reported(e.Host, s, o.Effects); err != nil {
			b.lost.doubt(e.Host, err.Error())
			return effects, false
		}
	}
	o.Effects = effects.List()
	return effects, true
}

// believes takes of an agent's event what it may say. It is false if that is nothing, or the end of its host.
func (b *batchRun) believes(e *wire.Event) bool {
	s, h := b.steps.Step(e.Step), b.tasks.Of(e.Host)
	switch e.Kind {
	case wire.Broken:
		b.hears(*e, s, h)
		return false
	case wire.Excess:
		b.lost.doubt(e.Host, fmt.Sprintf("what it tells of a task takes more than %d MB", link.MostOfBatch>>20))
		return false
	}
	if doubt := progress.Admit(e, s, h.Asked(e.Step)); doubt != "" {
		b.lost.doubt(e.Host, doubt)
		return false
	}
	// What a cancelled host comes by nobody can say.
	return b.r.cause() != nil || !b.lost.faulty(e.Host, b.tracker.Judge(*e, b.where.isDoing(e.Host)))
}

// hears judges what an agent says has broken the run. Only that a handler is not there can come up on a host, when it
// is known what a step notifies.
func (b *batchRun) hears(e wire.Event, s *plan.Step, h *handover.Task) {
	const claim = "it says that the run cannot go on"
	if h == nil || s == nil || s.Notify.IsZero() || s.Evaluator == plan.Controller {
		b.lost.doubt(e.Host, claim)
		return
	}
	b.judging++
	b.r.work.Go(func() {
		missing := b.executor.Missing(b.ends, h, s)
		_ = b.queue.aside(b.ends, func() {
			b.judging--
			if missing == "" {
				b.lost.doubt(e.Host, claim)
			} else if b.fatal == nil {
				b.fatal = errors.New(evaluate.MissingHandler(missing))
			}
		})
	})
}

// apply brings effects into the mirror of the hosts' variables.
func (b *batchRun) apply(host string, effects admit.Effects) {
	b.r.mirror.Apply(host, effects)
	var others []string
	for _, e := range effects.List() {
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
func (b *batchRun) give(host string, effects admit.Effects) {
	b.r.mirror.Apply(host, effects)
	if b.machine.Live(host) && len(effects.List()) > 0 {
		b.publish(wire.Advance{Stale: []string{host}})
	}
}

// did takes in the end of a step on a host, and does what a meta step asks of the controller.
func (b *batchRun) did(e wire.Event) {
	o := e.Outcome
	if o == nil || e.Adopted {
		b.pace.did(e)
		return
	}
	if failed(o) && !o.Rescued {
		b.present.leave(e.Host) // even if always sections follow, or the rescue that Ansible does not count
	}
	if o.Status == wire.StatusUnreachable && !o.Ignored && !o.Cancelled {
		b.lost.at[e.Host] = e.Step
	}
	b.pace.did(e)
	if o.Status == wire.Skipped {
		return
	}
	switch o.Meta {
	case "clear_facts":
		for _, h := range b.hosts {
			b.r.facts.forget(h, b.r.messages.Warn)
		}
	case "clear_host_errors":
		b.r.points.cannot("it brought hosts back (clear_host_errors)")
		b.lost.bringBack()
	case "refresh_inventory":
		if err := b.r.refreshInventory(); err != nil {
			b.fatal = err
		}
	}
}

// failed reports whether an outcome is a failure that counts.
func failed(o *wire.Outcome) bool {
	return o.Status == wire.StatusFailed && !o.Ignored && !o.Cancelled
}

// ended notes that a host takes no further part.
func (b *batchRun) ended(e wire.Event) {
	why := map[wire.HostState]strategy.HostState{wire.Failed: strategy.Failed,
		wire.Unreachable: strategy.Unreachable}[e.State]
	b.machine.Leave(e.Host, why)
	b.where.leave(e.Host)
	if e.State != wire.Finished {
		b.present.leave(e.Host)
	}
}

// follow shows live output as it comes, each line after the name of its host: it waits for nobody's turn.
func (b *batchRun) follow(e wire.Event) {
	sep := " | "
	if e.Stderr {
		sep = " ! "
	}
	for line := range strings.Lines(e.Text) {
		b.r.messages.Print(view.NoColor, e.Host+sep+strings.TrimRight(line, "\r\n"))
	}
}
