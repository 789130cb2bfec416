package play

import (
	"context"
	"regexp"
	"sync"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// variableAlone matches a template that is one variable.
var variableAlone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\{-?\s*(\w+)\s*-?\}\}\s*$`)
})

// addWrittenSecrets makes secrets, of all hosts, the values of a step's no_log arguments that a playbook or an
// inventory has written, in the task or in a variable that the argument is. Of other values the host tells
// (hider.addSecrets): a host could have made them, and would hide words of others by them.
func addWrittenSecrets(b *batchRun, e *wire.Event) {
	s := b.steps.Step(e.Step)
	if b.r.hidden.all == nil || e.Outcome == nil || s == nil {
		return
	}
	m := b.r.in.Modules.Declared(s.Action)
	if m == nil {
		return
	}
	given := m.SecretArguments(s.Args.Dict)
	if len(given) == 0 {
		return
	}
	scope := b.r.mirror.StepScope(e.Host, vars.SharedOf(&b.plan.Play), b.steps.Vars(s))
	for _, v := range given {
		b.r.hidden.all.Add(written(b.r.ctx, scope, v, deepest)...)
	}
}

// deepest is how far variables are followed that are other variables.
const deepest = 5

// written are the texts of a value that somebody wrote, with those of variables that it is, so many deep.
func written(ctx context.Context, scope *vars.Scope, v value.Value, depth int) []string {
	if depth == 0 {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			out = append(out, written(ctx, scope, item, depth-1)...)
		}
	case *value.Dict:
		v.Each(func(_, item value.Value) bool {
			out = append(out, written(ctx, scope, item, depth-1)...)
			return true
		})
	case value.Source:
		if !templar.IsTemplate(v) {
			return modules.SecretTexts(v)
		}
		name := variableAlone().FindStringSubmatch(v.Text())
		if name == nil {
			return nil
		}
		if raw, ok, err := scope.Raw(ctx, name[1]); err == nil && ok {
			return written(ctx, scope, raw, depth-1)
		}
	}
	return out
}
