package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"hark/agent/wire"
	"hark/controller/internal/link"
	"hark/modules/foreign"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// delegate runs a call of one host's step on another host, or on the host itself if its session runs in this process.
func (a *Answerer) delegate(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if ask.Call == nil || a.Exec == nil {
		return wire.Answer{}, &refusal{"a delegated call without a call"}
	}
	if ask.Name != ask.Host && !delegatesTo(step, ask.Name) {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s is not delegated to %q", ask.Step, ask.Name)}
	}
	if ask.Name != ask.Host {
		if why := sendsOther(step, ask.Call); why != "" {
			return wire.Answer{}, &refusal{why}
		}
	}
	e := wire.Exec{
		Run: ask.Run, ID: b.Plan.Play.ID + "-" + strconv.FormatUint(a.execs.Add(1), 10),
		Host: ask.Name, Origin: ask.Host, Play: ask.Play, Step: ask.Step, Call: *ask.Call,
	}
	b.admit(e.Host, e.Origin)
	defer b.dismiss(e.Host, e.Origin)
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

// admit lets a host ask on behalf of another while it runs a call for it.
func (b *batch) admit(host, origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guests[host] = append(b.guests[host], origin)
}

func (b *batch) dismiss(host, origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.guests[host]
	if i := slices.Index(list, origin); i >= 0 {
		b.guests[host] = slices.Delete(list, i, i+1)
	}
}

// origins are the hosts for which a host runs calls now.
func (b *batch) origins(host string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.guests[host])
}

// calls tells whether a step's module is the one of a call. A name that is a template may be any, and a reboot needs others. What an action
// plug-in calls comes from the controller; the host may only await the job that it has started.
func calls(step *plan.Step, c *wire.Call) bool {
	switch {
	case step.Plugin != nil:
		return c.Await != ""
	case step.Foreign != nil:
		return c.Module == foreign.Name
	}
	return c.Module == step.Action || acts(step, "reboot")
}

// delegatesTo checks the host of a delegated call. A name that is a template may be any.
func delegatesTo(step *plan.Step, host string) bool {
	if step.DelegateTo.IsZero() {
		return false
	}
	name, ok := value.Text(step.DelegateTo.V)
	return ok && (name == host || templar.IsTemplate(step.DelegateTo.V))
}
