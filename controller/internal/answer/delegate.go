package answer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"hark/agent/wire"
	"hark/controller/internal/link"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// delegate runs a call of one host's step on another host.
func (a *Answerer) delegate(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if ask.Call == nil || a.Exec == nil {
		return wire.Answer{}, &refusal{"a delegated call without a call"}
	}
	if !delegatesTo(step, ask.Name) {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s is not delegated to %q", ask.Step, ask.Name)}
	}
	e := wire.Exec{
		Run: ask.Run, ID: b.Plan.Play.ID + "-" + strconv.FormatUint(a.execs.Add(1), 10),
		Host: ask.Name, Origin: ask.Host, Step: ask.Step, Call: *ask.Call,
	}
	raw, err := a.Exec(ctx, e)
	var absent *link.AbsentError
	if errors.As(err, &absent) {
		return wire.Answer{Err: absent.Error(), ErrKind: "unreachable"}, nil
	}
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Result: raw}, nil
}

// delegatesTo checks the host of a delegated call. A name that is a template may be any.
func delegatesTo(step *plan.Step, host string) bool {
	if step.DelegateTo.IsZero() {
		return false
	}
	name, ok := value.Text(step.DelegateTo.V)
	return ok && (name == host || templar.IsTemplate(step.DelegateTo.V))
}
