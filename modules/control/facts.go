package control

import (
	"context"
	"maps"
	"slices"
	"sort"
	"strings"

	"hark/modules"
)

// SetFact sets variables of the host.
var SetFact = modules.Define("ansible.builtin.set_fact", "Set host variable(s) and fact(s).", runSetFact, modules.IsPure,
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.set_fact: {app_version: \"{{ out.stdout | trim }}\", cacheable: true}\n"
	}))

type setFactArgs struct {
	Cacheable any            `arg:"cacheable" doc:"Keep them as facts too: they outlive the play in the cache."`
	Facts     map[string]any `arg:"*"`
}

func runSetFact(ctx context.Context, env *modules.Env, a setFactArgs) (modules.Result, error) {
	if len(a.Facts) == 0 {
		return modules.Result{}, modules.ActionFail("", "No key/value pairs provided, at least one is required for this action to succeed")
	}
	cacheable := false
	if a.Cacheable != nil {
		var err error
		if cacheable, err = modules.Bool(a.Cacheable); err != nil {
			return modules.Result{}, modules.Raise("%v", err)
		}
	}
	names := make([]string, 0, len(a.Facts))
	for name := range a.Facts {
		names = append(names, name)
	}
	sort.Strings(names)
	facts := make(map[string]any, len(a.Facts))
	for _, written := range names {
		name, err := renderedName(ctx, env, written)
		if err != nil {
			return modules.Result{}, err
		}
		if !identifier(name) {
			return modules.Result{}, modules.ActionFail("", badName, name)
		}
		facts[name] = a.Facts[written]
		if !env.Native {
			facts[name] = boolWord(a.Facts[written])
		}
	}
	return modules.Result{Facts: facts, Data: map[string]any{"_ansible_facts_cacheable": cacheable}}, nil
}

// renderedName is the name of a fact, which may be a template itself.
func renderedName(ctx context.Context, env *modules.Env, name string) (string, error) {
	if env.Render == nil || !strings.Contains(name, "{") {
		return name, nil
	}
	v, err := env.Render(ctx, name, nil)
	if err != nil {
		return "", err
	}
	return modules.Str(v), nil
}

// boolWord turns the words of a k=v argument that mean a bool into one.
func boolWord(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	switch strings.ToLower(s) {
	case "true", "yes":
		return true
	case "false", "no":
		return false
	}
	return v
}

// SetStats hands data to whoever reads the run's statistics.
var SetStats = modules.Define("ansible.builtin.set_stats", "Define and display stats for the current ansible run.", runSetStats, modules.IsPure,
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.set_stats: {data: {packages: 12}, per_host: true}\n"
	}))

type setStatsArgs struct {
	Data      any            `arg:"data" doc:"A mapping of what to tell."`
	PerHost   any            `arg:"per_host" doc:"Keep it for each host apart; default no."`
	Aggregate any            `arg:"aggregate" doc:"Add to what is there; default yes."`
	Extra     map[string]any `arg:"*"`
}

func runSetStats(ctx context.Context, env *modules.Env, a setStatsArgs) (modules.Result, error) {
	if err := validOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	data := a.Data
	if s, ok := data.(string); ok {
		v, err := env.Render(ctx, s, nil)
		if err != nil {
			return modules.Result{}, modules.Raise("%v", err)
		}
		data = v
	}
	if data == nil {
		data = map[string]any{}
	}
	m, ok := data.(map[string]any)
	if !ok {
		return modules.Fail("The 'data' option needs to be a dictionary/hash")
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !identifier(name) {
			return modules.Fail(badName, name)
		}
	}
	stats := map[string]any{"data": m, "per_host": modules.LenientBool(a.PerHost, false), "aggregate": modules.LenientBool(a.Aggregate, true)}
	return modules.Result{Data: map[string]any{"ansible_stats": stats}}, nil
}
