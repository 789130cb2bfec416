package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// errCancelled is why the steps of body and rescue sections end when the run is cancelled.
var errCancelled = errors.New("the run was cancelled")

// cancellable is the context of body and rescue sections. ctx is that of always sections.
func (r *walk) cancellable(ctx context.Context) context.Context {
	r.lasting = ctx
	if r.cfg.Cancelled != nil {
		return r.cfg.Cancelled
	}
	return ctx
}

// cutShort tells that an error means nothing but that the run was cancelled, and always sections still run.
func (r *walk) cutShort(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && r.lasting.Err() == nil && r.line.broken() == nil
}

// cancelled is the flow of a step that the cancellation of the run has cut short, or that was not begun because of it. What was
// begun is told as failed.
func (r *walk) cancelled(id plan.ID) flow {
	if r.line.doing == id {
		result := fmt.Appendf(nil, `{"changed": false, "failed": true, "msg": %q}`, errCancelled.Error())
		r.line.done(wire.Event{Step: id, Outcome: &wire.Outcome{Status: wire.StatusFailed, Result: result, Cancelled: true}})
	}
	return abandoned
}
