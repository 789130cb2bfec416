// Package hostvars is what a step reads of the world beyond its own host: the variables of other hosts, groups, magic
// variables that change while a play runs, and where in the playbook the step stands. All of it comes from the
// controller, asked for when it is read and kept for the step.
package hostvars

import (
	"context"
	"errors"
	"slices"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Session is what is known of the host itself.
type Session struct {
	Host   string
	Vars   *vars.Host
	Shared *vars.Shared
	// Live: the inventory may change while the play runs, so that groups are asked for.
	Live      bool
	Templates templar.Options
	// Reach are further variables that say how hosts are reached.
	Reach []string
	// Ask puts a question to the controller.
	Ask func(ctx context.Context, a wire.Ask) (wire.Answer, error)
}

// Step is what one step reads. It is not safe for concurrent use.
type Step struct {
	Session
	id plan.ID

	magic map[string]value.Value
	vars  map[string]map[want]value.Value // by host; nil is not defined
	whole map[whose]*value.Dict           // all variables of another host
	hosts []value.Value                   // the names of all hosts, nil before they were asked for
	where map[string]string
	// connections are the variables of delegated hosts that say how to be somebody there.
	connections map[string]*value.Dict
}

// New is for a step of the session.
func New(s Session, id plan.ID) *Step {
	return &Step{
		Session: s, id: id, magic: map[string]value.Value{},
		vars: map[string]map[want]value.Value{}, whole: map[whose]*value.Dict{},
		connections: map[string]*value.Dict{},
	}
}

// allHosts are the hosts of the play, with those that it has added to the inventory.
const allHosts = "ansible_play_hosts_all"

var (
	// hostStateVars are the magic variables that change when hosts fail.
	hostStateVars = []string{"ansible_play_hosts", "ansible_play_batch", "play_hosts", "ansible_current_hosts",
		"ansible_failed_hosts"}
	// Names are the names that Lazy answers.
	Names = append([]string{"hostvars", "groups", "ansible_delegated_vars", allHosts}, hostStateVars...)
)

// Answers reports whether Lazy may know a name.
func Answers(name string) bool { return slices.Contains(Names, name) }

// Lazy answers the names that are not in the session's variables; see vars.Scope.
func (f *Step) Lazy(ctx context.Context, name string) (value.Value, bool, error) {
	switch {
	case name == "hostvars":
		return &hostvars{f: f, ctx: ctx}, true, nil
	case name == "groups", name == allHosts:
		if v, ok := f.Shared.Magic.Get(name); ok && !f.Live {
			return v, true, nil
		}
	case name == "ansible_delegated_vars":
		return f.delegated(ctx)
	case !slices.Contains(hostStateVars, name):
		return nil, false, nil
	case f.alone():
		return f.lone(name)
	}
	v, err := f.askMagic(ctx, name)
	return v, v != nil, err
}

// alone reports whether the play has this host only, so that its magic variables do not change while it runs.
func (f *Step) alone() bool {
	v, _ := f.Shared.Magic.Get(allHosts)
	l, ok := v.(*value.List)
	return ok && len(l.Items) <= 1 && !f.Live
}

func (f *Step) lone(name string) (value.Value, bool, error) {
	switch name {
	case "ansible_play_hosts", "ansible_play_batch", "play_hosts":
		v, ok := f.Shared.Magic.Get(allHosts)
		return v, ok, nil
	case "ansible_failed_hosts":
		return value.NewList(), true, nil
	case "ansible_current_hosts":
		return value.NewList(value.Str(f.Host)), true, nil
	}
	return nil, false, nil
}

// askMagic asks once per step; a magic variable that the controller does not know is nil.
func (f *Step) askMagic(ctx context.Context, name string) (value.Value, error) {
	if v, ok := f.magic[name]; ok {
		return v, nil
	}
	a, err := f.Ask(ctx, wire.Ask{Kind: wire.AskMagic, Step: f.id, Name: name, Names: []string{name}})
	if err != nil {
		return nil, err
	}
	if a.Err != "" || a.Value.IsZero() {
		f.magic[name] = nil
		return nil, nil
	}
	f.magic[name] = a.Value.V
	return a.Value.V, nil
}

// hostnames returns the hosts of the inventory.
func (f *Step) hostnames(ctx context.Context) ([]value.Value, error) {
	if f.hosts != nil {
		return f.hosts, nil
	}
	groups, _, err := f.Lazy(ctx, "groups")
	if err != nil {
		return nil, err
	}
	d, _ := groups.(*value.Dict)
	f.hosts = []value.Value{}
	seen := map[string]bool{}
	for _, group := range []string{"all", "ungrouped"} {
		v, _ := d.Get(group)
		l, ok := v.(*value.List)
		if !ok {
			continue
		}
		for _, h := range l.Items {
			if name, ok := value.Text(h); ok && !seen[name] {
				seen[name] = true
				f.hosts = append(f.hosts, h)
			}
		}
	}
	return f.hosts, nil
}

// own returns the variables of this host as hostvars shows them: without the play and the step. Their templates see
// hostvars only where a task is delegated to the host; in hostvars itself Ansible leaves it out.
func (f *Step) own(delegated bool) (*vars.Scope, *templar.Templar) {
	scope := vars.NewScope(f.Vars, vars.HostvarsShared(f.Shared), vars.Step{})
	scope.LazyNames = []string{"groups", "hostvars"}
	scope.Lazy = func(ctx context.Context, name string) (value.Value, bool, error) {
		if slices.Contains(scope.LazyNames, name) {
			return f.Lazy(ctx, name)
		}
		return nil, false, nil
	}
	if !delegated {
		scope.AsHostvars(f.Templates.Omit())
	}
	return scope, templar.New(scope, f.Templates)
}

// whose are the variables of a host, as hostvars or as ansible_delegated_vars has them.
type whose struct {
	host      string
	delegated bool
}

// want is a variable of other hosts or, with an entry, that entry of one.
type want struct {
	name, entry string
	delegated   bool
}

// variable returns one variable of a host, nil if it has none.
func (f *Step) variable(ctx context.Context, of whose, name string) (value.Value, error) {
	if of.host == f.Host {
		return f.ownVariable(ctx, of.delegated, name)
	}
	if d := f.whole[of]; d != nil {
		v, _ := d.Get(name)
		return v, nil
	}
	return f.fetch(ctx, of.host, want{name: name, delegated: of.delegated})
}

// fact returns one of another host's facts; false if it has no facts at all.
func (f *Step) fact(ctx context.Context, host, key string) (value.Value, bool, error) {
	name := want{name: "ansible_facts", entry: key}
	if f.whole[whose{host: host}] != nil || f.vars[host][want{name: name.name}] != nil {
		return nil, false, nil
	}
	facts, err := f.fetch(ctx, host, name)
	if err != nil || facts == nil {
		return nil, false, err
	}
	d, ok := facts.(*value.Dict)
	if !ok {
		return nil, false, nil
	}
	if v, ok := d.Get(key); ok {
		return v, true, nil
	}
	return value.UndefinedAttr(d, value.Str(key)), true, nil
}

// fetch asks for a variable of another host, once.
func (f *Step) fetch(ctx context.Context, host string, w want) (value.Value, error) {
	if v, ok := f.vars[host][w]; ok {
		return v, nil
	}
	hosts := []string{host}
	if f.askedOfDelegate(w) {
		// The second host for the same name: a loop over hosts. Fetch the rest at once.
		hosts = f.rest(ctx, host, w)
	}
	ask := wire.Ask{Kind: wire.AskVars, Step: f.id, Hosts: hosts, Names: []string{w.name}, Entry: w.entry,
		Delegated: w.delegated}
	a, err := f.Ask(ctx, ask)
	if a.Err != "" && len(hosts) > 1 { // it need not be of this host
		hosts = []string{host}
		ask.Hosts = hosts
		a, err = f.Ask(ctx, ask)
	}
	if err == nil {
		err = AnswerError(a)
	}
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if f.vars[h] == nil {
			f.vars[h] = map[want]value.Value{}
		}
		v, _ := a.Vars[h].Get(w.name)
		f.vars[h][w] = v
	}
	return f.vars[host][w], nil
}

func (f *Step) askedOfDelegate(w want) bool {
	for _, known := range f.vars {
		if _, ok := known[w]; ok {
			return true
		}
	}
	return false
}

func (f *Step) rest(ctx context.Context, host string, w want) []string {
	hosts := []string{host}
	names, err := f.hostnames(ctx)
	if err != nil {
		return hosts
	}
	for _, n := range names {
		h, _ := value.Text(n)
		if _, known := f.vars[h][w]; !known && h != host && h != f.Host {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

func (f *Step) ownVariable(ctx context.Context, delegated bool, name string) (value.Value, error) {
	scope, tpl := f.own(delegated)
	raw, ok, err := scope.Raw(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	v, err := tpl.Template(ctx, raw)
	switch {
	case err == nil:
		return v, nil
	case f.Templates.Has(dialect.HostvarsLazy):
		return templar.Undefined(err), nil
	case templar.IsUndefined(err):
		return raw, nil // hostvars renders what it can
	}
	return nil, err
}

// names returns those of all variables of a host.
func (f *Step) names(ctx context.Context, of whose) ([]value.Value, error) {
	if of.host != f.Host {
		d, err := f.all(ctx, of)
		return d.Keys(), err
	}
	scope, _ := f.own(of.delegated)
	var names []value.Value
	for _, name := range scope.Names(ctx) {
		names = append(names, value.Str(name))
	}
	return names, nil
}

// all returns all variables of another host.
func (f *Step) all(ctx context.Context, of whose) (*value.Dict, error) {
	if d := f.whole[of]; d != nil {
		return d, nil
	}
	a, err := f.Ask(ctx, wire.Ask{Kind: wire.AskVars, Step: f.id, Hosts: []string{of.host}, Delegated: of.delegated})
	if err == nil {
		err = AnswerError(a)
	}
	if err != nil {
		return nil, err
	}
	d := a.Vars[of.host].Dict
	if d == nil {
		d = value.NewDict()
	}
	f.whole[of] = d
	return d, nil
}

// delegated is ansible_delegated_vars: the variables of the hosts that hostvars knows, by name.
func (f *Step) delegated(ctx context.Context) (value.Value, bool, error) {
	return &hostvars{f: f, ctx: ctx, delegated: true}, true, nil
}

// Where returns the paragraph on the place of the step in its file, or of the value of one of its keywords; "" if
// nobody knows.
func (f *Step) Where(ctx context.Context, keyword string) string {
	if text, asked := f.where[keyword]; asked {
		return text
	}
	text := ""
	if a, err := f.Ask(ctx, wire.Ask{Kind: wire.AskWhere, Step: f.id, Name: keyword}); err == nil {
		text, _ = value.Text(a.Value.V)
	}
	if f.where == nil {
		f.where = map[string]string{}
	}
	f.where[keyword] = text
	return text
}

// AnswerError is the error of an answer, in the type that templates know.
func AnswerError(a wire.Answer) error {
	switch {
	case a.Err == "":
		return nil
	case a.ErrKind == "undefined":
		return &value.UndefinedError{Msg: a.Err}
	case a.ErrKind == "" || a.ErrKind == "not_found" || a.ErrKind == "unreachable":
		return errors.New(a.Err)
	}
	return &value.Error{Type: a.ErrKind, Msg: a.Err} // what a lookup raised
}
