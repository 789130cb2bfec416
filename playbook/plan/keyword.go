package plan

import (
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Keyword is a keyword of playbooks: a row of the table that all code about keywords uses. A new keyword is a row, and
// its effect.
type Keyword struct {
	Name string
	// Field is its name in Ansible's classes and messages; "" is Name.
	Field string
	// On is where it may stand.
	On Where
	Is Isa
	// Since is the change that added it, nil for one that all levels have.
	Since *dialect.Change
	// Inherit says how it combines with inherited values.
	Inherit Inheritance
	// Stage is when it applies.
	Stage Stage
	// Vars are the variables that override the playbook, the strongest first; {method} stands for the become method.
	Vars []string
	// Become is the option of become methods that the keyword sets: their rows have the variables.
	Become dialect.BecomeOption
	// Setting is the setting that applies if nobody gave the keyword, "" if there is none.
	Setting string
	// Default is the value that tasks show if neither playbook nor setting gives one; nil is None.
	Default value.Value
	// Bare says that its texts are expressions without braces.
	Bare bool
	// Doc is a line for people, "" for a keyword that nobody writes.
	Doc string

	// One or Many is the field of a step that holds it as written, of loop_control in a step with a loop. Both are nil for
	// a keyword that a step has in another form, or not at all.
	One  func(*Step) *Expr
	Many func(*Step) *[]Expr
	// read returns that other form.
	read func(*Step) value.Value
}

// Where are the things that may have a keyword.
type Where uint16

// The things that may have keywords.
const (
	OnPlay        Where = 1 << iota
	OnRole              // an entry of roles or of a role's dependencies
	OnBlock             // block, rescue and always together
	OnTask              // tasks, and handlers
	OnHandler           // what handlers take beside what tasks do
	OnImport            // import_playbook
	OnInclude           // include_tasks and include_role, which reject other keywords of tasks
	OnLoopControl       // within loop_control
	OnMeta              // meta/main.yml of a role, beside its own

	// everywhere is where the keywords of Ansible's class Base may be.
	everywhere = OnPlay | OnRole | OnBlock | OnTask | OnImport | OnMeta
)

// Has reports whether a keyword may be on one of those things.
func (w Where) Has(on Where) bool { return w&on != 0 }

// Names returns those things that people know, in Ansible's words.
func (w Where) Names() []string {
	var out []string
	for _, on := range []struct {
		on   Where
		name string
	}{{OnPlay, "Play"}, {OnRole, "Role"}, {OnBlock, "Block"}, {OnTask, "Task"}, {OnHandler, "Handler"},
		{OnLoopControl, "LoopControl"}} {
		if w.Has(on.on) {
			out = append(out, on.name)
		}
	}
	return out
}

// Isa is the type of a keyword, as Ansible names it in messages.
type Isa string

// The types of keywords.
const (
	IsAny       Isa = ""
	IsText      Isa = "string" // a list or a mapping is rejected while the playbook is read
	IsLooseText Isa = "str"    // a list or a mapping is printed
	IsInt       Isa = "int"
	IsFloat     Isa = "float"
	IsBool      Isa = "bool"
	IsPercent   Isa = "percent"
	IsList      Isa = "list"
	IsMapping   Isa = "dict"
	IsObject    Isa = "class"
)

// Inheritance is how a keyword combines with the values of the block, the role and the play around it.
type Inheritance int

// The ways of inheritance.
const (
	Own     Inheritance = iota // it is not inherited
	Nearest                    // the nearest value counts
	Inner                      // own values after inherited ones
	Outer                      // own values before inherited ones
)

// Stage is when a keyword applies.
type Stage int

// The stages, in order.
const (
	AtLoad   Stage = iota // while playbooks are read and compiled
	AtPlay                // when a play begins, for all its hosts
	AtLoop                // for a task, before its items
	AtWay                 // for each item: which user does it, and how its host is reached
	AtGuard               // whether it is done at all, and what may be shown of it
	AtCall                // once it is known that it will be done
	AtResult              // when there is a result
)

// Keywords returns the table, in the order in which Ansible looks at a task's keywords. Nobody may change it.
func Keywords() []Keyword { return keywords }

// KeywordNamed returns the row of a name, which may be Field.
func KeywordNamed(name string) (Keyword, bool) {
	if k := named()[name]; k != nil {
		return *k, true
	}
	return Keyword{}, false
}

// named are the rows by their names. If a name is that of one row and the Field of another, the first counts.
var named = sync.OnceValue(func() map[string]*Keyword {
	out := map[string]*Keyword{}
	for i := range keywords {
		k := &keywords[i]
		for _, name := range []string{k.Name, k.Field} {
			if _, taken := out[name]; !taken && name != "" {
				out[name] = k
			}
		}
	}
	return out
})

// AnsibleName returns Field, or Name if Ansible has no other.
func (k *Keyword) AnsibleName() string {
	if k.Field != "" {
		return k.Field
	}
	return k.Name
}

// Becomes reports whether the keyword is about becoming another user.
func (k *Keyword) Becomes() bool {
	return k.Become != "" || k.Name == "become" || k.Name == "become_method"
}

// Inherited reports whether tasks inherit it.
func (k *Keyword) Inherited() bool { return k.Inherit != Own }

// Given returns the keyword as a step has it: as written, a list for one that has several values; nil if it was not
// given.
func (k *Keyword) Given(s *Step) value.Value {
	switch {
	case k.On == OnLoopControl && s.Loop == nil:
		return nil
	case k.One != nil:
		return k.One(s).V
	case k.Many != nil:
		return listed(*k.Many(s))
	case k.read != nil:
		return k.read(s)
	}
	return nil
}

// registered returns what a step registers, as written.
func registered(s *Step) value.Value {
	if s.Projections.Dict != nil {
		return s.Projections.Dict
	}
	return textOrNil(s.Register)
}

// Registers returns the names of the variables that the step registers.
func (s *Step) Registers() []string {
	if s.Projections.Dict == nil {
		if s.Register == "" {
			return nil
		}
		return []string{s.Register}
	}
	var names []string
	for _, k := range s.Projections.Keys() {
		name, _ := value.Text(k)
		names = append(names, name)
	}
	return names
}

// Kept reports whether steps have the keyword in some form.
func (k *Keyword) Kept() bool { return k.One != nil || k.Many != nil || k.read != nil }

func listed(exprs []Expr) value.Value {
	if len(exprs) == 0 {
		return nil
	}
	list := value.NewList()
	for _, e := range exprs {
		list.Items = append(list.Items, e.V)
	}
	return list
}

// Exprs returns the texts of the keyword in a step.
func (k *Keyword) Exprs(s *Step) []Expr {
	switch {
	case k.On == OnLoopControl && s.Loop == nil:
		return nil
	case k.One != nil:
		return []Expr{*k.One(s)}
	case k.Many != nil:
		return *k.Many(s)
	}
	return nil
}

// Variables returns Vars for a become method, "" is dialect.DefaultMethod. Nobody may change them.
func (k *Keyword) Variables(method string) []string {
	if k.Become == "" {
		return k.Vars
	}
	return dialect.BecomeVariables(method, k.Become)
}

func textOrNil(s string) value.Value {
	if s == "" {
		return nil
	}
	return value.SourceText(s)
}

func textsOrNil(list []string) value.Value {
	if len(list) == 0 {
		return nil
	}
	out := value.NewList()
	for _, s := range list {
		out.Items = append(out.Items, value.SourceText(s))
	}
	return out
}

func dictOrNil(d Dict) value.Value {
	if d.Dict == nil {
		return nil
	}
	return d.Dict
}

// over returns what the loop goes over, nil for no loop.
func (l *Loop) over() value.Value {
	if l == nil {
		return nil
	}
	return l.Over.V
}

// with returns the name of its lookup, nil for none.
func (l *Loop) with() value.Value {
	if l == nil {
		return nil
	}
	return textOrNil(l.With)
}
