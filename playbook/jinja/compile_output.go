package jinja

import "hark/playbook/jinja/value"

func (c *compiler) output(st *outputStmt, sc scope) execFunc {
	if sc.checked && c.known {
		return nil
	}
	finalize := c.t.o.Finalize
	items := make([]evalFunc, len(st.items))
	for i, x := range st.items {
		if text, ok := x.(*textExpr); ok {
			v := value.Value(value.Str(text.text))
			items[i] = func(*frame) (value.Value, error) { return v, nil }
			continue
		}
		eval := c.expr(x, sc)
		if finalize != nil {
			raw := eval
			eval = func(f *frame) (value.Value, error) {
				v, err := raw(f)
				if err != nil {
					return nil, err
				}
				return finalize(v)
			}
		}
		items[i] = eval
	}
	checked := sc.checked
	return func(f *frame) error {
		if checked && f.parent != nil {
			return nil
		}
		for _, eval := range items {
			v, err := eval(f)
			if err != nil {
				return err
			}
			if err := f.write(v); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *compiler) ifs(st *ifStmt, sc scope) execFunc {
	sc.root = false
	type branch struct {
		test evalFunc
		body execFunc
	}
	branches := []branch{{c.expr(st.test, sc), c.statements(st.body, sc)}}
	for _, e := range st.elifs {
		branches = append(branches, branch{c.expr(e.test, sc), c.statements(e.body, sc)})
	}
	orElse := c.statements(st.orElse, sc)
	return func(f *frame) error {
		for _, b := range branches {
			v, err := b.test(f)
			if err != nil {
				return err
			}
			ok, err := value.Truth(v)
			if err != nil {
				return err
			}
			if ok {
				return b.body(f)
			}
		}
		return orElse(f)
	}
}
