package play

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/foreign"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// variableAlone matches a template that is one variable.
var variableAlone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\{-?\s*(\w+)\s*-?\}\}\s*$`)
})

// addWrittenSecrets makes secrets, of all hosts, the values of a step's no_log arguments that a playbook or an
// inventory has written, in the task or in the variables that the argument is made of. Of other values the host tells
// (hider.addSecrets): a host could have made them, and would hide words of others by them.
func addWrittenSecrets(b *batchRun, e *wire.Event) {
	s := b.steps.Step(e.Step)
	if b.r.hidden.all == nil || e.Outcome == nil || s == nil {
		return
	}
	given := secretArguments(b.r, s)
	if len(given) == 0 {
		return
	}
	w := writing{ctx: b.r.ctx, scope: b.r.mirror.StepScope(e.Host, vars.SharedOf(&b.plan.Play), b.steps.Vars(s)),
		templates: b.r.in.Templates}
	for _, v := range given {
		b.r.hidden.addForAll(w.texts(v, deepest))
	}
}

// secretArguments returns what a step gives the no_log parameters of its module, as it is written. What those are, a
// module in Python says in its text.
func secretArguments(r *runner, s *plan.Step) []value.Value {
	if s.Foreign != nil {
		return argumentsOf(r.hidden.parameters(s.Foreign.Path), s.Args.Dict)
	}
	if m := r.in.Modules.Declared(s.Action); m != nil {
		return m.SecretArguments(s.Args.Dict)
	}
	return nil
}

// argumentsOf returns the arguments with some names, in suboptions too.
func argumentsOf(names []string, args value.Value) []value.Value {
	var out []value.Value
	switch args := args.(type) {
	case *value.List:
		for _, item := range args.Items {
			out = append(out, argumentsOf(names, item)...)
		}
	case *value.Dict:
		args.Each(func(k, v value.Value) bool {
			if name, ok := value.Text(k); ok && slices.Contains(names, name) {
				out = append(out, v)
			} else {
				out = append(out, argumentsOf(names, v)...)
			}
			return true
		})
	}
	return out
}

// parameters returns the no_log parameters of a module in Python.
func (h *hider) parameters(path string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names, known := h.python[path]
	if !known && path != "" {
		names = foreign.SecretParameters(path)
		if h.python == nil {
			h.python = map[string][]string{}
		}
		h.python[path] = names
	}
	return names
}

// deepest is how far variables are followed that are other variables.
const deepest = 5

// writing knows what somebody wrote of a step's variables.
type writing struct {
	ctx       context.Context
	scope     *vars.Scope
	templates templar.Options
}

// texts are those of a value that somebody wrote, with those of variables that it is made of, so many deep.
func (w *writing) texts(v value.Value, depth int) []string {
	if depth == 0 {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			out = append(out, w.texts(item, depth-1)...)
		}
	case *value.Dict:
		v.Each(func(_, item value.Value) bool {
			out = append(out, w.texts(item, depth-1)...)
			return true
		})
	case value.Source:
		if !templar.IsTemplate(v) {
			return modules.SecretTexts(v)
		}
		if name := variableAlone().FindStringSubmatch(v.Text()); name != nil {
			raw, ok, err := w.scope.Raw(w.ctx, name[1])
			if err != nil || !ok {
				return nil
			}
			return w.texts(raw, depth-1)
		}
		if !w.written(v, depth-1) {
			return nil
		}
		if made, err := templar.New(w.scope, w.templates).Template(w.ctx, v); err == nil {
			return modules.SecretTexts(made)
		}
	}
	return out
}

// written reports whether a value has texts, and a playbook or an inventory has written all of them: nothing of a host
// is in it, and no lookup is asked for it a second time.
func (w *writing) written(v value.Value, depth int) bool {
	if depth < 0 {
		return false
	}
	var items []value.Value
	switch v := v.(type) {
	case value.Source:
		if !templar.IsTemplate(v) {
			return true
		}
		r := templar.Read(v)
		if !r.Complete || r.Volatile || len(r.Lookups) > 0 {
			return false
		}
		return !slices.ContainsFunc(r.Names, func(name string) bool {
			raw, ok, err := w.scope.Raw(w.ctx, name)
			return err != nil || !ok || !w.written(raw, depth-1)
		})
	case *value.List:
		items = v.Items
	case *value.Dict:
		v.Each(func(_, item value.Value) bool {
			items = append(items, item)
			return true
		})
	default:
		return false
	}
	some := false
	for _, item := range items {
		switch item.(type) {
		case value.Bool, value.Int, value.Float: // a host's are in what has texts of the host's
		default:
			if !w.written(item, depth-1) {
				return false
			}
			some = true
		}
	}
	return some
}
