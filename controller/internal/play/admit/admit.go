// Package admit is the only way for what hosts say to reach the controller's mirror of their variables: what
// agents report of their steps, results of calls that the controller has hosts do, facts that a cache kept. A host may
// set plain variables of its own, within bounds of size; what decides how hosts are reached, entered and addressed
// (vars.Protected) only playbooks, inventories and settings may set. What counts is which host has spoken: that the
// controller has evaluated a step does not mean that no host had a say in what came of it.
package admit

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Config is what a Door needs.
type Config struct {
	Modules *modules.Registry
	// Options are the variables that say how the controller reaches hosts (connections.Settings.Names).
	Options []string
	// Documented returns the variables that set options of plug-ins in Python, as their documentation says; nil: none.
	Documented func() map[string]bool
	// Warn returns what was refused. Secrets hears what a host says is secret.
	Warn    func(text string)
	Secrets func(host string, texts []string)
}

// Admission judges what hosts say in one run. It is safe for concurrent use.
type Admission struct {
	c Config

	mu        sync.Mutex
	protected vars.Protected // guarded by mu
	accounts  accounts       // guarded by mu
}

// New returns the Door of a run.
func New(c Config) *Admission {
	return &Admission{c: c, protected: vars.Protected{Options: c.Options}, accounts: newAccounts()}
}

// Effects are effects that may change a mirror. Only a Door makes them.
type Effects struct{ list []wire.Effect }

// List returns the effects. Nobody may change them.
func (e Effects) List() []wire.Effect { return e.list }

// Facts are facts that may become those of a host in a mirror. Only a Door makes them.
type Facts struct{ dict *value.Dict }

// Dict returns the facts, nil for none.
func (f Facts) Dict() *value.Dict { return f.dict }

// Know takes in the names of the project's own plug-ins, whose options are protected from then on.
func (d *Admission) Know(connections, becomes []string) {
	both := func(had, more []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(had, more))))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.protected.Connections = both(d.protected.Connections, connections)
	d.protected.Becomes = both(d.protected.Becomes, becomes)
}

// End says that a batch is over: no step of it waits for results.
func (d *Admission) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accounts.settle()
}

// guard returns the variables that no host may set.
func (d *Admission) guard() vars.Protected {
	d.mu.Lock()
	protected := d.protected
	d.mu.Unlock()
	if d.c.Documented != nil {
		protected.Documented = d.c.Documented() // a role that was read since may have more
	}
	return protected
}

// Cached are facts of a host that a cache has kept of an earlier run: the host has said them then.
func (d *Admission) Cached(host string, facts *value.Dict) Facts {
	clean, refused := d.guard().Facts(facts)
	if len(refused) > 0 {
		d.refuse("the kept facts of "+host, "no host sets "+strings.Join(refused, ", "))
	}
	return Facts{clean}
}

// Reported returns the effects that a step which its host has evaluated can have on the host's own variables, out of
// those that its agent reports. What they hold is data: no text of an agent's making is a template for the
// controller. The error is that the host's variables take more than they may.
func (d *Admission) Reported(host string, s *plan.Step, effects []wire.Effect) (Effects, error) {
	var out []wire.Effect
	protected, told := d.guard(), "what the agent of "+host+" tells of its variables"
	for _, e := range effects {
		layer := vars.Layer(e.Layer)
		if s == nil || e.Clear || e.Host != "" && e.Host != host || layer != vars.Facts && layer != vars.Set {
			d.refuse(told, "it changes what no step of a host's own changes")
			continue
		}
		admitted := value.NewDict()
		e.Vars.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			if protected.Refuses(name, v) || !d.sets(s, layer, name) {
				d.refuse(told, fmt.Sprintf("step %s does not set %q", s.ID, name))
				return true
			}
			admitted.SetKey(k, asData(s, name, v))
			return true
		})
		e.Vars.Dict = admitted
		out = append(out, e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range out {
		d.accounts.keep(host, host, e)
	}
	if d.accounts.total(host) > MostVariables {
		return Effects{}, tooMuch(host)
	}
	return Effects{out}, nil
}

// asData returns a variable that an agent reports, as data: but for text that the task itself sets to it, which is
// the playbook's.
func asData(s *plan.Step, name string, v value.Value) value.Value {
	given, ok := s.Args.Get(name)
	if text, isText := value.Text(given); ok && isText && !templar.IsTemplate(given) {
		if told, same := value.Text(v); same && told == text {
			return given
		}
	}
	return value.Data(v)
}

// sets reports whether a step of a host's own sets a variable in a layer. Modules return facts of any name.
func (d *Admission) sets(s *plan.Step, layer vars.Layer, name string) bool {
	switch {
	case layer == vars.Facts, slices.Contains(s.Registers(), name), name == "ansible_failed_task",
		name == "ansible_failed_result":
		return true
	}
	_, given := s.Args.Get(name)
	return given && d.c.Modules.Has(s.Action, modules.SetsVariables)
}

// Evaluated returns the effects of a step that the controller has evaluated for a host. Facts are what modules have
// returned, so a host has said them; a variable that the step names was named by the playbook, if its name is written
// there: one that a template has made may be a host's word.
func (d *Admission) Evaluated(host string, s *plan.Step, effects []wire.Effect) Effects {
	out := make([]wire.Effect, 0, len(effects))
	protected := d.guard()
	for _, e := range effects {
		switch vars.Layer(e.Layer) {
		case vars.Facts:
			e.Vars.Dict, _ = protected.Facts(e.Vars.Dict) // the step has said which are left out
		case vars.Set:
			e.Vars.Dict = d.written(protected, s, e.Vars.Dict)
		}
		out = append(out, e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s != nil {
		who := d.accounts.spoke(host, s.ID)
		for _, e := range out {
			owner := host
			if e.Host != "" {
				owner = e.Host
			}
			d.accounts.keep(who, owner, e)
		}
	}
	return Effects{out}
}

// Done says that a step of a host waits for no more results: what came of it is among the variables, or is nowhere.
func (d *Admission) Done(host string, id plan.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accounts.done(host, id)
}

// written are variables that a step sets without protected ones that the playbook does not name.
func (d *Admission) written(protected vars.Protected, s *plan.Step, set *value.Dict) *value.Dict {
	names := func(name string) bool {
		if s == nil {
			return false
		}
		if slices.Contains(s.Registers(), name) || s.Args.Has(name) {
			return true
		}
		return slices.ContainsFunc(s.Defaults, func(of plan.Dict) bool { return of.Has(name) })
	}
	out := set
	set.Each(func(k, _ value.Value) bool {
		name, _ := value.Text(k)
		if !protected.Has(name) || names(name) {
			return true
		}
		if out == set {
			out = set.Copy()
		}
		out.Delete(k)
		d.refuse("a variable", fmt.Sprintf("the playbook does not name %q, a template has made the name", name))
		return true
	})
	return out
}

func (d *Admission) refuse(what, why string) {
	if d.c.Warn != nil {
		d.c.Warn("refused " + what + ": " + why)
	}
}
