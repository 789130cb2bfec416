package play

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// proceed does whatever the hosts' standing allows now: hands out free tokens, shares the outcome of a step that ran
// once, closes the round and opens the next.
func (b *batchRun) proceed(ctx context.Context) {
	switch {
	case b.fatal != nil || !b.plan.Play.Gated:
		return
	case b.order.free:
		b.proceedFree(ctx)
		return
	}
	if b.barrier.onceDone() {
		b.share()
	}
	if more := b.barrier.release(); len(more) > 0 {
		b.stragglers.released(more)
		b.publish(wire.Advance{Step: b.barrier.round.step, Only: more})
	}
	for b.fatal == nil && b.barrier.still() {
		b.order.settle()
		if b.closeRound() || b.barrier.empty() {
			return
		}
		b.openRound(ctx)
	}
}

// proceedFree lets hosts of a free play pass the steps at which they need a token.
func (b *batchRun) proceedFree(ctx context.Context) {
	for _, name := range b.barrier.standing() {
		step := b.barrier.by[name].at
		s := b.tasks.index.Step(step)
		if limit := b.rule(ctx, s, name).limit; limit > 0 && len(b.holders[step]) >= limit {
			continue
		}
		if b.holders[step] == nil {
			b.holders[step] = map[string]bool{}
		}
		b.holders[step][name] = true
		b.barrier.send([]string{name})
		b.publish(wire.Advance{Step: step, Only: []string{name}})
	}
}

// openRound lets the hosts at the earliest step go.
func (b *batchRun) openRound(ctx context.Context) {
	step, hosts := b.barrier.next()
	s := b.tasks.index.Step(step)
	b.outcome = nil
	if s != nil {
		take, err := b.r.takeStep(b.tasks, s)
		if err != nil {
			b.settle(verdict{broken: true, drop: true})
			return
		}
		if !take {
			b.barrier.open(step, hosts, rule{})
			b.publish(wire.Advance{Step: step, Shared: &wire.Outcome{Status: wire.Skipped, Result: []byte("{}")}})
			return
		}
	}
	if s != nil && s.Implicit && s.Kind == plan.Task {
		if hosts = b.passGathered(step, hosts); len(hosts) == 0 {
			return
		}
	}
	released, all := b.barrier.open(step, hosts, b.rule(ctx, s, hosts[0]))
	b.stragglers.released(released)
	a := wire.Advance{Step: step}
	if !all {
		a.Only = released
	}
	b.publish(a)
}

// passGathered lets hosts whose facts are known already pass the gathering of facts (gathering=smart), and gives the others.
func (b *batchRun) passGathered(step plan.ID, hosts []string) (need []string) {
	var known []string
	for _, h := range hosts {
		if b.needFacts[h] {
			need = append(need, h)
		} else {
			known = append(known, h)
		}
	}
	if len(known) > 0 {
		b.barrier.send(known)
		b.publish(wire.Advance{Step: step, Only: known, Shared: &wire.Outcome{Status: wire.Skipped, Result: []byte("{}")}})
	}
	return need
}

// rule says how a step is let go.
func (b *batchRun) rule(ctx context.Context, s *plan.Step, host string) rule {
	r := rule{limit: b.r.in.Forks}
	if s == nil {
		return r
	}
	r.once = b.onceForAll(s) || b.r.once(ctx, host, s.RunOnce)
	if n := b.r.number(ctx, host, s.Throttle); n > 0 && !r.once && (r.limit == 0 || n < r.limit) {
		r.limit = n
	}
	return r
}

// onceForAll are the steps that Ansible does once for all hosts whatever their run_once says.
func (b *batchRun) onceForAll(s *plan.Step) bool {
	if b.r.in.Modules.Has(s.Action, modules.ForAllHosts) {
		return true
	}
	if s.Kind != plan.Meta {
		return false
	}
	switch rawText(s, "_raw_params") {
	case "noop", "reset_connection", "end_host", "end_role", "role_complete", "flush_handlers":
		return false
	}
	return true
}

// share tells the hosts at a step what came of it on the host that did it for all.
func (b *batchRun) share() {
	r := b.barrier.round
	r.adopted = true
	s, o := b.tasks.index.Step(r.step), b.outcome
	if o != nil && o.Cancelled {
		return // the others leave by themselves
	}
	bad := o == nil || o.Status == wire.StatusUnreachable || o.Status == wire.StatusFailed
	if bad && (o == nil || !o.Ignored) {
		if o != nil && o.Status == wire.StatusFailed && s != nil && !s.RunOnce.IsZero() {
			b.shareFailure(o)
			return
		}
		// The host alone has failed, or is gone. Either that ends the play for all, or the others go on as if nothing was.
		v := b.judge()
		b.barrier.round = nil // it is judged
		if b.settle(v) {
			return
		}
		o = nil
	}
	shared := wire.Outcome{Status: wire.OK, Result: []byte("{}")}
	if o != nil {
		shared = *o
		shared.Notify = nil
		// A run_once that is no yes, as 'no' is, leaves the step to one host too; what it registers is that host's alone.
		turnedOff := s != nil && !s.RunOnce.IsZero() && !b.holds(r.once, s, s.RunOnce)
		if s == nil || b.onceForAll(s) && s.Kind != plan.Meta && s.RunOnce.IsZero() || turnedOff {
			shared.Effects = nil
		}
	}
	b.adopt(r, shared)
}

// adopt lets the hosts at the step of a round take an outcome over. What it did to the variables holds for the others too.
func (b *batchRun) adopt(r *round, o wire.Outcome) {
	for _, h := range r.adopters {
		b.apply(h, o.Effects)
	}
	for _, h := range b.hosts {
		if h != r.once && !slices.Contains(r.adopters, h) && !b.r.unreachable[h] {
			b.give(h, o.Effects)
		}
	}
	if len(r.adopters) > 0 {
		b.barrier.send(r.adopters)
		a := wire.Advance{Step: r.step, Shared: &wire.Outcome{Status: o.Status, Ignored: o.Ignored, Meta: o.Meta, Result: []byte("{}")}}
		a.Shared.Effects, a.Stale = b.forAll(o.Effects, r.adopters)
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

// shareFailure fails every host of the batch with the one that did the step for all: those at the step take its
// outcome over with what it registered, the others fail where they stand.
func (b *batchRun) shareFailure(o *wire.Outcome) {
	r := b.barrier.round
	others := without(b.barrier.liveHosts(), r.once)
	b.strand(others)
	var elsewhere []string
	for _, h := range others {
		if !slices.Contains(r.adopters, h) {
			elsewhere = append(elsewhere, h)
		}
	}
	shared := *o
	shared.Notify, shared.Rescued = nil, false
	shared.Effects = nil
	for _, e := range o.Effects {
		// What a rescue section may read of the failure belongs to the host that failed.
		e.Vars = plan.Dict{Dict: omit(e.Vars.Dict, "ansible_failed_task", "ansible_failed_result")}
		shared.Effects = append(shared.Effects, e)
	}
	b.adopt(r, shared)
	if len(elsewhere) > 0 {
		b.barrier.send(elsewhere)
		b.publish(wire.Advance{Fail: elsewhere})
	}
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

// fail makes hosts treat the step at which they stand as failed.
func (b *batchRun) fail(hosts []string) {
	if len(hosts) == 0 {
		return
	}
	b.strand(hosts)
	b.barrier.send(hosts)
	b.publish(wire.Advance{Fail: hosts})
}

// strand remembers where hosts stand that are failed from outside.
func (b *batchRun) strand(hosts []string) {
	for _, h := range hosts {
		at := b.barrier.by[h].at
		b.moved[h] = at
		if _, ok := b.tasks.index.Refuge(at); !ok {
			b.r.failed[h] = true
		}
	}
}

// closeRound judges the round that is over. It is true when hosts were set in motion by that.
func (b *batchRun) closeRound() bool {
	if b.barrier.round == nil {
		return false
	}
	v := b.judge()
	b.barrier.round = nil
	b.moved = map[string]plan.ID{}
	return b.settle(v)
}

// judge weighs the round, and all hosts that could still be reached when it began.
func (b *batchRun) judge() verdict {
	r := b.barrier.round
	if len(r.failed)+len(r.unreachable) == 0 && !b.broken && (b.maxFail == nil || len(b.tally) == 0) {
		return verdict{}
	}
	u := roundup{
		failed: r.failed, unreachable: r.unreachable, fatal: r.fatal, tagged: b.plan.Play.Level.Tagged(), maxFail: b.maxFail, batch: len(b.hosts),
		refuge: func(h string) bool { return b.refuge(r, h) },
	}
	for _, h := range b.hosts {
		if !b.r.unreachable[h] || slices.Contains(r.unreachable, h) {
			u.hosts = append(u.hosts, h)
		}
	}
	return judge(u, b.tally)
}

// refuge tells whether a host goes on in a rescue or an always section after the round.
func (b *batchRun) refuge(r *round, host string) bool {
	at := b.barrier.by[host].at
	if from, ok := b.moved[host]; ok {
		return b.tasks.index.Shelter(from)
	}
	if slices.Contains(r.failed, host) {
		return b.tasks.index.Shelter(r.step)
	}
	return sheltered(b.tasks.index, at)
}

// settle carries a verdict out. It is true when hosts were set in motion.
func (b *batchRun) settle(v verdict) bool {
	b.broken = b.broken || v.broken
	if v.banners > 0 {
		b.order.drain()
	}
	for range v.banners {
		b.r.view.NoHostsRemaining()
	}
	live := b.barrier.liveHosts()
	switch {
	case v.drop && len(live) > 0:
		b.barrier.send(live)
		b.publish(wire.Advance{Drop: live})
	case len(v.fail) > 0:
		b.fail(slices.DeleteFunc(v.fail, func(h string) bool { return !slices.Contains(live, h) }))
	default:
		return false
	}
	return true
}

// judgeAlone judges each failure of a host that needs no barrier.
func (b *batchRun) judgeAlone(e wire.Event) {
	o := e.Outcome
	if o == nil || o.Ignored || o.Cancelled || o.Status != wire.StatusFailed && o.Status != wire.StatusUnreachable || o.Rescued {
		return
	}
	s := b.tasks.index.Step(e.Step)
	refuge := b.tasks.index.Shelter(e.Step)
	u := roundup{
		hosts: []string{e.Host}, fatal: o.FailAll || b.fatalForAll(e) || s != nil && b.onceForAll(s) && !ignoresInWriting(s), maxFail: b.maxFail, batch: len(b.hosts),
		refuge: func(string) bool { return refuge },
	}
	if o.Status == wire.StatusFailed {
		u.failed = u.hosts
	} else {
		u.unreachable = u.hosts
	}
	v := judge(u, b.tally)
	v.fail, v.drop = nil, false // it leaves by itself
	b.settle(v)
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
