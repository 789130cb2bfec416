package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
)

// SetStats hands data to whoever reads the run's statistics.
var SetStats = modules.Define("ansible.builtin.set_stats", "Define and display stats for the current ansible run.",
	runSetStats, modules.IsPure, modules.Is(modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.Kept = true, []string{"data"}
		m.Examples = "- ansible.builtin.set_stats: {data: {packages: 12}, per_host: true}\n"
	}))

type setStatsArgs struct {
	Data      value.Value `arg:"data" doc:"A mapping of what to tell."`
	PerHost   value.Value `arg:"per_host" doc:"Keep it for each host apart; default no."`
	Aggregate value.Value `arg:"aggregate" doc:"Add to what is there; default yes."`
	Extra     *value.Dict `arg:"*"`
}

func runSetStats(ctx context.Context, env *modules.Env, a setStatsArgs) (modules.Result, error) {
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	data := a.Data
	if data == nil {
		data = value.NewDict()
	}
	if value.IsText(data) {
		v, err := env.Render(ctx, data)
		if err != nil {
			return modules.Result{}, modules.Raise("%v", err)
		}
		data = v
	}
	d, ok := data.(*value.Dict)
	if !ok {
		return modules.Fail("The 'data' option needs to be a dictionary/hash")
	}
	named, err := renderedNames(ctx, env, d)
	if err != nil {
		return modules.Result{}, err
	}
	for _, name := range named.Names() {
		if !env.NamesVariable(name) {
			return modules.Fail(badName, name)
		}
	}
	stats := value.DictOf("data", named, "per_host", modules.LenientBool(a.PerHost, false), "aggregate",
		modules.LenientBool(a.Aggregate, true))
	return modules.Result{Data: value.DictOf("ansible_stats", stats)}, nil
}

// renderedNames returns the data with its names rendered, as far as they may be templates.
func renderedNames(ctx context.Context, env *modules.Env, d *value.Dict) (*value.Dict, error) {
	out := value.NewDict()
	for i := range d.Len() {
		k, v := d.At(i)
		name, err := env.Render(ctx, k)
		if err != nil {
			return nil, modules.Raise("%v", err)
		}
		if v, err = value.ToPlain(v); err != nil {
			return nil, modules.Raise("%v", err)
		}
		out.SetKey(value.Unsafe(name), v)
	}
	return out, nil
}
