package runner

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// control is the rendered loop_control.
type control struct {
	loopVar, indexVar  string
	pause              time.Duration
	extended, allItems bool
	label              value.Value
}

func newControl(ctx context.Context, e *eval) (*control, error) {
	rd := &reader{ctx: ctx, e: e, of: "loop_control"}
	l := e.s.Loop
	c := &control{loopVar: rd.text("loop_var", l.Var), indexVar: rd.text("index_var", l.IndexVar), allItems: true}
	if c.loopVar == "" {
		c.loopVar = "item"
	}
	if v := rd.render("pause", l.Pause); v != nil {
		seconds, err := floatOf(v)
		if err != nil {
			rd.invalid("pause", l.Pause, v, "float", err.Error())
		}
		c.pause = time.Duration(seconds * float64(time.Second))
	}
	c.extended = rd.bool("extended", l.Extended)
	if !l.ExtendedAllItems.IsZero() {
		c.allItems = rd.bool("extended_allitems", l.ExtendedAllItems)
	}
	switch {
	case !l.Label.IsZero() && value.IsTrue(l.Label.V):
		c.label = l.Label.V
	case isVariable().MatchString(c.loopVar):
		c.label = plan.LoopLabel(c.loopVar)
	case e.has(dialect.KeywordWords) && rd.err == nil:
		msg := "Invalid variable name " + value.ReprText(c.loopVar) + "."
		rd.err = &fault{text: msg, links: []link{{msg: msg, spot: spot{text: c.loopVar}, help: nameRule}}}
	default: // the name may be a text from a host, and would be an expression here
		c.label = value.UnsafeStr("{{" + c.loopVar + "}}")
	}
	return c, e.untried(rd.err)
}

// nameRule is ansible-core's message about names that variables may have.
const nameRule = "Variable names must be strings starting with a letter or underscore character, " +
	"and contain only letters, numbers and underscores."

// isVariable matches what can be the name of a variable.
var isVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// variables returns the variables of one item.
func (c *control) variables(items []value.Value, i int) *value.Dict {
	d := value.NewDict()
	d.Set(c.loopVar, items[i])
	d.Set("ansible_loop_var", value.Str(c.loopVar))
	if c.indexVar != "" {
		d.Set(c.indexVar, value.Int(i))
		d.Set("ansible_index_var", value.Str(c.indexVar))
	}
	if !c.extended {
		return d
	}
	n := len(items)
	loop := value.NewDict()
	loop.Set("index", value.Int(i+1))
	loop.Set("index0", value.Int(i))
	loop.Set("first", value.Bool(i == 0))
	loop.Set("last", value.Bool(i+1 == n))
	loop.Set("length", value.Int(n))
	loop.Set("revindex", value.Int(n-i))
	loop.Set("revindex0", value.Int(n-i-1))
	if c.allItems {
		loop.Set("allitems", value.NewList(items...))
	}
	if i+1 < n {
		loop.Set("nextitem", items[i+1])
	}
	if i > 0 {
		loop.Set("previtem", items[i-1])
	}
	d.Set("ansible_loop", loop)
	return d
}

// together reports whether the items of the loop may run at the same time. They run one after the other if the user
// says so (throttle, loop_control with pause or break_when), or if an item may look at the result of the one before.
func (c *control) together(s *plan.Step) bool {
	if s.Async.IsZero() || len(s.Until) > 0 || len(s.Loop.BreakWhen) > 0 || c.pause > 0 || !s.Throttle.IsZero() ||
		s.Kind == plan.Include || s.Projections.Len() > 0 {
		return false
	}
	if s.Register == "" {
		return true
	}
	read := templar.ReadConditions(conditions(s.When)...)
	names, complete := read.Names, read.Complete
	for _, v := range []value.Value{dictOr(s.Args.Dict, nil), dictOr(s.Vars.Dict, nil),
		value.NewList(conditions(s.Environment)...)} {
		more := templar.Read(v)
		names, complete = append(names, more.Names...), complete && more.Complete
	}
	return complete && !slices.Contains(names, s.Register)
}
