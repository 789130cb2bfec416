package play

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// tasks knows the steps of the plan in hand, with those of the fragments that were handed out, and how they are shown.
// It is safe for concurrent use: fragments come in while answers are made.
type tasks struct {
	index *plan.Index
	check bool
	diff  bool
	// tagged is the language of ansible-core 2.19.
	tagged bool

	mu    sync.Mutex
	roles map[string]*plan.Role // guarded by mu
}

func newTasks(p *plan.Plan) *tasks {
	t := &tasks{index: plan.NewIndex(p), roles: map[string]*plan.Role{}, check: p.Play.Check, diff: p.Play.Diff, tagged: p.Play.Level.Tagged()}
	maps.Copy(t.roles, p.Roles)
	return t
}

// add takes a fragment in.
func (t *tasks) add(f *plan.Fragment) {
	t.index.Add(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.roles, f.Roles)
}

// shown is the task of an event as a view sees it.
func (t *tasks) shown(e wire.Event) view.Task {
	s := t.index.Step(e.Step)
	if s == nil {
		return view.Task{ID: e.Step, Name: e.Name}
	}
	task := view.Task{
		ID: e.Step, Name: s.Name, Action: s.Written, Place: place(s.Place), Handler: s.Handler, Kind: s.Kind,
		Step: s, In: t.of(s), NoLog: constant(s.NoLog, false), Check: constant(s.CheckMode, t.check), Diff: constant(s.Diff, t.diff),
	}
	if e.Name != "" {
		task.Name = e.Name
	}
	if task.Role = t.role(s); s.Kind == plan.Meta {
		task.Meta = rawText(s, "_raw_params")
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

// role is the name of a step's role, "" outside roles.
func (t *tasks) role(s *plan.Step) string {
	if r := t.of(s); r != nil {
		return r.FullName()
	}
	return ""
}

// of is a step's role, nil outside roles.
func (t *tasks) of(s *plan.Step) *plan.Role {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roles[s.Role]
}

// step is what a step adds to the variables of a host.
func (t *tasks) step(s *plan.Step) vars.Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	return vars.StepOf(t.roles, s)
}

// includesRole tells whether a step is an include_role, which Ansible names without the role that it stands in.
func includesRole(s *plan.Step) bool { return s.Action == plan.IncludeRole }

// includedRole is the name of an include_role that has none.
func includedRole(s *plan.Step) string {
	role := rawText(s, "name")
	if role == "" {
		role = rawText(s, "role")
	}
	return s.Written + " : " + role
}

// label is a step as --step names it.
func (t *tasks) label(s *plan.Step) string {
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

func rawText(s *plan.Step, arg string) string {
	v, _ := s.Args.Get(arg)
	text, _ := value.Text(v)
	return text
}

// place is path:line of path:line:column, as Ansible tells it.
func place(p string) string {
	if i := strings.LastIndexByte(p, ':'); i > 0 && strings.Count(p, ":") > 1 {
		return p[:i]
	}
	return p
}

// constant is a keyword that holds a bool; one that holds a template counts as not given.
func constant(e plan.Expr, otherwise bool) bool {
	if b, ok := e.V.(value.Bool); ok {
		return bool(b)
	}
	return otherwise
}

// following is the first step behind another, "" if there is none. The sections of rescue are left out: a host that was lost comes to none.
func following(blocks []plan.Block, id plan.ID) plan.ID {
	for _, b := range blocks {
		for _, n := range slices.Concat(b.Body, b.Always) {
			var found plan.ID
			switch {
			case n.Block != nil:
				found = following([]plan.Block{*n.Block}, id)
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
