package runner

import (
	"context"
	"errors"

	"hark/modules"
	"hark/modules/py/value"
)

// arguments returns the arguments for the module as plain unsafe values, since no text of a result may be a template. A
// module that sets variables gets them unchanged.
func (c *caller) arguments(ctx context.Context) (*value.Dict, error) {
	if c.mod.Has(modules.SetsVariables) {
		if err := c.renderNames(ctx); err != nil {
			return nil, err
		}
	}
	v, err := value.ToPlain(c.f.args)
	if err != nil {
		return nil, err
	}
	args := v.(*value.Dict)
	if c.mod.Has(modules.SetsVariables) || c.mod.KeepsAll {
		args = c.f.args.Copy()
	}
	for _, name := range c.mod.Kept {
		if v, ok := c.f.args.Get(name); ok {
			args.Put(name, v)
		}
	}
	for _, name := range c.mod.Unrendered { // it renders them itself
		if raw, ok := c.e.s.Args.Get(name); ok {
			args.Put(name, raw)
		}
	}
	return args, nil
}

// renderNames renders the names of set_fact's arguments, which may be templates too.
func (c *caller) renderNames(ctx context.Context) error {
	out := value.NewDict()
	for i := 0; i < c.f.args.Len(); i++ {
		k, v := c.f.args.At(i)
		name, err := c.e.tpl.Template(ctx, k)
		if err != nil {
			return ofKey(c.e.check(ctx, err), k)
		}
		if !value.IsText(name) {
			name = k
		}
		out.SetKey(name, v)
	}
	c.f.args = out
	return nil
}

// ofKey returns the error of a key of the arguments with its place: keys are looked for apart from values.
func ofKey(err error, key value.Value) error {
	var f *fault
	if text, ok := value.Text(key); ok && errors.As(err, &f) {
		for i := range f.links {
			if f.links[i].spot.text == text {
				f.links[i].spot = spot{key: text}
			}
		}
	}
	return err
}
