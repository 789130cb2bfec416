package runner

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// meta does a meta step. Implicit ones, the flushes between the sections of a play, report nothing.
func (r *walk) meta(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	action := metaAction(s)
	e := r.newEval(s, id, nil)
	msg, skip := metaTexts(action, r.start.Host, r.roleName(s))
	if msg == "" {
		return r.metaBroken(ctx, e, &fault{text: "invalid meta action requested: " + action, place: true})
	}
	holds, err := metaHolds(ctx, e, action)
	if err != nil {
		return r.metaBroken(ctx, e, err)
	}
	if text := misplaced(action, s, r.at.flushing != ""); text != "" {
		return r.metaBroken(ctx, e, &fault{text: text})
	}
	res := value.NewDict()
	o := &wire.Outcome{Status: wire.OK, Meta: action}
	if holds {
		res.Set("changed", value.Bool(false))
		o.FailAll = (action == "end_play" || action == "end_batch") && r.at.failing()
	} else {
		o.Status = wire.Skipped
		res.Set("skipped", value.Bool(true))
		res.Set("skip_reason", value.Str(action+" conditional evaluated to False"+skip))
		if action == "end_host" {
			msg = "end_host conditional evaluated to false, continuing execution for " + r.start.Host
		} else {
			msg = action
		}
	}
	res.Set("msg", value.Str(msg))
	o.Result = value.PlainJSON(res)
	if holds && action == "clear_facts" {
		o.Effects = []wire.Effect{{Layer: string(vars.Facts), Clear: true}}
	}
	if holds && action == "reset_connection" {
		if err := resetConnection(ctx, r, e); err != nil {
			return failed, err
		}
	}
	r.apply(o.Effects)
	if !s.Implicit {
		r.line.done(wire.Event{Step: id, Name: s.Name, Outcome: o})
	}
	if !holds {
		return onward, nil
	}
	if action == "flush_handlers" {
		return r.flush(ctx, id)
	}
	if action == "end_role" {
		r.passed.ending = r.roles[s.Role].Identity
	}
	return r.metaEffect(action), nil
}

// resetConnection has the controller forget the connection to the host. The plug-in local could not be told to before
// 2.19, which Ansible says.
func resetConnection(ctx context.Context, r *walk, e *eval) error {
	if !r.play.Level.Has(dialect.LocalReset) && overLocal(ctx, e) {
		r.line.warn(e.id, "Reset is not implemented for this connection")
	}
	if len(r.start.Reach) == 0 {
		return ctx.Err()
	}
	_, err := r.line.ask(ctx, wire.Ask{Kind: wire.AskReset, Step: e.id})
	return err
}

// overLocal reports whether a step's connection is local. A keyword that cannot be rendered names none.
func overLocal(ctx context.Context, e *eval) bool {
	f := &fields{}
	if e.context(ctx, f) != nil {
		return false
	}
	v, _, err := connectionVars{e, f}.variable(ctx, "ansible_connection")
	name, isText := value.Text(v)
	return err == nil && isText && name == "local"
}

// misplaced returns why an action cannot be done at the place of a meta, "" if it can.
func misplaced(action string, s *plan.Step, handler bool) string {
	switch {
	case action == "flush_handlers" && handler:
		return "flush_handlers cannot be used as a handler"
	case action == "end_role" && handler:
		return "Cannot execute 'end_role' from a handler"
	case action == "end_role" && s.Role == "":
		return "Cannot execute 'end_role' from outside of a role"
	}
	return ""
}

// roleName returns the full name of the role of a step.
func (r *walk) roleName(s *plan.Step) string {
	if role := r.roles[s.Role]; role != nil {
		return role.FullName()
	}
	return ""
}

// metaEffect returns the flow of this host after a meta that was done.
func (r *walk) metaEffect(action string) flow {
	switch action {
	case "end_host", "end_play", "end_batch":
		if r.at.failing() && !r.play.Level.Has(dialect.EndHostStatus) {
			return leaveFailed
		}
		return leave
	case "refresh_inventory":
		r.stale = true
	case "clear_host_errors":
		r.at.forget()
	}
	return onward
}

// metaHolds judges the conditions of a meta. Some metas have none.
func metaHolds(ctx context.Context, e *eval, action string) (bool, error) {
	if len(e.s.When) == 0 {
		return true, nil
	}
	switch action {
	case "noop", "refresh_inventory", "reset_connection":
		e.g.line.warn(e.id, action+" task does not support when conditional")
		return true, nil
	}
	ok, _, err := e.tpl.Condition(ctx, conditions(e.s.When)...)
	if err = e.check(ctx, err); err != nil {
		var f *fault
		if errors.As(err, &f) {
			f.place = true
		}
	}
	return ok, err
}

// breakRun ends the run for all hosts: Ansible's strategy raises the error.
func (r *walk) breakRun(ctx context.Context, e *eval, err error) (flow, error) {
	var f *fault
	if errors.As(err, &f) {
		if !r.cfg.Own {
			return failed, r.held.beyondHere() // only the controller may end the run for all
		}
		text := e.message(ctx, f)
		r.line.emit(wire.Event{Kind: wire.Broken, Step: e.id, Text: text})
		return failed, errors.New(text)
	}
	return failed, err
}

// metaBroken is breakRun after the banner of the meta.
func (r *walk) metaBroken(ctx context.Context, e *eval, err error) (flow, error) {
	if r.cfg.Own {
		r.line.emit(wire.Event{Kind: wire.Started, Step: e.id, Name: e.s.Name})
	}
	return r.breakRun(ctx, e, err)
}

func metaAction(s *plan.Step) string {
	v, _ := s.Args.Get("_raw_params")
	text, _ := value.Text(v)
	return text
}

// metaTexts returns what the result of a meta says, and what it adds to the reason for skipping it. There is no other
// action.
func metaTexts(action, host, role string) (msg, skip string) {
	switch action {
	case "flush_handlers":
		return "triggered running handlers for " + host, ", not running handlers for " + host
	case "refresh_inventory":
		return "inventory successfully refreshed", ""
	case "clear_facts":
		return "facts cleared", ", not clearing facts and fact cache for " + host
	case "clear_host_errors":
		return "cleared host errors", ", not clearing host error state for " + host
	case "end_batch":
		return "ending batch", ", continuing current batch"
	case "end_play":
		return "ending play", ", continuing play"
	case "end_host":
		return "ending play for " + host, ", continuing execution for " + host
	case "end_role":
		return "ending role " + role + " for " + host, ", continuing role " + role + " for " + host
	case "reset_connection":
		return "reset connection", ""
	case "noop", "role_complete":
		return action, ""
	}
	return "", ""
}
