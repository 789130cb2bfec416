package compile

import (
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// object is what blocks, tasks and roles have in common: keywords of their own, and a place in the tree from which they
// inherit others. The tree has Ansible's exceptions: an include that was loaded while the play ran passes on the
// keywords around it but not its own; a role passes on to its blocks, and not to its handlers' tags.
type object struct {
	place syntax.Place
	attrs syntax.Attrs
	tags  []value.Value
	vars  *value.Dict
	when  []value.Value // own, as a list
	// collections is the list in force; nil if there is none.
	collections []string

	play *Play
	role *role
	// parent is the block of a task; the enclosing block, or the include, of a block. Nil at the top.
	parent *object
	// depChain are the roles that reached a block, the role itself last; nil means that the parent's applies.
	depChain []*role
	isTask   bool
	// include is set for tasks that include others.
	include *include
}

// include describes an object that includes or imports tasks.
type include struct {
	// dynamic includes are loaded while the play runs.
	dynamic bool
	role    bool   // include_role or import_role
	legacy  bool   // the action include, whose arguments are variables too
	file    string // of tasks, as written; of a role: the role's path once it is known
	// params says that what is included gets the vars of a dynamic include above registered variables.
	params bool
	args   *value.Dict
}

// includedBy returns the nearest dynamic include above an object, nil for none.
func (o *object) includedBy() *object {
	for o = o.parent; o != nil; o = o.parent {
		if o.include != nil && o.include.dynamic {
			return o
		}
	}
	return nil
}

// includesAbove returns how many dynamic includes an object stands in.
func (o *object) includesAbove() int {
	n := 0
	for o = o.includedBy(); o != nil; o = o.includedBy() {
		n++
	}
	return n
}

// chain returns the roles that reached an object, outermost first.
func (o *object) chain() []*role {
	for ; o != nil; o = o.parent {
		if o.depChain != nil {
			return o.depChain
		}
	}
	return nil
}

// inheritance returns how a keyword combines with inherited values.
func inheritance(name string) plan.Inheritance {
	k, _ := plan.KeywordNamed(name)
	return k.Inherit
}

// adds reports whether a keyword adds to inherited values: it is a list then.
func adds(how plan.Inheritance) bool { return how == plan.Inner || how == plan.Outer }

// own returns the keyword of the object itself: nil, or a list for those that extend.
func (o *object) own(name string) value.Value {
	switch name {
	case "when":
		return listOrNil(o.when)
	case "tags":
		return listOrNil(o.tags)
	}
	v := o.attrs.Get(name)
	if v == nil || !adds(inheritance(name)) {
		return v
	}
	return value.NewList(items(v)...)
}

func listOrNil(items []value.Value) value.Value {
	if items == nil {
		return nil
	}
	return value.NewList(items...)
}

// items returns the elements of a list; any other value is a list of one.
func items(v value.Value) []value.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		return v.Items
	}
	return []value.Value{v}
}

// keyword returns a keyword with its inherited values, nil if nobody gave it. Those that extend are lists.
func (o *object) keyword(name string) value.Value {
	v := o.inherited(name)
	if v == nil && !adds(inheritance(name)) && o.play != nil {
		v, _ = o.play.project.cfg.Keywords.Get(name)
	}
	return v
}

// ancestry returns the values that an object inherits for a keyword, nearest first: that of its parent, and those of
// its role, the roles above and the play. Each is the whole value of that ancestor, nil for none.
func (o *object) ancestry(name string) []value.Value {
	var out []value.Value
	parent := o.parent
	if parent != nil && parent.include != nil && parent.include.dynamic {
		parent = parent.parent
	}
	out = append(out, nil)
	if parent != nil {
		out[0] = parent.inherited(name)
	}
	if o.isTask {
		return out
	}
	if o.role != nil {
		out = append(out, o.role.own(name))
		chain := o.chain()
		for i := len(chain) - 1; i >= 0; i-- {
			out = append(out, chain[i].own(name))
		}
	}
	if o.play != nil {
		out = append(out, o.play.own(name))
	}
	return out
}

// beyond returns what an object inherits for a keyword of its own that may turn out to be omitted; nil if it cannot, or
// inherits nothing.
func (o *object) beyond(name string) value.Value {
	text, ok := value.Text(value.OrNone(o.own(name)))
	if !ok || !strings.Contains(text, "omit") {
		return nil
	}
	outer := *o
	outer.attrs = nil
	return outer.keyword(name)
}

// inherited is keyword without the defaults of the command line, which come last of all.
func (o *object) inherited(name string) value.Value {
	v := o.own(name)
	how := inheritance(name)
	if how == plan.Own {
		return v
	}
	for i, from := range o.ancestry(name) {
		if v != nil && !adds(how) {
			return v
		}
		if i > 0 {
			from = lacking(from, v)
		}
		v = joinValues(how, v, from)
	}
	return v
}

// lacking returns the values that are not in the list yet: what a role has arrives in several ways.
func lacking(from, have value.Value) value.Value {
	if from == nil || have == nil {
		return from
	}
	out := value.NewList()
	for _, item := range items(from) {
		if !slices.ContainsFunc(items(have), func(other value.Value) bool { return value.Same(item, other) }) {
			out.Items = append(out.Items, item)
		}
	}
	if len(out.Items) == 0 {
		return nil
	}
	return out
}

// joinValues adds an ancestor's value. Of equal neighbours in the list Ansible keeps one; other repetitions stay.
func joinValues(how plan.Inheritance, v, from value.Value) value.Value {
	switch {
	case from == nil:
		return v
	case v == nil:
		return from
	case !adds(how):
		return v
	}
	first, second := items(from), items(v)
	if how == plan.Outer {
		first, second = second, first
	}
	out := value.NewList()
	for _, item := range append(append([]value.Value(nil), first...), second...) {
		if n := len(out.Items); !value.IsNone(item) && (n == 0 || !value.Same(out.Items[n-1], item)) {
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// expr returns a keyword for a plan. A keyword that was given as null is not inherited and says nothing.
func (o *object) expr(name string) plan.Expr { return given(o.keyword(name)) }

func given(v value.Value) plan.Expr {
	if v == nil || value.IsNone(v) {
		return plan.Expr{}
	}
	return plan.Lit(v)
}

// taskVars returns the raw variables of an object and of all around it; inner ones override outer ones.
func (o *object) taskVars() *value.Dict {
	if o == nil {
		return nil
	}
	out := overlay(o.parent.taskVars(), o.vars)
	if o.include != nil && o.include.legacy {
		out = overlay(out, o.include.args)
	}
	if !o.isTask {
		return out
	}
	return without(out, "tags", "when")
}

// includeParams returns the variables that override registered ones: those of the dynamic includes around an object.
func (o *object) includeParams() *value.Dict {
	if o == nil {
		return nil
	}
	out := o.parent.includeParams()
	if o.include == nil {
		return out
	}
	if o.include.params {
		out = overlay(out, o.vars)
	}
	if o.include.role && o.role != nil {
		out = overlay(out, o.role.params)
		out = prependText(out, "ansible_parent_role_names", o.role.fullName())
		out = prependText(out, "ansible_parent_role_paths", o.role.found.Path)
	}
	return out
}

func prependText(d *value.Dict, name, text string) *value.Dict {
	list := value.NewList(value.Str(text))
	if old, ok := d.Get(name); ok {
		list.Items = append(list.Items, items(old)...)
	}
	out := value.NewDict()
	out.Set(name, list)
	return overlay(d, out)
}

// overlay returns over on top of base, name by name.
func overlay(base, over *value.Dict) *value.Dict {
	if over.Len() == 0 {
		return base
	}
	if base.Len() == 0 {
		return over
	}
	out := base.Copy()
	over.Each(func(k, v value.Value) bool { out.SetKey(k, v); return true })
	return out
}

func without(d *value.Dict, names ...string) *value.Dict {
	for _, name := range names {
		if _, ok := d.Get(name); ok {
			d = d.Copy()
			d.Delete(value.Str(name))
		}
	}
	return d
}
