package handover

import (
	"context"
	"fmt"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// ExecutorConfig is what an Executor needs of its batch.
type ExecutorConfig struct {
	Plan    *plan.Plan
	Steps   *steps.Set
	Modules *modules.Registry
	// Evaluator makes what does the controller's steps for a host, from the variables that it has now. It is called
	// once for a host, from any goroutine.
	Evaluator func(host string, now wire.HostVars) Evaluator
}

// Evaluator runs single steps for one host, and reports their results before the host gets them. The variables
// are those that the host has at that moment. Its methods are called one at a time, with the host's handout locked.
type Evaluator interface {
	// Do does the step where the host stands. Nothing, without an error, is that it was not done.
	Do(ctx context.Context, at plan.Stand, now wire.HostVars) (*wire.Did, error)
	// Late are the contents of the play's vars_files whose names hold templates, by their index.
	Late(ctx context.Context, now wire.HostVars) (map[int]*value.Dict, error)
	// Missing is the first of the handlers that a step notifies to which nobody answers, "" if all are there.
	Missing(ctx context.Context, s *plan.Step, now wire.HostVars) string
	// Shared are the layers of the play, with what fragments have made public.
	Shared() *vars.Shared
}

// Executor does the steps that hosts hand over: what touches a host goes to its agent as calls. Its methods with a
// Task assume that locked, if they do not say otherwise.
type Executor struct {
	*Tasks
	c ExecutorConfig
}

// NewExecutor returns the Executor of a batch.
func NewExecutor(h *Tasks, c ExecutorConfig) *Executor { return &Executor{h, c} }

// Do does a step for a host that stands there, and gives what the host has to hear of it. within is how long the step
// may take, ctx how long the host waits.
func (d *Executor) Do(ctx, within context.Context, h *Task, at plan.Stand) (*wire.Did, error) {
	did, err := d.single(h).Do(within, at, d.mirror.Start(h.host))
	switch {
	case err != nil:
		return nil, err
	case did == nil:
		return nil, fmt.Errorf("step %s was not done", at.ID)
	}
	d.complete(ctx, h, at.Step, at.ID, did)
	return did, nil
}

// JudgeJob has a step judged by how a job has ended that its host has left behind. Nil is that nobody can say.
func (d *Executor) JudgeJob(ctx context.Context, h *Task, s *plan.Step, job string) *wire.Did {
	did, _ := d.single(h).Do(ctx, plan.Stand{Step: s, ID: s.ID, Job: job}, d.mirror.Start(h.host))
	return did
}

// Missing returns a handler that a step notifies and its host does not have, "" if there is none. It locks the
// handout.
func (d *Executor) Missing(ctx context.Context, h *Task, s *plan.Step) string {
	h.Lock()
	defer h.Unlock()
	return d.single(h).Missing(ctx, s, d.mirror.Start(h.host))
}

// OwnVars returns the variables of a host as they are now, for its agent. It locks the handout of the host.
func (d *Executor) OwnVars(ctx context.Context, host string) (*wire.Did, error) {
	all := d.mirror.Start(host)
	h := d.Of(host)
	if h == nil {
		return &wire.Did{Vars: &all}, nil
	}
	h.Lock()
	defer h.Unlock()
	keep := func(name string) bool { return h.readable[name] }
	did := &wire.Did{}
	if slices.ContainsFunc(d.c.Plan.Play.VarsFiles, func(f plan.VarsFile) bool { return f.Late }) {
		late, err := d.single(h).Late(ctx, all)
		if err != nil {
			return nil, err
		}
		did.Late = map[int]plan.Dict{}
		for i, v := range late {
			did.Late[i], _ = plan.CutVars(plan.Dict{Dict: v}, keep)
		}
	}
	own := d.vars(ctx, host, all, keep)
	did.Vars, did.More = &own, d.more(ctx, h)
	return did, nil
}

// Pending explains why a step is none that a host hands over now: it has no such step, or is past it. The handout need
// not be locked.
func (d *Executor) Pending(h *Task, id plan.ID) error {
	switch {
	case d.c.Steps.Step(id) == nil || !d.given(h, id):
		return fmt.Errorf("the plan of host %q has no step %q", h.host, id)
	case h.asked[id]:
		return fmt.Errorf("step %s was done for host %q before", id, h.host)
	case h.last != "" && plan.Compare(id, h.last) <= 0 && d.c.Steps.Section(id) != plan.InRescue:
		return fmt.Errorf("host %q is past step %s", h.host, id)
	}
	return nil
}

// given reports whether a step is of the plan, or of a fragment that the host was given.
func (d *Executor) given(h *Task, id plan.ID) bool {
	if d.c.Steps.Included(id) && !slices.ContainsFunc(h.under, func(under plan.ID) bool { return id.Within(under) }) {
		return false
	}
	s := d.c.Steps.Step(id)
	is := func(handler plan.Handler) bool { return handler.Step.ID == s.ID }
	return s.ID == id || slices.ContainsFunc(d.c.Plan.Handlers, is) ||
		slices.ContainsFunc(h.fragments, func(f *plan.Fragment) bool { return slices.ContainsFunc(f.Handlers, is) })
}

// single returns what does steps for a host.
func (d *Executor) single(h *Task) Evaluator {
	if h.single == nil {
		h.single = d.c.Evaluator(h.host, d.mirror.Start(h.host))
	}
	return h.single
}

// complete adds to what a host hears of a step what it can read from now on, and takes away what it cannot.
func (d *Executor) complete(ctx context.Context, h *Task, s *plan.Step, id plan.ID, did *wire.Did) {
	for i := range did.Fragments {
		f := did.Fragments[i]
		h.fragments = append(h.fragments, &f)
		h.under = append(h.under, id.Under(f.Index))
	}
	templates := slices.ContainsFunc(did.Outcome.Effects,
		func(e wire.Effect) bool { return e.Vars.Dict != nil && templar.IsTemplate(e.Vars.Dict) })
	if len(did.Fragments) > 0 || templates {
		did.More = d.more(ctx, h)
	}
	keep := func(name string) bool { return h.readable[name] }
	did.Outcome.Effects = slices.DeleteFunc(did.Outcome.Effects,
		func(e wire.Effect) bool { return e.Host != "" && e.Host != h.host })
	did.Outcome.Effects = trim(did.Outcome.Effects, keep)
	for i := range did.Fragments {
		did.Fragments[i] = did.Fragments[i].Cut(keep)
	}
	if s.Kind == plan.Meta || d.c.Modules.Has(s.Action, modules.ChangesInventory) {
		own := d.vars(ctx, h.host, d.mirror.Start(h.host), keep)
		did.Vars = &own
	}
}

// Asked reports whether a step was done for the host. Like Take it is for the goroutine of the batch, and nil has
// handed nothing over.
func (h *Task) Asked(id plan.ID) bool { return h != nil && h.asked[id] }

// Take notes that a step is done for the host.
func (h *Task) Take(id plan.ID) { h.asked[id], h.last = true, id }

// ForAll are effects as all agents of the run may see them, and those of the hosts that have to ask for the rest:
// their sessions are in this process and have every variable.
func (h *Tasks) ForAll(effects []wire.Effect, hosts []string) (shared []wire.Effect, ask []string) {
	if len(effects) == 0 || h == nil {
		return effects, nil
	}
	for _, host := range hosts {
		if h.Of(host) == nil {
			ask = append(ask, host)
		}
	}
	own := slices.DeleteFunc(slices.Clone(effects), func(e wire.Effect) bool { return e.Host != "" })
	return trim(own, h.readable), ask
}
