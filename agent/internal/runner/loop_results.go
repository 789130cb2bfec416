package runner

import (
	"context"
	"errors"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// errUndefinedLoop marks a loop over an undefined variable: the conditions are judged before it counts.
var errUndefinedLoop = errors.New("loop over an undefined variable")

// undefinedLoop is the fault of such a loop.
type undefinedLoop struct{ *fault }

func (undefinedLoop) Is(target error) bool { return target == errUndefinedLoop }
func (u undefinedLoop) Unwrap() error      { return u.fault }

// looped evaluates the loop of a step.
type looped struct{ e *eval }

// items returns the items of the loop, nil if the step has none.
func (l looped) items(ctx context.Context) ([]value.Value, error) {
	if l.e.s.Loop == nil {
		return nil, nil
	}
	v, err := l.over(ctx)
	if err != nil {
		isUndefined := templar.IsUndefined(err)
		err = l.e.check(ctx, err)
		var f *fault
		if isUndefined && errors.As(err, &f) {
			return nil, undefinedLoop{f}
		}
		return nil, l.e.untried(err)
	}
	list, ok := v.(*value.List)
	if !ok && l.e.has(dialect.LoopWords) && l.e.s.Loop.With == "" {
		at := spot{key: "loop", value: true}
		if written, isText := value.Text(l.e.s.Loop.Over.V); isText {
			at = spot{text: written}
		}
		msg := "The `loop` value must resolve to a 'list', not " + value.ReprText(value.PlainType(v)) + "."
		return nil, l.e.untried(&fault{text: msg, links: []link{
			{msg: msg, help: "Provide a list of items/templates, or a template resolving to a list.", spot: at}}})
	}
	if !ok {
		text, _ := value.ToStr(v)
		return nil, &fault{text: dialect.LoopNeedsAList.Text(text) +
			". Hint: If you passed a list/dict of just one element, try adding wantlist=True to your lookup invocation or " +
			"use q/query instead of lookup."}
	}
	if list.Items == nil {
		return []value.Value{}, nil
	}
	return list.Items, nil
}

// untried marks what is wrong with a loop itself. Nothing was tried then, and ansible-core 2.19 says neither that a
// task failed nor that nothing has changed: run of ansible/executor/task_executor.py.
func (e *eval) untried(err error) error {
	var f *fault
	if errors.As(err, &f) && e.has(dialect.FailureCauses) {
		f.bare, f.untried = true, true
		if len(f.links) == 0 {
			f.links = []link{{msg: f.text}}
		}
	}
	return err
}

// over returns the list of loop, or the result of the lookup of with_.
func (l looped) over(ctx context.Context) (value.Value, error) {
	loop := l.e.s.Loop
	if loop.With == "" {
		return l.e.tpl.Template(ctx, loop.Over.V)
	}
	terms, err := l.terms(ctx)
	if err != nil {
		return nil, err
	}
	return l.e.over(ctx, loop.With, terms.Items)
}

// terms returns the terms of with_, always as a list. first_found goes on to the next where one is undefined.
func (l looped) terms(ctx context.Context) (*value.List, error) {
	over := l.e.s.Loop.Over.V
	if text, ok := over.(value.Source); ok {
		over = text.Trimmed()
	}
	if l.e.s.Loop.With == "first_found" {
		return l.definedTerms(ctx, over)
	}
	v, err := l.e.tpl.Template(ctx, over)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *value.List:
		return v, nil
	case *value.Tuple:
		return value.NewList(v.Items...), nil
	case *value.Dict:
		switch name := l.e.s.Loop.With; {
		case name == "dict" || l.e.has(dialect.WithDicts):
		case name == "list" || name == "indexed_items" || name == "flattened":
			return nil, &fault{text: "with_" + name + " expects a list"}
		default:
			return value.NewList(v.Keys()...), nil
		}
	}
	return value.NewList(v), nil
}

func (l looped) definedTerms(ctx context.Context, over value.Value) (*value.List, error) {
	candidates := []value.Value{over}
	if l, ok := over.(*value.List); ok {
		candidates = l.Items
	}
	out := value.NewList()
	for _, c := range candidates {
		v, err := l.e.tpl.Template(ctx, c)
		switch {
		case templar.IsUndefined(err):
			continue
		case err != nil:
			return nil, err
		}
		if l, ok := v.(*value.List); ok && len(candidates) == 1 {
			out.Items = append(out.Items, l.Items...)
		} else {
			out.Items = append(out.Items, v)
		}
	}
	return out, nil
}
