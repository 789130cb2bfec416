package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Whoever holds the answers evaluates a step. A session on a host hands over to the controller the controller's steps,
// and any step of its own that needs something it does not hold, as long as nothing of it was done. It says where it
// stands and nothing else. The answer says what the step did to this host.

// travels reports whether a session on a host may ask a kind of question.
func travels(k wire.AskKind) bool {
	switch k {
	case wire.AskStep, wire.AskOwn, wire.AskBlob, wire.AskPlan, wire.AskUpload:
		return true
	}
	return false
}

// lazy resolves the names of a scope that are not plain variables: what lies outside the host, and what this session
// does not hold.
func (e *eval) lazy(ctx context.Context, name string) (value.Value, bool, error) {
	if !e.g.held.has(e.s, name) || name == "vars" && !e.g.held.has(e.s, "") {
		return nil, false, e.g.held.beyondHere()
	}
	if name == "_task" && e.current != nil {
		return e.current, true, nil
	}
	if !hostvars.Answers(name) {
		return nil, false, nil
	}
	return e.far.step().Lazy(ctx, name)
}

// far is what a step sees beyond its host. It is made when a step first looks, and few do.
type far struct {
	e    *eval
	made *hostvars.Step
}

func (f *far) step() *hostvars.Step {
	if f.made == nil {
		f.made = hostvars.New(f.e.g.hostvarsSession(f.e.lookup), f.e.id)
	}
	return f.made
}

// passes judges the conditions of a step where the plan lets the host do so before it does the step or hands it over: a
// skipped step concerns nobody else. It returns false if they hold or cannot be judged.
func (r *walk) passes(ctx context.Context, s *plan.Step, id plan.ID) (f flow, skipped bool, err error) {
	t, err := newTask(ctx, r.playState, s, id, r.at.rescuing())
	if err != nil {
		return failed, false, err
	}
	contextErr := t.base.context(ctx, t.f)
	ok, _, err := t.base.tpl.Condition(ctx, conditions(s.When)...)
	if err != nil || contextErr != nil || ok || r.held.isBeyond() {
		return onward, false, nil // they are judged again when the step is done, and an error is shown then
	}
	f, err = r.conclude(ctx, t, skippedResult(t.f))
	return f, true, err
}

// hand returns a step to the controller and applies the answer.
func (r *walk) hand(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	if s.Guard {
		r.held.fresh()
		if f, skipped, err := r.passes(ctx, s, id); err != nil || skipped {
			if !errors.Is(err, errBeyond) {
				return f, err
			}
		}
	}
	r.held.fresh()
	a, err := r.line.ask(ctx, wire.Ask{Kind: wire.AskStep, Step: id, Failing: r.at.failing()})
	switch {
	case err != nil:
		return failed, err
	case a.Err != "" || a.Did == nil:
		return failed, fmt.Errorf("the controller does not do step %s: %s", id, a.Err)
	}
	return r.take(ctx, s, id, a.Did)
}

// take goes on after a step that the controller has done.
func (r *walk) take(ctx context.Context, s *plan.Step, id plan.ID, did *wire.Did) (flow, error) {
	r.know(did)
	o := &did.Outcome
	r.at.keep(o)
	r.apply(o.Effects)
	for _, notified := range did.Notified {
		r.handlers.marked(id, notified)
	}
	for _, name := range did.Names {
		r.handlers.save(name)
	}
	if role := r.roles[s.Role]; role != nil && did.Ran {
		r.passed.ran[role.Identity] = true
	}
	for i := range did.Fragments {
		fragment := &did.Fragments[i]
		r.shared = r.shared.Extend(fragment)
		r.held.withhold(fragment.Withheld)
		r.join(fragment.Roles, fragment.Handlers, fragment.Blocks)
	}
	switch {
	case o.Status == wire.StatusUnreachable && !o.Ignored:
		return unreachable, nil
	case o.Status == wire.StatusFailed && !o.Ignored:
		return r.at.failure(), nil
	case o.Meta != "" && o.Status != wire.Skipped:
		return r.metaEffect(o.Meta), nil
	}
	return r.fragments(ctx, did.Fragments)
}

// Single does single steps of a host in the controller, which holds the answers: over the variables of its mirror, and
// with calls to the host. It keeps what a host keeps from step to step of a play beside its variables. One goroutine at
// a time may call its methods.
type Single struct{ walk *walk }

// NewSingle returns a Single for a host of a plan. cfg needs Modules, Ask and Emit; start is the Start of a session of
// the host.
func NewSingle(cfg Config, p *plan.Plan, start wire.Start) *Single {
	cfg = New(cfg).cfg
	cfg.Own = true
	r := newWalk(cfg, p, start)
	r.handlers.apart = &r.notified
	return &Single{r}
}

// Do evaluates and does the step where the host stands, with its present variables. It sends the events to Config.Emit,
// Done last. An error means that the run itself broke.
func (s *Single) Do(ctx context.Context, at plan.Stand, now wire.HostVars) (*wire.Did, error) {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	// the variables are those of this moment
	r.cancel.lasting, r.notified, r.passed.ran, r.stale = ctx, notified{}, map[string]bool{}, false
	r.at.frames = resumeFrames(at)
	r.at.flushing, r.job = "", at.Job
	if at.ID != at.Step.ID {
		r.at.flushing = at.ID
	}
	r.handlers.now = r.at.flushing != ""
	var err error
	var fragments []plan.Fragment
	switch at.Step.Kind {
	case plan.Meta:
		_, err = r.meta(ctx, at.Step, at.ID)
	case plan.Include:
		_, fragments, err = r.bring(ctx, at.Step, at.ID)
	default:
		_, err = r.task(ctx, at.Step, at.ID)
	}
	done := r.line.pending
	r.line.settle("")
	if err != nil && ctx.Err() != nil && r.line.broken() == nil {
		r.cancel.cut(at.ID)
		done, err = r.line.pending, nil
		r.line.settle("")
	}
	if err != nil || done == nil || done.Outcome == nil {
		return nil, err
	}
	o := done.Outcome
	did := &wire.Did{
		Outcome:  wire.Outcome{Status: o.Status, Ignored: o.Ignored, Meta: o.Meta, Effects: o.Effects},
		Notified: r.notified.steps, Names: r.notified.names, Ran: len(r.passed.ran) > 0, Fragments: fragments,
	}
	return did, nil
}

// resumeFrames returns frames with what r.at.frames would say of the host.
func resumeFrames(at plan.Stand) []frame {
	outer := frame{block: &plan.Block{}, section: plan.InAlways, failed: at.Failing}
	inner := frame{block: &plan.Block{}, section: plan.InAlways}
	if at.Rescuing {
		inner.section, inner.block = plan.InBody, &plan.Block{Rescue: []plan.Node{{}}}
	}
	return []frame{outer, inner}
}

// Late returns the contents of the play's vars_files whose names hold templates, by their index, for the host's present
// variables.
func (s *Single) Late(ctx context.Context, now wire.HostVars) (map[int]*value.Dict, error) {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	if err := r.lateVarsFiles(ctx); err != nil {
		return nil, err
	}
	return r.vars.Late, nil
}

// Shared returns the layers of the play with what fragments have made public.
func (s *Single) Shared() *vars.Shared { return s.walk.shared }

// Missing returns the first handler name that a step notifies and no handler has, "" if all exist.
func (s *Single) Missing(ctx context.Context, step *plan.Step, now wire.HostVars) string {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	e := r.newEval(step, step.ID, nil)
	rd := &reader{ctx: ctx, e: e}
	r.notified = notified{}
	return r.handlers.notify(ctx, step.ID, rd.texts("notify", step.Notify))
}

// MissingHandler returns Ansible's message about a handler that does not exist.
func MissingHandler(name string) string {
	return dialect.HandlerNotFound.Text(name)
}
