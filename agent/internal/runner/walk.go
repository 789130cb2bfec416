package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// flow is how the walk goes on after a step or block.
//
//	onward ──▶ the next node of the section
//	failed ──▶ rescue of the nearest block that has one, then always; out of the plan if none takes it
//	handlerFailed ──▶ the outermost block's rescue, or always: a flush inside a block belongs to that one. In a rescue
//	                  that runs already, the section goes on behind the flush. Since dialect.FlushFailures a flush
//	                  whose handler fails has failed
//	unreachable, leave, leaveFailed ──▶ out of the plan at once, without rescue, always or handlers
//	abandoned ──▶ the run was cancelled: always sections, but neither rescue nor anything else
//	elsewhere ──▶ the blocks around the step that was done last, where the host fails (see back)
type flow int

const (
	onward flow = iota
	failed
	handlerFailed
	unreachable
	leave
	leaveFailed
	abandoned
	elsewhere
)

// unwinding is how a walk leaves blocks, also ones that it had left before.
type unwinding struct{ *walk }

// plan walks all sections. A host that failed out of a section does not enter the next.
func (r *walk) plan(ctx context.Context) (flow, error) {
	ctx = r.cancel.begin(ctx)
	if err := r.lateVarsFiles(ctx); err != nil {
		if r.cancel.cutShort(ctx, err) {
			return abandoned, nil
		}
		return failed, err
	}
	r.handlers.remember(ctx, r.start.Resume, r.start.Notified)
	if f, err := r.nodes(ctx, nodesOf(r.doc.Blocks)); f != onward || err != nil {
		return f, err
	}
	if r.resume.at != "" {
		return failed, fmt.Errorf("nothing was done: the play no longer comes to step %s, where this host was to go on",
			r.resume.at)
	}
	return onward, nil
}

// block walks a block: body, rescue if the body failed, always in any case.
func (r *walk) block(ctx context.Context, b *plan.Block) (flow, error) {
	if !r.resume.begins(b) {
		return onward, nil
	}
	at := r.at.enter(b)
	defer r.at.leave()
	if r.at.flushing != "" { // handlers that were included: Ansible takes the tasks out of their blocks
		return r.nodes(ctx, b.Body)
	}

	f, err := failed, error(nil) // in the body, where the walk begins in the rescue
	if r.resume.rescues(b) {
		r.at.frames[at].failed = true
	} else {
		f, err = r.section(ctx, at, plan.InBody, b.Body)
	}
	if err == nil && r.at.caught(f) && len(b.Rescue) > 0 {
		f, err = r.rescue(ctx, at)
	}
	return unwinding{r}.end(ctx, at, f, err)
}

// end does what is left of the block at a depth once its body and rescue are done: always, and the end of a role.
func (r unwinding) end(ctx context.Context, at int, f flow, err error) (flow, error) {
	b := r.at.frames[at].block
	if err != nil || f == unreachable || f == leave || f == leaveFailed || f == elsewhere {
		return f, err
	}
	if f == onward || f == abandoned || r.at.caught(f) {
		g, err := r.section(r.cancel.lasting, at, plan.InAlways, b.Always)
		if err != nil || g != onward {
			return g, err
		}
		f = r.at.mended(at, f)
	}
	if f == onward {
		r.passed.end(r.roles[b.RoleEnd])
	}
	return f, nil
}

// section walks one section of the block at a depth.
func (r *walk) section(ctx context.Context, at int, s plan.Section, nodes []plan.Node) (flow, error) {
	r.at.frames[at].section = s
	f, err := r.nodes(ctx, nodes)
	if r.at.caught(f) {
		r.at.frames[at].failed = true
	}
	return f, err
}

// rescue walks the rescue section of the block at a depth. If it comes to its end, the failure no longer counts.
func (r *walk) rescue(ctx context.Context, at int) (flow, error) {
	r.at.frames[at].rescued = true
	f, err := r.section(ctx, at, plan.InRescue, r.at.frames[at].block.Rescue)
	if f == onward {
		r.at.frames[at].failed, r.at.frames[at].byHandler = false, false
	}
	return f, err
}

// afterHandler returns how a section goes on behind a flush in which a handler failed. Only a failure in the body of
// the outermost block leaves the section; Ansible is in no other section's state while handlers run.
func (r *walk) afterHandler(ctx context.Context) (flow, error) {
	top := &r.at.frames[0]
	if top.section == plan.InAlways && top.rescued && !top.failed {
		return onward, nil // Ansible goes to the end of the rescue once more, which forgets the failure
	}
	top.byHandler = true
	switch {
	case top.section == plan.InBody:
		return handlerFailed, nil
	case top.section == plan.InRescue:
		return onward, nil
	case len(top.block.Rescue) == 0 || top.rescued:
		top.failed = true
		return onward, nil
	}
	defer func() { r.at.frames[0].section = plan.InAlways }()
	f, err := r.rescue(ctx, 0)
	if r.at.caught(f) {
		f = onward // the rest of always runs in any case
	}
	return f, err
}

// nodesOf returns blocks as the nodes of a section.
func nodesOf(blocks []plan.Block) []plan.Node {
	var list []plan.Node
	for i := range blocks {
		list = append(list, plan.Node{Block: &blocks[i]})
	}
	return list
}

func (r *walk) nodes(ctx context.Context, nodes []plan.Node) (flow, error) {
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		var f flow
		var err error
		switch {
		case n.Block != nil:
			f, err = r.block(ctx, n.Block)
		case n.Step != nil && r.resume.reached(n.Step):
			f, err = r.step(ctx, n.Step, n.Step.ID)
			if f == handlerFailed && err == nil && r.at.flushing == "" {
				f, err = r.afterHandler(ctx)
			}
		}
		if f == elsewhere && err == nil {
			left := n.Block == nil || !r.at.wasIn(n.Block)
			if f, err = (unwinding{r}).back(ctx); f == onward && err == nil && left {
				i-- // a rescue of an earlier block has taken the failure: the host comes here again
			}
		}
		if f != onward || err != nil {
			return f, err
		}
	}
	return onward, nil
}

// back fails the host, from outside, in the blocks where it did its last step, if the current ones are around those.
// Ansible's iterator (executor/play_iterator.py) leaves and enters blocks only when it is asked for the next task, so
// that a host that has done the last task of a block fails in that block.
func (r unwinding) back(ctx context.Context) (flow, error) {
	frames := r.at.last
	switch depth := len(r.at.frames); {
	case r.at.common() < depth:
		return elsewhere, nil
	case len(frames) == depth:
		r.at.last = nil
		return r.at.failure(), nil
	}
	r.at.last = nil
	return r.again(ctx, frames)
}

// again enters a block once more, as it was left, and fails there or in a block within it.
func (r unwinding) again(ctx context.Context, frames []frame) (flow, error) {
	at := r.at.enter(frames[len(r.at.frames)].block)
	defer r.at.leave()
	r.at.frames[at] = frames[at]
	f, err := r.at.failure(), error(nil)
	if at+1 < len(frames) {
		f, err = r.again(ctx, frames)
	}
	was, b := &r.at.frames[at], frames[at].block
	was.failed = was.failed || r.at.caught(f)
	switch {
	case was.section == plan.InAlways && f != onward:
		return f, err
	case was.section == plan.InAlways:
		return r.at.mended(at, f), err
	case was.section == plan.InRescue && f == onward:
		was.failed, was.byHandler = false, false
	case was.section == plan.InBody && err == nil && r.at.caught(f) && len(b.Rescue) > 0:
		f, err = r.rescue(ctx, at)
	}
	return r.end(ctx, at, f, err)
}

// step does one step of the plan; id is the step's own, or that of a handler's run.
func (r *walk) step(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	f, err := r.attend(ctx, s, id)
	if r.cancel.cutShort(ctx, err) {
		return r.cancel.cut(id), nil
	}
	return f, err
}

// attend waits at the gate of a step and does it.
func (r *walk) attend(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	if err := ctx.Err(); err != nil {
		return failed, err
	}
	if r.passed.over(s, r.roles[s.Role]) {
		return onward, nil
	}
	if s.Kind == plan.Meta && s.Implicit {
		return r.meta(ctx, s, id)
	}
	if (gates{r.playState}).ahead(s, id) {
		r.held.fresh()
		if f, skipped, err := r.passes(ctx, s, id); skipped && !errors.Is(err, errBeyond) {
			return f, err
		}
	}
	g, err := gates{r.playState}.pass(ctx, s, id)
	if err != nil {
		return failed, err
	}
	switch g.verdict {
	case gateFail:
		if r.at.strayed() {
			return elsewhere, nil
		}
		return r.at.failure(), nil
	case gateLeave:
		return leave, nil
	case gateAdopt:
		return r.adopt(ctx, s, id, g.shared)
	}
	if !r.cfg.Own && s.Evaluator == plan.Controller {
		return r.hand(ctx, s, id)
	}
	r.held.fresh()
	f, err := r.do(ctx, s, id)
	if errors.Is(err, errBeyond) {
		return r.hand(ctx, s, id)
	}
	return f, err
}

// do evaluates and does a step here.
func (r *walk) do(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	switch s.Kind {
	case plan.Meta:
		return r.meta(ctx, s, id)
	case plan.Include:
		return r.include(ctx, s, id)
	}
	return r.task(ctx, s, id)
}

// adopt takes over the outcome of another host that did the step for all (run_once).
func (r *walk) adopt(ctx context.Context, s *plan.Step, id plan.ID, o *wire.Outcome) (flow, error) {
	r.apply(o.Effects)
	if r.changesInventory(s) {
		r.stale = true
	}
	shown := *o
	shown.Effects, shown.Notify = nil, nil
	r.line.done(wire.Event{Step: id, Outcome: &shown, Adopted: true})
	if o.Status == wire.StatusFailed && !o.Ignored {
		return r.at.failure(), nil
	}
	if o.Meta != "" && o.Status != wire.Skipped {
		return r.metaEffect(o.Meta), nil
	}
	return onward, nil
}
