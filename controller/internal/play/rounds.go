package play

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/play/lockstep"
	"hark/controller/internal/play/steps"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// proceed carries out what follows of what has come so far.
func (b *batchRun) proceed(ctx context.Context) { b.carryOut(ctx, b.machine.Proceed()) }

// carryOut sends, and shows, what was decided.
func (b *batchRun) carryOut(ctx context.Context, decisions []lockstep.Decision) {
	for _, d := range decisions {
		if b.fatal != nil {
			return
		}
		a := wire.Advance{Step: d.Step}
		if !d.All {
			a.Only = d.Hosts
		}
		switch d.Kind {
		case lockstep.Turn:
			b.carryOut(ctx, b.machine.Answer(b.rule(ctx, d.Step, d.Hosts)))
		case lockstep.Release:
			b.stragglers.released(d.Hosts)
			b.publish(a)
		case lockstep.Pass:
			a.Shared = &wire.Outcome{Status: wire.Skipped, Result: []byte("{}")}
			b.publish(a)
		case lockstep.Adopt:
			b.adopt(d, b.shared(d))
		case lockstep.Fail:
			for i, h := range d.Hosts {
				b.course.fail(h, d.At[i])
			}
			b.publish(wire.Advance{Fail: d.Hosts})
		case lockstep.Drop:
			b.publish(wire.Advance{Drop: d.Hosts})
		case lockstep.EndPlay:
			b.publish(wire.Advance{EndPlay: true})
		case lockstep.NoneLeft:
			b.order.Drain()
			b.r.view.NoHostsRemaining()
		case lockstep.Still:
			b.order.PassAll()
		}
	}
}

// rule says how a step is let go, at which hosts stand.
func (b *batchRun) rule(ctx context.Context, step plan.ID, hosts []string) lockstep.Rule {
	s := b.steps.Step(step)
	r := lockstep.Rule{Limit: b.r.in.Forks}
	if s == nil {
		return r
	}
	if !b.plan.Play.Free() {
		b.outcome = nil
		take, err := b.r.takeStep(b.steps, s)
		switch {
		case err != nil:
			return lockstep.Rule{Abort: true}
		case !take:
			return lockstep.Rule{Passing: hosts}
		case s.Implicit && s.Kind == plan.Task:
			r.Passing, hosts = b.gathered(hosts)
		}
	}
	if len(hosts) == 0 {
		return r
	}
	r.Once, r.Shares = b.onceForAll(s) || b.r.once(ctx, hosts[0], s.RunOnce), !s.RunOnce.IsZero()
	if n := b.r.number(ctx, hosts[0], s.Throttle); n > 0 && !r.Once && (r.Limit == 0 || n < r.Limit) {
		r.Limit = n
	}
	return r
}

// gathered parts hosts into those whose facts are known already (gathering=smart) and the others.
func (b *batchRun) gathered(hosts []string) (known, need []string) {
	for _, h := range hosts {
		if b.needFacts[h] {
			need = append(need, h)
		} else {
			known = append(known, h)
		}
	}
	return known, need
}

// onceForAll are the steps that Ansible does once for all hosts whatever their run_once says.
func (b *batchRun) onceForAll(s *plan.Step) bool {
	if b.r.in.Modules.Has(s.Action, modules.ForAllHosts) {
		return true
	}
	if s.Kind != plan.Meta {
		return false
	}
	switch steps.RawText(s, "_raw_params") {
	case "noop", "reset_connection", "end_host", "end_role", "role_complete", "flush_handlers":
		return false
	}
	return true
}

// shared is what came of a step on the host that did it for all, as the others take it over.
func (b *batchRun) shared(d lockstep.Decision) wire.Outcome {
	s, o := b.steps.Step(d.Step), b.outcome
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
	// A run_once that is no yes, as 'no' is, leaves the step to one host too; what it registers is that host's alone.
	turnedOff := s != nil && !s.RunOnce.IsZero() && !b.holds(d.From, s, s.RunOnce)
	if s == nil || b.onceForAll(s) && s.Kind != plan.Meta && s.RunOnce.IsZero() || turnedOff {
		shared.Effects = nil
	}
	return shared
}

// adopt lets the hosts at a step take an outcome over. What it did to the variables holds for the others of the batch too.
func (b *batchRun) adopt(d lockstep.Decision, o wire.Outcome) {
	for _, h := range d.Hosts {
		b.apply(h, o.Effects)
	}
	for _, h := range b.hosts {
		if h != d.From && !slices.Contains(d.Hosts, h) && !b.r.fates.Unreachable(h) {
			b.give(h, o.Effects)
		}
	}
	if len(d.Hosts) > 0 {
		a := wire.Advance{Step: d.Step, Shared: &wire.Outcome{Status: o.Status, Ignored: o.Ignored, Meta: o.Meta, Result: []byte("{}")}}
		a.Shared.Effects, a.Stale = b.forAll(o.Effects, d.Hosts)
		b.publish(a)
	}
}

// forAll are effects as all agents of the run may see them, and the hosts that have to ask for the rest: those whose sessions are in this process
// and have every variable.
func (b *batchRun) forAll(effects []wire.Effect, hosts []string) (shared []wire.Effect, ask []string) {
	if len(effects) == 0 || b.handouts == nil {
		return effects, nil
	}
	for _, h := range hosts {
		if b.handouts.of(h) == nil {
			ask = append(ask, h)
		}
	}
	own := slices.DeleteFunc(slices.Clone(effects), func(e wire.Effect) bool { return e.Host != "" })
	return trim(own, b.handouts.readable), ask
}

// omit is a dict without some names.
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

// once tells whether one host does a step for all. Ansible's strategies go by Python's truth of what run_once renders to, so that 'Y' and 1.0, but
// 'no' and '0' as well, leave it to one host; the task then reads the bool. What cannot be rendered is false.
func (r *runner) once(ctx context.Context, host string, e plan.Expr) bool {
	if e.IsZero() {
		return false
	}
	v, err := r.render(ctx, host, e.V)
	return err == nil && value.IsTrue(v)
}

// number is a keyword that holds a number, rendered for a host; 0 if it holds none.
func (r *runner) number(ctx context.Context, host string, e plan.Expr) int {
	if e.IsZero() {
		return 0
	}
	v, err := r.render(ctx, host, e.V)
	if err != nil {
		return 0
	}
	if text, ok := value.Text(v); ok {
		v, _ = value.Number(text)
	}
	if v == nil {
		return 0
	}
	n, _ := value.AsInt(v)
	return int(n)
}
