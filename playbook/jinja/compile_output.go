package jinja

import "hark/modules/py/value"

func (c *compiler) output(st *outputStmt, sc scope) execFunc {
	if sc.checked && c.known {
		return nil
	}
	pieces := make([]piece, len(st.items))
	for i, x := range st.items {
		if text, ok := x.(*textExpr); ok {
			pieces[i].text = value.Str(text.text)
			continue
		}
		pieces[i].eval = c.expr(x, sc)
	}
	checked, finalize := sc.checked, c.t.o.Finalize
	return func(f *frame) error {
		if checked && f.parent != nil {
			return nil
		}
		for i := range pieces {
			v, err := pieces[i].value(f, finalize)
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

// piece is what an output prints: text of the template or what an expression gives.
type piece struct {
	text value.Value
	eval evalFunc
}

func (p *piece) value(f *frame, finalize func(value.Value) (value.Value, error)) (value.Value, error) {
	if p.text != nil {
		return p.text, nil
	}
	v, err := p.eval(f)
	if err != nil || finalize == nil {
		return v, err
	}
	return finalize(v)
}

func (c *compiler) ifs(st *ifStmt, sc scope) execFunc {
	sc.soft = true
	sc.root = false
	type branch struct {
		test evalFunc
		body execFunc
	}
	branches := make([]branch, 0, 1+len(st.elifs))
	branches = append(branches, branch{c.expr(st.test, sc), c.statements(st.body, sc)})
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
