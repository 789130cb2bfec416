package play

import (
	"context"

	"hark/controller/internal/play/steps"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// fatalForAll reports whether a failure at a step is one of all hosts.
func (p *throttle) fatalForAll(host string, s *plan.Step) bool {
	play := &p.b.plan.Play
	alone := !play.Gated && !play.Free() && p.onceForAll(s)
	return alone || p.holds(host, s, s.AnyErrorsFatal) || value.IsTrue(p.rendered(host, s, s.RunOnce))
}

// holds reports whether a keyword of a step is true for a host. What cannot be rendered is not.
func (p *throttle) holds(host string, s *plan.Step, e plan.Expr) bool {
	on, _ := value.AsBool(value.OrNone(p.rendered(host, s, e)))
	return on
}

// rendered returns a keyword of a step as it is for a host; nil if there is none or it cannot be rendered.
func (p *throttle) rendered(host string, s *plan.Step, e plan.Expr) value.Value {
	if e.IsZero() || !templar.IsTemplate(e.V) {
		return e.V
	}
	r := p.b.r
	v, err := templar.New(r.mirror.StepScope(host, vars.SharedOf(&p.b.plan.Play), p.b.steps.Vars(s)),
		r.in.Templates).Template(r.ctx, e.V)
	if err != nil {
		return nil
	}
	return v
}

// ignoresInWriting reports whether ignore_errors stands at a step as a plain yes.
func ignoresInWriting(s *plan.Step) bool {
	if s.IgnoreErrors.IsZero() {
		return false
	}
	ok, err := value.Truth(s.IgnoreErrors.V)
	return ok && err == nil
}

// onceForAll are the steps that Ansible does once for all hosts whatever their run_once says.
func (p *throttle) onceForAll(s *plan.Step) bool {
	if p.b.r.in.Modules.Has(s.Action, modules.ForAllHosts) {
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

// once reports whether one host does a step for all. Ansible's strategies go by Python's truth of what run_once
// renders to, so that 'Y' and 1.0, but 'no' and '0' as well, leave it to one host; the task then reads the bool. What
// cannot be rendered is false.
func (p *throttle) once(ctx context.Context, host string, e plan.Expr) bool {
	if e.IsZero() {
		return false
	}
	v, err := p.b.r.render(ctx, host, e.V)
	return err == nil && value.IsTrue(v)
}

// number returns a keyword that holds a number, rendered for a host; 0 if it holds none.
func (p *throttle) number(ctx context.Context, host string, e plan.Expr) int {
	if e.IsZero() {
		return 0
	}
	v, err := p.b.r.render(ctx, host, e.V)
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
