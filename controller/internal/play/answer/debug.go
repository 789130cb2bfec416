package answer

import (
	"context"

	"hark/agent/wire"
	"hark/controller/internal/ui/debugger"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// debug lets the user look into a step. Several hosts that ask at once are looked into one after the other.
func (a *Answerer) debug(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if b.Debug == nil || ask.Outcome == nil || step.Debugger.IsZero() && !b.Plan.Play.Debugger {
		return wire.Answer{}, &refusal{"the step is not debugged"}
	}
	c := &debugger.Case{Host: ask.Host, Task: ask.Name, About: part(ask, "task"), Vars: part(ask, "task_vars"),
		Result: part(ask, "result"), Render: a.render}
	a.prompts.Lock()
	defer a.prompts.Unlock()
	v, err := b.Debug(ctx, ask.Step, ask.Outcome, c)
	if err != nil {
		return wire.Answer{}, err
	}
	out := value.NewDict()
	out.Set("redo", value.Bool(v.Redo))
	if v.Redo {
		out.Set("args", orEmpty(v.Args))
		out.Set("vars", orEmpty(v.Vars))
	}
	return wire.Answer{Value: plan.Lit(out)}, nil
}

// part returns a mapping among the arguments of an ask.
func part(ask wire.Ask, name string) *value.Dict {
	v, _ := ask.Kw.Get(name)
	d, _ := v.(*value.Dict)
	return orEmpty(d)
}

// render renders a value with nothing but the variables.
func (a *Answerer) render(ctx context.Context, vars *value.Dict, v value.Value) (value.Value, error) {
	return templar.New(nil, a.Templates).With(vars).Template(ctx, v)
}
