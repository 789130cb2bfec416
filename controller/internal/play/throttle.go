package play

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/play/strategy"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// throttle reports events to the state machine of a batch, with the keywords of their hosts, and makes messages of its
// decisions. It belongs to the goroutine of the batch.
type throttle struct {
	b *batchRun
	// needFacts are the hosts whose facts are gathered.
	needFacts map[string]bool
	// outcome is what the host that ran once for all made of the step.
	outcome *wire.Outcome
}

// did notes the end of a step on a host.
func (p *throttle) did(e wire.Event) {
	d := strategy.Done{Host: e.Host, Step: e.Step, Next: e.Next, Adopted: e.Adopted}
	if o := e.Outcome; o != nil && !e.Adopted {
		if p.b.machine.DoesForAll(e.Host, e.Step) {
			p.outcome = o
		}
		p.weigh(&d, o)
	}
	p.b.machine.Did(d)
}

// weigh says how a step came out.
func (p *throttle) weigh(d *strategy.Done, o *wire.Outcome) {
	d.Rescued = o.Rescued
	switch {
	case o.Cancelled:
		d.Came = strategy.Cancelled
	case failed(o):
		d.Came = strategy.Ill
		d.Spent = p.b.steps.Tagged && p.b.steps.OnlyFlush(d.Step) && len(p.b.tracker.Pending(d.Host, d.Step)) == 0
	case o.Status == wire.StatusUnreachable && !o.Ignored:
		d.Came = strategy.Lost
	}
	switch {
	case d.Came == strategy.Lost, d.Came == strategy.Ill && (!d.Rescued || p.b.steps.Tagged):
		s := p.b.steps.Step(d.Step)
		d.Excused = s == nil || ignoresInWriting(s)
		d.Fatal = o.FailAll || !d.Excused && p.fatalForAll(d.Host, s)
	case o.Meta != "" && o.Status != wire.Skipped:
		d.Meta, d.Fatal = metaOf(o.Meta), o.FailAll
	}
}

// metaOf returns what a meta step asks of other hosts.
func metaOf(action string) strategy.Meta {
	switch action {
	case "end_play":
		return strategy.MetaEndPlay
	case "end_batch":
		return strategy.MetaEndBatch
	case "clear_host_errors":
		return strategy.MetaClearErrors
	}
	return strategy.NoMeta
}

// ahead lets the hosts go for the first step before their sessions are opened, where nobody has to wait there for
// others: then there is no barrier before it, and each begins when it is there.
func (p *throttle) ahead() {
	of, first := &p.b.plan.Play, p.first()
	if !of.Gated || of.Free() || p.b.r.stepping || p.b.r.in.Forks > 0 || first == nil || p.b.starts.Base.Resume != "" {
		return
	}
	waits := !first.RunOnce.IsZero() || !first.Throttle.IsZero() || first.Kind != plan.Task ||
		first.Evaluator == plan.Controller || p.onceForAll(first)
	if waits || !first.Gate && !of.AllGated {
		return
	}
	hosts := p.b.machine.LiveHosts()
	if known, _ := p.gathered(hosts); first.Implicit && len(known) > 0 {
		return
	}
	p.b.machine.Ahead(first.ID)
	for _, h := range hosts {
		p.b.where.put(h, first.ID)
		p.b.order.Add(wire.Event{Kind: wire.AtGate, Host: h, Next: first.ID})
	}
}

// first returns the step to which all hosts come first, nil for none.
func (p *throttle) first() (first *plan.Step) {
	plan.Walk(p.b.plan.Blocks, func(s *plan.Step) {
		if first == nil && !(s.Implicit && s.Kind == plan.Meta) {
			first = s
		}
	})
	return first
}

// proceed carries out what follows of what has come so far.
func (p *throttle) proceed(ctx context.Context) { p.carryOut(ctx, p.b.machine.Proceed()) }

// carryOut sends, and shows, what was decided.
func (p *throttle) carryOut(ctx context.Context, decisions []strategy.Decision) {
	for _, d := range decisions {
		if p.b.fatal != nil {
			return
		}
		a := wire.Advance{Step: d.Step}
		if !d.All {
			a.Only = d.Hosts
		}
		switch d.Kind {
		case strategy.Turn:
			p.carryOut(ctx, p.b.machine.Answer(p.rule(ctx, d.Step, d.Hosts)))
		case strategy.Release:
			p.b.slow.Released(d.Hosts)
			p.b.publish(a)
		case strategy.Pass:
			a.Shared = &wire.Outcome{Status: wire.Skipped, Result: []byte("{}")}
			p.b.publish(a)
		case strategy.Adopt:
			p.adopt(d, p.shared(d))
		case strategy.Fail:
			for i, h := range d.Hosts {
				p.b.tracker.Fail(h, d.At[i])
			}
			p.b.publish(wire.Advance{Fail: d.Hosts})
		case strategy.Drop:
			p.b.r.points.cannot("hosts were taken out of a play that had too many failures")
			p.b.publish(wire.Advance{Drop: d.Hosts})
		case strategy.EndPlay:
			p.b.publish(wire.Advance{EndPlay: true})
		case strategy.NoneLeft:
			p.b.order.Drain()
			p.b.r.view.NoHostsRemaining()
		case strategy.Still:
			p.b.order.PassAll()
		}
	}
}

// rule says how a step is let go, at which hosts stand.
func (p *throttle) rule(ctx context.Context, step plan.ID, hosts []string) strategy.Rule {
	s := p.b.steps.Step(step)
	r := strategy.Rule{Limit: p.b.r.in.Forks}
	if s == nil {
		return r
	}
	if !p.b.plan.Play.Free() {
		p.outcome = nil
		take, err := p.b.r.takeStep(p.b.steps, s)
		switch {
		case err != nil:
			return strategy.Rule{Abort: true}
		case !take:
			return strategy.Rule{Passing: hosts}
		case s.Implicit && s.Kind == plan.Task:
			r.Passing, hosts = p.gathered(hosts)
		}
	}
	if len(hosts) == 0 {
		return r
	}
	// run_once counts for no meta: flush_handlers and end_host are each host's own whatever it says.
	r.Once = p.onceForAll(s) || s.Kind != plan.Meta && p.once(ctx, hosts[0], s.RunOnce)
	r.Shares = !s.RunOnce.IsZero()
	if n := p.number(ctx, hosts[0], s.Throttle); n > 0 && !r.Once && (r.Limit == 0 || n < r.Limit) {
		r.Limit = n
	}
	return r
}

// gathered parts hosts into those whose facts are known already (gathering=smart) and the others.
func (p *throttle) gathered(hosts []string) (known, need []string) {
	for _, h := range hosts {
		if p.needFacts[h] {
			need = append(need, h)
		} else {
			known = append(known, h)
		}
	}
	return known, need
}

// shared returns the result of a step on the host that ran it for all, as the others take it over.
func (p *throttle) shared(d strategy.Decision) wire.Outcome {
	s, o := p.b.steps.Step(d.Step), p.outcome
	if d.Blank || o == nil {
		return wire.Outcome{Status: wire.OK, Result: []byte("{}")}
	}
	shared := *o
	shared.Notify = nil
	if o.Status == wire.StatusFailed && !o.Ignored {
		shared.Rescued, shared.Effects = false, nil
		for _, e := range o.Effects {
			// What a rescue section may read of the failure belongs to the host that failed.
			e.Vars = plan.Dict{Dict: omit(e.Vars.Dict, "ansible_failed_task", "ansible_failed_result")}
			shared.Effects = append(shared.Effects, e)
		}
		return shared
	}
	// A run_once that is no yes, as 'no' is, leaves the step to one host too; what it registers is that host's only.
	turnedOff := s != nil && !s.RunOnce.IsZero() && !p.holds(d.From, s, s.RunOnce)
	if s == nil || p.onceForAll(s) && s.Kind != plan.Meta && s.RunOnce.IsZero() || turnedOff {
		shared.Effects = nil
	}
	return shared
}

// adopt lets the hosts at a step take an outcome over. What it did to the variables holds for the others of the batch
// too.
func (p *throttle) adopt(d strategy.Decision, o wire.Outcome) {
	// It was judged as what the first host's step did. Whose variables it changes is said there, or they are each
	// host's own.
	effects := p.b.r.admission.Evaluated(d.From, p.b.steps.Step(d.Step), o.Effects)
	for _, h := range d.Hosts {
		p.b.apply(h, effects)
	}
	for _, h := range p.b.hosts {
		if h != d.From && !slices.Contains(d.Hosts, h) && !p.b.r.states.Unreachable(h) {
			p.b.give(h, effects)
		}
	}
	if len(d.Hosts) > 0 {
		a := wire.Advance{Step: d.Step, Shared: &wire.Outcome{Status: o.Status, Ignored: o.Ignored, Meta: o.Meta,
			Result: []byte("{}")}}
		a.Shared.Effects, a.Stale = p.b.tasks.ForAll(o.Effects, d.Hosts)
		p.b.publish(a)
	}
}

// omit returns a dict without some names.
func omit(d *value.Dict, names ...string) *value.Dict {
	out := value.NewDict()
	d.Each(func(k, v value.Value) bool {
		if name, _ := value.Text(k); !slices.Contains(names, name) {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}
