package jinja

import (
	"slices"

	"hark/modules/py/value"
	"hark/playbook/jinja/methods"
)

// step is one part of a chain: .name, ['name'] or [key].
type step struct {
	name string // "" if the key is no text
	read func(of value.Value) (value.Value, error)
}

// walk takes the steps in order; two at once where a value has a shorter way to where they lead.
func walk(v value.Value, steps []step) (value.Value, error) {
	for i := 0; i < len(steps); i++ {
		if far, ok := v.(value.Branching); ok && i+1 < len(steps) {
			item, ok, err := far.Branch(steps[i].name, steps[i+1].name)
			if err != nil {
				return nil, err
			}
			if ok {
				v = item
				i++
				continue
			}
		}
		var err error
		if v, err = steps[i].read(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// chain compiles x.a.b['c'], a row of names that are known beforehand.
func (c *exprCompiler) chain(x expr, sc scope) evalFunc {
	var steps []step
	for {
		of, s, ok := c.lastStep(x)
		if !ok {
			break
		}
		x, steps = of, append(steps, s)
	}
	slices.Reverse(steps)
	obj := c.expr(x, sc)
	return func(f *frame) (value.Value, error) {
		v, err := obj(f)
		if err != nil {
			return nil, err
		}
		return walk(v, steps)
	}
}

// lastStep returns the last part of a chain, and what it is read of; false for what is none.
func (c *exprCompiler) lastStep(x expr) (of expr, s step, ok bool) {
	switch x := x.(type) {
	case *attrExpr:
		return x.x, step{x.name, attrOf(x.name)}, true
	case *itemExpr:
		if k, isConst := x.key.(*constExpr); isConst && value.IsText(k.v) && !c.embeds(k) {
			return x.x, itemOf(k.v), true
		}
	}
	return nil, step{}, false
}

// attrOf reads x.name. That of a dict, which most are, takes a short way.
func attrOf(name string) func(value.Value) (value.Value, error) {
	_, own := methods.Attr((*value.Dict)(nil), name)
	missing := &missing{of: (*value.Dict)(nil), name: name}
	return func(v value.Value) (value.Value, error) {
		d, ok := v.(*value.Dict)
		if !ok || own {
			return GetAttr(v, name)
		}
		if item, ok := d.Get(name); ok {
			return item, nil
		}
		return missing.value(), nil
	}
}

func itemOf(key value.Value) step {
	name, _ := value.Text(key)
	return step{name, func(v value.Value) (value.Value, error) { return GetItem(v, key) }}
}

// GetPath is x[a][b][c].
func GetPath(x value.Value, keys []value.Value) (value.Value, error) {
	steps := make([]step, len(keys))
	for i, k := range keys {
		steps[i] = itemOf(k)
	}
	return walk(x, steps)
}
