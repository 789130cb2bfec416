package templar

import (
	"context"
	"errors"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Loop runs a lookup as the keyword with_<name> does: its terms are rendered already, its errors are the plug-in's own
// and not worded anew. Where texts have marks, they are those of an expression that ansible-core makes of the keyword:
// _get_loop_items of ansible/executor/task_executor.py. What a lookup gives is never a template but where texts have
// marks: there it keeps those of its terms.
func (t *Templar) Loop(ctx context.Context, name string, terms []value.Value) (value.Value, error) {
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return nil, err
	}
	c := &jinja.Call{Ctx: ctx, Env: t.env(), Scope: s, Name: name}
	v, err := s.run(c, name, terms, value.NewDict())
	if errors.Is(err, ErrUnknownLookup) {
		return nil, ansibleError(err, "Unexpected failure in finding the lookup named '%s' in the available lookup plugins", name)
	}
	if err != nil && t.o.Engine.tagged {
		return nil, about(s.taggedLookupError(name, "", err), "invoke_lookup()")
	}
	if err != nil {
		return nil, err
	}
	if t.o.Engine.tagged {
		return v, nil
	}
	return value.Unsafe(v), nil
}
