package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// pluginName is what filters and tests may be called.
var pluginName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_.]*$`) })

// plugin runs a filter or test: one of hark's own that looks at files, or one in Python.
func (a *Answerer) plugin(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if templar.OnController(ask.Dir, ask.Name) && !b.hides(ask) {
		return onMachine(ctx, ask)
	}
	if a.Plugin == nil || b.Plan.Play.Plugins == nil || ask.Dir != "filter" && ask.Dir != "test" {
		return wire.Answer{}, &refusal{"the play has no plug-ins"}
	}
	if !pluginName().MatchString(ask.Name) {
		return wire.Answer{}, &lookupError{wire.UnknownPlugin, jinja.ErrNoPlugin.Error()}
	}
	raw, err := a.Plugin(ctx, seeing(ctx, a, b, ask, plugins.Call{
		Kind: ask.Dir, Name: ask.Name, Kw: ask.Kw.Dict, Args: arguments(ask), Dir: string(b.Dir),
		Context: func() (*value.Dict, error) { return a.stepVariables(ctx, b, step, ask.Host, ask.Own.Dict) },
	}))
	return wire.Answer{Result: raw}, asLookupError(err, wire.UnknownPlugin)
}

// onMachine runs a filter or test that looks at files.
func onMachine(ctx context.Context, ask wire.Ask) (wire.Answer, error) {
	v, err := templar.OnMachine(ctx, ask.Dir, ask.Name, arguments(ask), ask.Kw.Dict)
	if err != nil {
		return wire.Answer{}, asLookupError(err, wire.UnknownPlugin)
	}
	raw, err := value.Encode(v)
	return wire.Answer{Result: raw}, err
}

// hides reports whether the project has a filter or test of its own in place of hark's.
func (b *batch) hides(ask wire.Ask) bool {
	own := b.Plan.Play.Plugins
	return own != nil && (ask.Dir == "filter" && slices.Contains(own.Filters, ask.Name) || ask.Dir == "test" &&
		slices.Contains(own.Tests, ask.Name))
}

// arguments returns the value that a plug-in is applied to and its arguments.
func arguments(ask wire.Ask) []value.Value {
	if l, ok := ask.Args.V.(*value.List); ok {
		return l.Items
	}
	return nil
}

// foreignLookup runs a lookup in Python with the variables of the step, as they are written.
func (a *Answerer) foreignLookup(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	unknown := wire.Answer{Err: dialect.LookupNotFound.Text(ask.Name), ErrKind: wire.UnknownLookup}
	if a.Plugin == nil {
		return unknown, nil
	}
	if a.Sync != nil {
		if err := a.Sync(ctx); err != nil {
			return wire.Answer{}, err
		}
	}
	known, err := a.stepVariables(ctx, b, step, ask.Host, ask.Own.Dict)
	if err != nil {
		return wire.Answer{}, err
	}
	raw, err := a.Plugin(ctx, seeing(ctx, a, b, ask, plugins.Call{
		Kind: "lookup", Name: ask.Name, Kw: ask.Kw.Dict, Dir: string(b.Dir), Args: arguments(ask), Vars: known,
	}))
	if errors.Is(err, jinja.ErrNoPlugin) {
		return unknown, nil
	}
	if err != nil {
		return wire.Answer{}, asLookupError(err, wire.UnknownLookup)
	}
	v, err := value.Decode(raw, value.KindStr)
	if err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read what lookup %s gave: %w", ask.Name, err)
	}
	return wire.Answer{Value: plan.Lit(v)}, nil
}

// seeing returns a call of a plug-in that may look at the variables of other hosts, and at those of its own where
// there is no Ansible to render them.
func seeing(ctx context.Context, a *Answerer, b *batch, ask wire.Ask, c plugins.Call) plugins.Call {
	c.Rendered = func() *value.Dict { return a.Mirror.All(ctx, ask.Host, ViewOptions{Shared: b.shared, Hostvars: true}) }
	c.Hostvars = func(host string) (*value.Dict, error) { return a.rawHostvars(ctx, b, host) }
	return c
}

// asLookupError keeps the class of what a plug-in raised; unknown stands for a plug-in that is not there.
func asLookupError(err error, unknown string) error {
	var raised *value.Error
	switch {
	case errors.Is(err, jinja.ErrNoPlugin):
		return &lookupError{unknown, err.Error()}
	case errors.As(err, &raised):
		return &lookupError{raised.Type, raised.Msg}
	}
	return err
}

// RunPlugin returns the Plugin of templates that the controller itself renders.
func RunPlugin(run func(context.Context, plugins.Call) (json.RawMessage, error)) templar.PluginFunc {
	return func(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
		raw, err := run(ctx, plugins.Call{Kind: kind, Name: name, Args: args, Kw: kw})
		if err != nil {
			return nil, err
		}
		return value.Decode(raw, value.KindStr)
	}
}
