package runner

import (
	"context"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// plugins returns how templates of the step ("" is none) run the controller's filters and tests: those written in
// Python and those that look at files. own are the variables of the step that only the session has, nil for none: some
// plug-ins read their template's.
func (g *playState) plugins(id plan.ID, own func() *value.Dict) templar.PluginFunc {
	return func(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
		all := value.NewList(args...)
		if _, err := value.Encode(value.NewTuple(all, dictOr(kw, nil))); err != nil {
			return nil, err // of this template; a question that cannot be sent would end the play
		}
		ask := wire.Ask{Kind: wire.AskPlugin, Step: id, Dir: kind, Name: name, Args: plan.Lit(all), Kw: plan.Dict{Dict: kw}}
		if own != nil {
			ask.Own.Dict = own()
		}
		a, err := g.line.ask(ctx, ask)
		if err != nil {
			return nil, err
		}
		if a.ErrKind == wire.UnknownPlugin && a.Err != jinja.ErrNoPlugin.Error() {
			return nil, &jinja.NoPlugin{Reason: a.Err}
		}
		if a.ErrKind == wire.UnknownPlugin {
			return nil, jinja.ErrNoPlugin
		}
		if err := hostvars.AnswerError(a); err != nil {
			return nil, err
		}
		return value.Decode(a.Result, value.KindStr)
	}
}
