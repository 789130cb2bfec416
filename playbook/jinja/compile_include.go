package jinja

import (
	"errors"
	"fmt"

	"hark/modules/py/value"
)

// position returns how Jinja names a place in messages.
func (c *exprCompiler) position(line int) string {
	if c.t.name == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d in %s", line, value.ReprText(c.t.name))
}

// load returns the template of a name, or the first that exists of a list of names.
func (t *Template) load(f *frame, v value.Value) (*Template, error) {
	if _, ok := value.Text(v); ok {
		return t.loadOne(f, v)
	}
	if u, ok := v.(*value.Undefined); ok {
		return nil, &value.UndefinedError{Msg: u.Msg, Undefined: u}
	}
	if err := value.Sealed(v); err != nil {
		return nil, err
	}
	if some, err := value.Truth(v); err != nil || !some {
		return t.loadFirst(f, nil)
	}
	candidates, err := value.Elements(v)
	if err != nil {
		return nil, err
	}
	return t.loadFirst(f, candidates)
}

// loadOne returns the template of a name.
func (t *Template) loadOne(f *frame, v value.Value) (*Template, error) {
	if u, ok := v.(*value.Undefined); ok {
		return nil, &value.UndefinedError{Msg: u.Msg, Undefined: u}
	}
	if err := value.Sealed(v); err != nil {
		return nil, err
	}
	name, ok := value.Text(v)
	if !ok {
		if _, hashable := value.HashKey(v); !hashable {
			return nil, value.Hashable(v)
		}
		return nil, value.Errorf("AttributeError", "'%s' object has no attribute 'split'", v.Type())
	}
	loader, ok := f.run.scope.(Loader)
	if !ok {
		return nil, &NotFoundError{Name: name}
	}
	return loader.Load(f.run.ctx, name)
}

func (t *Template) loadFirst(f *frame, candidates []value.Value) (*Template, error) {
	if len(candidates) == 0 {
		return nil, &NotFoundError{Name: "Tried to select from an empty list of templates.", Several: true}
	}
	tried := ""
	for i, v := range candidates {
		found, err := t.load(f, v)
		var missing *NotFoundError
		if !errors.As(err, &missing) {
			return found, err
		}
		if i > 0 {
			tried += ", "
		}
		tried += missing.Name
	}
	return nil, &NotFoundError{Name: "none of the templates given were found: " + tried, Several: true}
}

func (c *compiler) include(st *includeStmt, sc scope) execFunc {
	name := c.expr(st.template, sc)
	visible := c.visibleNames(sc)
	t := c.t
	return func(f *frame) error {
		v, err := name(f)
		if err != nil {
			return err
		}
		included, err := t.load(f, v)
		if err != nil {
			var missing *NotFoundError
			if st.ignoreMissing && errors.As(err, &missing) {
				return nil
			}
			return err
		}
		if !st.withContext {
			m, err := included.module(f.run)
			if err != nil {
				return err
			}
			f.out = append(f.out, m.out...)
			return nil
		}
		out, err := included.render(f.run, f.names.derive(included, visible(f)))
		f.out = append(f.out, out...)
		return err
	}
}

// visibleNames returns the names that the scopes around a place have set.
func (c *compiler) visibleNames(sc scope) func(f *frame) map[string]value.Value {
	type place struct {
		name        string
		hops, index int
	}
	var places []place
	visible := sc.syms.visible()
	for _, name := range sortedNames(visible) {
		l := visible[name]
		places = append(places, place{name, c.hops(l), l.index})
	}
	return func(f *frame) map[string]value.Value {
		out := make(map[string]value.Value, len(places))
		for _, p := range places {
			if v := up(f, p.hops).slots[p.index]; v != nil {
				out[p.name] = v
			}
		}
		return out
	}
}

// importModule compiles what import and from share.
func (c *compiler) importModule(template expr, withContext bool, sc scope) func(f *frame) (*module, error) {
	name := c.expr(template, sc)
	visible := c.visibleNames(sc)
	t := c.t
	return func(f *frame) (*module, error) {
		v, err := name(f)
		if err != nil {
			return nil, err
		}
		imported, err := t.loadOne(f, v)
		if err != nil {
			return nil, err
		}
		if withContext {
			return imported.moduleIn(f.run, f.names.derive(imported, visible(f)))
		}
		return imported.module(f.run)
	}
}

func (c *compiler) imports(st *importStmt, sc scope) execFunc {
	load := c.importModule(st.template, st.withContext, sc)
	set := c.setImported(st.target, sc)
	return func(f *frame) error {
		m, err := load(f)
		if err != nil {
			return err
		}
		set(f, m)
		return nil
	}
}

// setImported sets an imported name, which is visible at the top level but not exported.
func (c *compiler) setImported(name string, sc scope) func(f *frame, v value.Value) {
	index := sc.syms.find(name).index
	return func(f *frame, v value.Value) {
		f.slots[index] = v
		if sc.toplevel {
			f.names.set(name, v, false)
			delete(f.names.exported, name)
		}
	}
}

func (c *compiler) from(st *fromStmt, sc scope) execFunc {
	load := c.importModule(st.template, st.withContext, sc)
	sets := make([]func(*frame, value.Value), len(st.names))
	for i, alias := range st.aliases {
		sets[i] = c.setImported(alias, sc)
	}
	position := c.position(st.stmtLine())
	return func(f *frame) error {
		m, err := load(f)
		if err != nil {
			return err
		}
		for i, name := range st.names {
			v, ok := m.Attr(name)
			if !ok {
				v = &value.Undefined{Name: name, Msg: fmt.Sprintf(
					"the template %s (imported on %s) does not export the requested name %s",
					value.ReprText(m.t.name), position, value.ReprText(name))}
			}
			sets[i](f, v)
		}
		return nil
	}
}

func (c *compiler) extends(st *extendsStmt, sc scope) execFunc {
	if !sc.toplevel {
		c.fail(st.stmtLine(), "cannot use extend from a non top-level scope")
	}
	if c.known {
		return func(*frame) error { return value.Errorf("TemplateRuntimeError", "extended multiple times") }
	}
	name := c.expr(st.template, sc)
	c.known = c.known || sc.root
	t := c.t
	return func(f *frame) error {
		if f.parent != nil {
			return value.Errorf("TemplateRuntimeError", "extended multiple times")
		}
		v, err := name(f)
		if err != nil {
			return err
		}
		parent, err := t.loadOne(f, v)
		if err != nil {
			return err
		}
		f.parent = parent
		if f.names.blocks == nil {
			f.names.blocks = map[string][]*block{}
		}
		for name, b := range parent.blocks {
			f.names.blocks[name] = append(f.names.blocks[name], b)
		}
		return nil
	}
}

// block compiles the place of a block: the last definition of that name is printed there.
func (c *compiler) block(st *blockStmt, sc scope) execFunc {
	if sc.toplevel && c.known {
		return nil
	}
	name := st.name
	visible := c.visibleNames(sc)
	t := c.t
	return func(f *frame) error {
		if sc.toplevel && f.parent != nil {
			return nil
		}
		names := f.names
		stack := names.blocks[name]
		if st.required && len(stack) <= 1 {
			return value.Errorf("TemplateRuntimeError", "Required block %s not found", value.ReprText(name))
		}
		if st.scoped {
			blocks := names.blocks
			names = names.derive(t, visible(f))
			names.blocks = blocks
		}
		out, err := runBlock(f.run, names, stack[0])
		f.out = append(f.out, out...)
		return err
	}
}

// runBlock prints one definition of a block.
func runBlock(r *run, n *names, b *block) ([]value.Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	f := &frame{run: r, names: n, slots: make([]value.Value, len(b.fn.slots))}
	err := b.exec(f)
	return f.out, err
}

// blockRef is super or self.name: a block that can be called.
type blockRef struct {
	f     *frame
	stack []*block
	depth int
}

// superOf returns the variable super in a block.
func superOf(f *frame, b *block) value.Value {
	stack := f.names.blocks[b.name]
	for i, other := range stack {
		if other == b && i+1 < len(stack) {
			return &blockRef{f, stack, i + 1}
		}
	}
	return &value.Undefined{Name: "super", Msg: "there is no parent block called " + value.ReprText(b.name) + "."}
}

// Type names Jinja's class.
func (*blockRef) Type() string { return "BlockReference" }

// Attr gives super.super.
func (b *blockRef) Attr(name string) (value.Value, bool) {
	if name != "super" {
		return nil, false
	}
	if b.depth+1 < len(b.stack) {
		return &blockRef{b.f, b.stack, b.depth + 1}, true
	}
	return &value.Undefined{Name: "super",
		Msg: "there is no parent block called " + value.ReprText(b.stack[0].name) + "."}, true
}

// Call prints the block. Unlike all other output it must be text already, as Jinja joins it without printing.
func (b *blockRef) Call(*Call, *Args) (value.Value, error) {
	nodes, err := runBlock(b.f.run, b.f.names, b.stack[b.depth])
	if err != nil {
		return nil, err
	}
	for i, n := range nodes {
		if !value.IsText(n) {
			return nil, value.TypeErrorf("sequence item %d: expected str instance, %s found", i, n.Type())
		}
	}
	return value.Concat(nodes)
}

// templateRef is the variable self.
type templateRef struct{ f *frame }

// Type names Jinja's class.
func (*templateRef) Type() string { return "TemplateReference" }

// QualifiedType names Jinja's class with its module.
func (*templateRef) QualifiedType() string { return "jinja2.runtime.TemplateReference" }

// Attr returns a block.
func (t *templateRef) Attr(name string) (value.Value, bool) {
	stack := t.f.names.blocks[name]
	if len(stack) == 0 {
		return nil, false
	}
	return &blockRef{t.f, stack, 0}, true
}

// Str prints as Jinja does.
func (t *templateRef) Str() string { return t.Repr() }

// Repr prints as Jinja does.
func (t *templateRef) Repr() string {
	name := "None"
	if n := t.f.names.template.name; n != "" {
		name = value.ReprText(n)
	}
	return "<TemplateReference " + name + ">"
}
