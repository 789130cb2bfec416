package play

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/fleet/connections"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// logins knows the login with which each host without an agent of its own is reached in all of a play, so that its
// session can be on the host and not here, where each task takes a message to the host and back. It is safe for
// concurrent use.
type logins struct {
	r *runner
	// first is the first step that needs the host, nil if there is none or the steps may need several logins.
	first func() *plan.Step
}

func newLogins(r *runner, p *plan.Plan) *logins {
	return &logins{r, sync.OnceValue(func() *plan.Step {
		return oneLogin(r.in.Modules, p, r.in.Reach,
			r.in.Project.Mentions)
	})}
}

// of returns the login of a host, nil if its tasks are to find the way each for itself.
func (l *logins) of(host string) *wire.Login {
	if kind := l.r.locals.kind(host); kind != connections.Smart && kind != connections.SSH {
		return nil
	}
	step := l.first()
	if step == nil {
		return nil
	}
	login := &wire.Login{Way: map[string]string{}, Whole: map[string]string{}}
	for _, name := range l.r.in.Reach {
		v, ok := l.r.locals.set(host, name)
		if !ok {
			return nil
		}
		if v != "" {
			login.Whole[name] = v
		}
	}
	fill := func(from string, names ...string) {
		if from != "" && !slices.ContainsFunc(names, func(name string) bool { return login.Whole[name] != "" }) {
			login.Whole[names[0]] = from
		}
	}
	fill(keyword(step.RemoteUser), "ansible_user", "ansible_ssh_user")
	fill(keyword(step.Port), "ansible_port", "ansible_ssh_port")
	if login.Whole["ansible_connection"] == "" {
		login.Whole["ansible_connection"] = keyword(step.Connection)
	}
	for _, name := range wire.LoginNames() {
		if v, ok := login.Whole[name]; ok {
			login.Way[name] = v
		}
	}
	return login
}

// keyword returns one of a connection as it is written.
func keyword(x plan.Expr) string {
	if x.IsZero() || value.IsNone(x.V) {
		return ""
	}
	if n, ok := x.V.(value.Int); ok {
		return strconv.FormatInt(int64(n), 10)
	}
	text, _ := value.Text(x.V)
	return text
}

// oneLogin returns the first step of a plan that needs its host, nil if the plan has none, or may need more than one
// login, or a new one. What names another host, user or port than that step its session does not do (wire.Login);
// here is what a session would not see. mentions reports whether a dynamic include may bring such words.
func oneLogin(known *modules.Registry, p *plan.Plan, names []string, mentions func(*regexp.Regexp) bool) *plan.Step {
	var first *plan.Step
	beyond := slices.DeleteFunc(slices.Clone(names),
		func(name string) bool { return slices.Contains(wire.LoginNames(), name) })
	has := func(d plan.Dict) bool {
		return slices.ContainsFunc(beyond, func(name string) bool { _, ok := d.Get(name); return ok })
	}
	several, includes := false, false
	look := func(s *plan.Step) {
		includes = includes || s.Kind == plan.Include
		several = several || has(s.Vars) || has(s.IncludeVars) || slices.Contains(beyond, s.Register) ||
			known.Has(s.Action, modules.RestartsHost) ||
			known.Has(s.Action, modules.SetsVariables) && (has(s.Args) || compile.ComputedNames(s)) ||
			s.Kind == plan.Meta && isReset(s)
		if first == nil && s.Kind == plan.Task && s.Evaluator == plan.Agent && usesHost(known, s) {
			first = s
		}
	}
	plan.Walk(p.Blocks, look)
	for i := range p.Handlers {
		look(p.Handlers[i].Step)
	}
	for _, role := range p.Roles {
		several = several || has(role.Defaults) || has(role.Vars) || has(role.Params)
	}
	if first == nil || several {
		return nil
	}
	for _, x := range []plan.Expr{first.RemoteUser, first.Port, first.Connection} {
		if !x.IsZero() && templar.IsTemplate(x.V) {
			return nil
		}
	}
	if includes && mentions(regexp.MustCompile(`\b(?:reset_connection|reboot|`+strings.Join(beyond, "|")+`)\b`)) {
		return nil
	}
	return first
}

func isReset(s *plan.Step) bool {
	v, _ := s.Args.Get("_raw_params")
	action, _ := value.Text(value.OrNone(v))
	return action == "reset_connection"
}

// usesHost reports whether a step does something on its host.
func usesHost(known *modules.Registry, s *plan.Step) bool {
	m := known.Declared(s.Action)
	return m == nil || !m.Session || m.UsesHost
}
