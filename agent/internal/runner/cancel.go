package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// errCancelled is the reason why steps of body and rescue sections end when the run is cancelled.
var errCancelled = errors.New("the run was cancelled")

// cancellation holds the contexts of a walk whose run may be cancelled.
type cancellation struct {
	line *controllerLink
	// by is done when the run is cancelled; nil means that it cannot be.
	by context.Context
	// lasting is the context of always sections, which outlives the cancellation.
	lasting context.Context
}

// begin takes the context of always sections and returns that of body and rescue sections.
func (c *cancellation) begin(ctx context.Context) context.Context {
	c.lasting = ctx
	if c.by != nil {
		return c.by
	}
	return ctx
}

// cutShort reports whether an error only means that the run was cancelled, and always sections still run.
func (c *cancellation) cutShort(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && c.lasting.Err() == nil && c.line.broken() == nil
}

// cut returns the flow of a step that the cancellation of the run has cut short, or that was not begun because of it. A
// step that was begun is reported as failed.
func (c *cancellation) cut(id plan.ID) flow {
	if c.line.doing == id {
		result := fmt.Appendf(nil, `{"changed": false, "failed": true, "msg": %q}`, errCancelled.Error())
		c.line.done(wire.Event{Step: id, Outcome: &wire.Outcome{Status: wire.StatusFailed, Result: result, Cancelled: true}})
	}
	return abandoned
}
