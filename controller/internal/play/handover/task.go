// Package handover is what the agents of a batch's hosts were given of its plan, and how the steps are done that they
// hand over: each agent has the steps that its host evaluates, the places of the others, and the variables that its
// own steps can read. What else a step needs the controller has, which does such steps here, with the code of the
// sessions.
package handover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/compile"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Tasks are those of a batch. They are safe for concurrent use.
type Tasks struct {
	unit   *compile.Unit
	mirror Mirror
	// render renders a value with a host's variables.
	render func(ctx context.Context, host string, v value.Value) (value.Value, error)

	mu   sync.Mutex
	by   map[string]*Task    // guarded by mu
	cuts map[string]*cutPlan // by what can be read; guarded by mu
}

// Mirror has the variables of hosts as they are now: answer.Mirror. It is safe for concurrent use.
type Mirror interface {
	Start(host string) wire.HostVars
}

// cutPlan is a plan as it is handed out to all hosts whose steps can read the same variables.
type cutPlan struct {
	digest   string
	body     []byte
	readable map[string]bool
}

// Task is what the agent of one host was given.
type Task struct {
	host string

	// asked are the steps that were done for it; last is the one that it was at last. They belong to the goroutine of
	// the batch, which never waits for Mutex.
	asked map[plan.ID]bool
	last  plan.ID

	sync.Mutex // held while a step is done
	// readable are the variables that the host gets; written with Mutex and Handouts.mu held.
	readable map[string]bool
	plan     *cutPlan
	// fragments are what includes have brought, with the IDs that their steps lie under; guarded by Mutex.
	fragments []*plan.Fragment
	under     []plan.ID
	// single does the controller's steps for the host, nil before the first; guarded by Mutex.
	single Evaluator
}

// New returns that nobody was given anything of a plan.
func New(unit *compile.Unit, mirror Mirror,
	render func(ctx context.Context, host string, v value.Value) (value.Value, error)) *Tasks {
	return &Tasks{unit: unit, mirror: mirror, render: render, by: map[string]*Task{}, cuts: map[string]*cutPlan{}}
}

// Of returns the handout of a host, nil if the host's session is in this process and has everything.
func (h *Tasks) Of(host string) *Task {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.by[host]
}

// Make cuts the plan and the variables for a host.
func (h *Tasks) Make(ctx context.Context, host string) (digest string, body []byte, vars wire.HostVars, err error) {
	all := h.mirror.Start(host)
	readable := h.unit.Readable(nil, valuesOf(all), steering(all)...)
	cut, err := h.cut(readable)
	if err != nil {
		return "", nil, vars, err
	}
	o := h.Give(host, cut.readable)
	o.plan = cut
	return cut.digest, cut.body, h.vars(ctx, host, all, func(name string) bool { return o.readable[name] }), nil
}

// Give notes that the agent of a host is given its steps, and the variables that these can read.
func (h *Tasks) Give(host string, readable map[string]bool) *Task {
	o := &Task{host: host, asked: map[plan.ID]bool{}, readable: readable}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.by[host] = o
	return o
}

// Forget is for a host whose session begins in this process.
func (h *Tasks) Forget(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.by, host)
}

// cut returns the plan for hosts that can read the same.
func (h *Tasks) cut(readable map[string]bool) (*cutPlan, error) {
	names := make([]string, 0, len(readable))
	for name := range readable {
		names = append(names, name)
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	key := hex.EncodeToString(sum[:])
	h.mu.Lock()
	defer h.mu.Unlock()
	if known := h.cuts[key]; known != nil {
		return known, nil
	}
	digest, body, err := h.unit.Plan.Cut(func(name string) bool { return readable[name] }).Digest()
	if err != nil {
		return nil, err
	}
	h.cuts[key] = &cutPlan{digest, body, readable}
	return h.cuts[key], nil
}

// Body returns a plan that a host was given.
func (h *Tasks) Body(host, digest string) ([]byte, bool) {
	o := h.Of(host)
	if o == nil {
		return nil, false
	}
	return o.plan.body, o.plan.digest == digest
}

// valuesOf returns the values that a host has of its own for a name.
func valuesOf(v wire.HostVars) func(name string) []value.Value {
	return func(name string) []value.Value {
		var out []value.Value
		for _, d := range []plan.Dict{v.Inventory, v.Include, v.Set} {
			if x, ok := d.Get(name); ok {
				out = append(out, x)
			}
		}
		return out
	}
}

// steering returns the names among a host's own layers that say how its tasks are done: each task looks for them.
func steering(v wire.HostVars) []string {
	var names []string
	for _, d := range []plan.Dict{v.Inventory, v.Include, v.Set} {
		d.Each(func(k, _ value.Value) bool {
			if name, ok := value.Text(k); ok && plan.Steers(name) {
				names = append(names, name)
			}
			return true
		})
	}
	return names
}

// vars returns a host's own layers as it gets them.
func (h *Tasks) vars(ctx context.Context, host string, all wire.HostVars, keep func(string) bool) wire.HostVars {
	var out wire.HostVars
	cut := func(d plan.Dict, keep func(string) bool) plan.Dict {
		kept, withheld := plan.CutVars(d, keep)
		out.Withheld = append(out.Withheld, withheld...)
		return kept
	}
	out.Inventory, out.Magic = cut(all.Inventory, keep), all.Magic
	out.Include, out.Set = cut(all.Include, keep), cut(all.Set, keep)
	out.Facts = cut(all.Facts, func(name string) bool { return keep(name) || keep("ansible_facts") || ownFact(name) })
	if steered := h.steered(ctx, host, all, out.Inventory); steered != nil {
		out.Inventory = plan.Dict{Dict: steered}
	}
	slices.Sort(out.Withheld)
	out.Withheld = slices.Compact(out.Withheld)
	return out
}

// ownFact reports whether a session reads a fact of its own host whatever its steps read.
func ownFact(name string) bool {
	return name == "module_setup" || result.Internal(name) || strings.HasPrefix(name, "discovered_")
}

// steered returns a host's variables with those rendered that say how its tasks are done and need the controller for
// it: a password that a lookup reads, say. Nil is that there are none.
func (h *Tasks) steered(ctx context.Context, host string, all wire.HostVars, inventory plan.Dict) *value.Dict {
	var out *value.Dict
	inventory.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		if !plan.Steers(name) || !templar.IsTemplate(v) || h.unit.Held(v, valuesOf(all)) {
			return true
		}
		if out == nil {
			out = inventory.Copy()
		}
		if rendered, err := h.render(ctx, host, v); err == nil {
			out.SetKey(k, value.Unsafe(rendered))
		}
		return true
	})
	return out
}

// more returns what a host can read since it was given more to do, or since its variables lead to others; nil is
// nothing. It assumes o.mu held.
func (h *Tasks) more(ctx context.Context, o *Task) *wire.More {
	all := h.mirror.Start(o.host)
	now := h.unit.Readable(o.fragments, valuesOf(all), steering(all)...)
	fresh := map[string]bool{}
	for name := range now {
		if !o.readable[name] {
			fresh[name] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	h.mu.Lock()
	o.readable = now
	h.mu.Unlock()
	keepFresh := func(name string) bool { return fresh[name] }
	m := &wire.More{Vars: h.vars(ctx, o.host, all, keepFresh), Roles: map[string]*plan.Role{}}
	m.Vars.Withheld, m.Vars.Magic = nil, plan.Dict{}
	whole := plan.Plan{Play: h.unit.Plan.Play, Roles: map[string]*plan.Role{}}
	if o.single != nil {
		whole.Play = layersOf(o.single.Shared())
	}
	for key, role := range h.unit.Plan.Roles {
		whole.Roles[key] = role
	}
	for _, f := range o.fragments {
		for key, role := range f.Roles {
			whole.Roles[key] = role
		}
	}
	cut := whole.Cut(keepFresh)
	m.Play, m.Roles = cut.Play, cut.Roles
	rest := whole.Cut(func(name string) bool { return now[name] })
	m.Withheld = append(rest.Play.Withheld, h.vars(ctx, o.host, all, func(name string) bool { return now[name] }).
		Withheld...)
	m.Play.Withheld = nil
	return m
}

// layersOf are layers of variables as a plan has them.
func layersOf(sh *vars.Shared) plan.Play {
	d := func(d *value.Dict) plan.Dict { return plan.Dict{Dict: d} }
	return plan.Play{
		RoleDefaults: d(sh.RoleDefaults), Vars: d(sh.Vars), VarsFiles: sh.VarsFiles, RoleVars: d(sh.RoleVars),
		Extra: d(sh.Extra), Magic: d(sh.Magic),
	}
}

// trim leaves of effects what hosts can read.
func trim(effects []wire.Effect, keep func(name string) bool) []wire.Effect {
	var out []wire.Effect
	for _, e := range effects {
		e.Vars, _ = plan.CutVars(e.Vars, keep)
		if e.Clear || e.Vars.Len() > 0 {
			out = append(out, e)
		}
	}
	return out
}

// readable reports whether any host that was given the plan can read a variable.
func (h *Tasks) readable(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.by {
		if o.readable[name] {
			return true
		}
	}
	return false
}
