// Package steps knows the steps of the plan of a batch, with those of the fragments that its includes bring, and how
// they are called and shown.
package steps

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Set is the steps of the plan in hand, with those of the fragments that were handed out.
// It is safe for concurrent use: fragments come in while answers are made.
type Set struct {
	*plan.Index
	// Tagged is the language of ansible-core 2.19.
	Tagged bool

	check bool
	diff  bool

	mu    sync.Mutex
	roles map[string]*plan.Role // guarded by mu
}

// Of returns the steps of a plan.
func Of(p *plan.Plan) *Set {
	t := &Set{Index: plan.NewIndex(p), roles: map[string]*plan.Role{}, check: p.Play.Check, diff: p.Play.Diff,
		Tagged: p.Play.Level.Has(dialect.FatalRescue)}
	maps.Copy(t.roles, p.Roles)
	return t
}

// Add takes a fragment in.
func (t *Set) Add(f *plan.Fragment) {
	t.Index.Add(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.roles, f.Roles)
}

// ViewTask returns the task of an event as a view sees it.
func (t *Set) ViewTask(e wire.Event) view.Task {
	s := t.Step(e.Step)
	if s == nil {
		return view.Task{ID: e.Step, Name: e.Name}
	}
	task := view.Task{
		ID: e.Step, Name: s.Name, Action: s.Written, Place: Place(s.Place), Handler: s.Handler, Kind: s.Kind,
		Step: s, In: t.RoleOf(s), NoLog: Constant(s.NoLog, false), Check: Constant(s.CheckMode, t.check),
		// Where a template says no, the result has none to show.
		Diff: Constant(s.Diff, t.diff) || templar.IsTemplate(value.OrNone(s.Diff.V)),
	}
	if e.Name != "" {
		task.Name = e.Name
	}
	if task.Role = t.role(s); s.Kind == plan.Meta {
		task.Meta = RawText(s, "_raw_params")
	}
	if includesRole(s) {
		task.Role = ""
		if task.Name == "" {
			task.Name = includedRole(s)
		}
	}
	task.Args, _ = json.Marshal(s.Args)
	return task
}

// role returns the name of a step's role, "" outside roles.
func (t *Set) role(s *plan.Step) string {
	if r := t.RoleOf(s); r != nil {
		return r.FullName()
	}
	return ""
}

// RoleOf returns a step's role, nil outside roles.
func (t *Set) RoleOf(s *plan.Step) *plan.Role {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roles[s.Role]
}

// Twice returns the name of a role that was begun before a step and comes again behind its end, at or after the step;
// "" if there is none. A host passes over it the second time.
func (t *Set) Twice(at plan.ID) string {
	first := map[string]plan.ID{}
	for _, id := range t.Steps("", at) {
		if r := t.RoleOf(t.Step(id)); r != nil && !r.AllowDuplicates && first[r.Identity] == "" {
			first[r.Identity] = id
		}
	}
	for _, id := range append([]plan.ID{at}, t.Steps(at, "")...) {
		r := t.RoleOf(t.Step(id))
		if r == nil || first[r.Identity] == "" {
			continue
		}
		end := t.NextRoleEnd(first[r.Identity], func(key string) bool {
			of := t.RoleOf(&plan.Step{Role: key})
			return of != nil && of.Identity == r.Identity
		})
		if end != "" && plan.Compare(end, id) < 0 {
			return r.FullName()
		}
	}
	return ""
}

// Vars returns what a step adds to the variables of a host.
func (t *Set) Vars(s *plan.Step) vars.Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	return vars.StepOf(t.roles, s)
}

// includesRole reports whether a step is an include_role, which Ansible names without the role that it stands in.
func includesRole(s *plan.Step) bool { return s.Action == plan.IncludeRole }

// includedRole returns the name of an include_role that has none.
func includedRole(s *plan.Step) string {
	role := RawText(s, "name")
	if role == "" {
		role = RawText(s, "role")
	}
	return s.Written + " : " + role
}

// Label returns a step as --step and messages name it.
func (t *Set) Label(s *plan.Step) string {
	name := s.Name
	if name == "" {
		name = s.Written
	}
	if includesRole(s) && s.Name == "" {
		return includedRole(s)
	}
	if r := t.role(s); r != "" && !includesRole(s) {
		return r + " : " + name
	}
	return name
}

// LabelOf returns how a step is called in messages, known or not.
func (t *Set) LabelOf(id plan.ID) string {
	if s := t.Step(id); s != nil {
		return t.Label(s)
	}
	return string(id)
}

// RawText returns a constant argument of a step that is text, "" for none.
func RawText(s *plan.Step, arg string) string {
	v, _ := s.Args.Get(arg)
	text, _ := value.Text(v)
	return text
}

// Place is path:line of path:line:column, as Ansible tells it.
func Place(p string) string {
	if i := strings.LastIndexByte(p, ':'); i > 0 && strings.Count(p, ":") > 1 {
		return p[:i]
	}
	return p
}

// Constant is a keyword that holds a bool; one that holds a template counts as not given.
func Constant(e plan.Expr, otherwise bool) bool {
	if b, ok := e.V.(value.Bool); ok {
		return bool(b)
	}
	return otherwise
}

// Following returns the first step behind another, "" if there is none. The sections of rescue are left out: a host
// that was lost comes to none.
func Following(blocks []plan.Block, id plan.ID) plan.ID {
	for _, b := range blocks {
		for _, n := range slices.Concat(b.Body, b.Always) {
			var found plan.ID
			switch {
			case n.Block != nil:
				found = Following([]plan.Block{*n.Block}, id)
			case plan.Compare(n.Step.ID, id) > 0 && !n.Step.ID.Within(id):
				found = n.Step.ID
			}
			if found != "" {
				return found
			}
		}
	}
	return ""
}
