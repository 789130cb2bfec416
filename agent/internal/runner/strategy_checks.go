package runner

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// allows returns what Ansible's strategy says of a step before it starts it: a fault that ends the run, or warnings.
func (t *task) allows(ctx context.Context) *fault {
	if f := t.free(ctx); f != nil {
		return f
	}
	if v, err := t.base.tpl.Template(ctx, orNone(t.s.Throttle)); err == nil && !value.IsNone(v) {
		if _, err := intOf(v); err != nil {
			return &fault{text: "Failed to convert the throttle value to an integer.", place: true}
		}
	}
	return nil
}

// free warns of what a step cannot have in a free play.
func (t *task) free(ctx context.Context) *fault {
	if !t.g.play.Free() {
		return nil
	}
	if t.does(modules.ForAllHosts) {
		return &fault{text: "The '" + t.s.Written +
			"' module bypasses the host loop, which is currently not supported in the free strategy " +
			"and would instead execute for every host in the inventory list.", place: true}
	}
	if t.holds(ctx, t.s.RunOnce, value.Truth) {
		t.g.line.warn(t.id, "Using run_once with the free strategy is not currently supported. This task will still be "+
			"executed for every host in the inventory list.")
	}
	if t.holds(ctx, t.s.AnyErrorsFatal, value.StrictBool) {
		t.g.line.warn(t.id, "Using any_errors_fatal with the free strategy is not supported, as tasks are executed "+
			"independently on each host")
	}
	return nil
}

// holds reports whether a keyword is true as read reads it. A keyword that cannot be rendered is not. Ansible's
// strategies read run_once by Python's truth, so that any text is true.
func (t *task) holds(ctx context.Context, x plan.Expr, read func(value.Value) (bool, error)) bool {
	if x.IsZero() {
		return false
	}
	v, err := t.base.tpl.Template(ctx, x.V)
	if err != nil {
		return false
	}
	b, err := read(v)
	return err == nil && b
}
