package runner

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// inventoryChange is what add_host or group_by (the action) asks for. It is made when the task has ended and neither
// failed nor was skipped, in a loop with none of its items.
type inventoryChange struct {
	action string
	with   *value.Dict
}

// pendingChange is a result whose change is still to be made.
type pendingChange struct {
	x   *execution
	res *result.Result
	// tell reports the item, nil outside loops.
	tell func()
}

// pend keeps a result whose change of the inventory is to be made. It is false if there is none to be made.
func pend(t *task, x *execution, res *result.Result, tell func()) bool {
	if x.e.change == nil || *x.e.change == nil || !done(res) {
		return false
	}
	t.pending = append(t.pending, pendingChange{x, res, tell})
	return true
}

// done reports whether a task has neither failed nor was skipped.
func done(res *result.Result) bool {
	s := res.Status()
	return s == result.OK || s == result.Changed
}

// changeInventory makes the changes that a task has asked for, and judges and reports their results. Ansible does not
// report an item whose change it does not make.
func changeInventory(ctx context.Context, r *walk, t *task, res *result.Result) error {
	if !t.loop && t.latest != nil {
		pend(t, t.latest, res, nil)
	}
	pending := t.pending
	t.pending = nil
	if !done(res) {
		return nil
	}
	for _, p := range pending {
		if res.Changed() && !r.play.IgnoreMissingHandlers {
			if missing := r.handlers.missing(ctx, t.id, p.res.Notify); missing != "" {
				return r.handlers.lacking(t.id, missing)
			}
		}
		changed, err := p.x.e.makeChange(ctx)
		if err != nil {
			return err
		}
		p.res.Set("changed", value.Bool(changed))
		p.x.view.register(p.x.e.s, p.res)
		if err := p.x.judge().changedWhen(ctx, p.res); err != nil {
			return err
		}
		if len(p.x.e.s.FailedWhen) > 0 { // it has said no
			p.res.Set("failed", value.Bool(false))
			p.res.Delete(value.Str("exception"))
		}
		if p.tell == nil {
			continue
		}
		p.tell()
		if p.res.Changed() {
			res.Set("changed", value.Bool(true))
		}
	}
	return nil
}

// makeChange asks the controller for the change, and reports whether anything changed.
func (e *eval) makeChange(ctx context.Context) (bool, error) {
	change := *e.change
	ans, err := e.g.line.ask(ctx,
		wire.Ask{Kind: wire.AskInventory, Step: e.id, Name: change.action, Kw: plan.Dict{Dict: change.with}})
	if err == nil && ans.Err != "" {
		err = errors.New(ans.Err)
	}
	return err == nil && value.IsTrue(ans.Value.V), err
}
