package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Who holds the answers evaluates a step. A session on a host hands over to the controller what the plan says is the
// controller's, and any step of its own in which it meets something that it does not hold, as long as nothing of it
// was done. It says where it stands and nothing else; what comes back is what the step did to this host.

// travels tells the questions that a session on a host may ask.
func travels(k wire.AskKind) bool {
	switch k {
	case wire.AskStep, wire.AskOwn, wire.AskBlob, wire.AskPlan, wire.AskUpload:
		return true
	}
	return false
}

// lazy answers the names of a scope that are not plain variables: what lies outside the host, and what this session
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

// far is the world beyond its host as a step sees it, made when the step first looks: few do.
type far struct {
	e    *eval
	made *hostvars.Step
}

func (f *far) step() *hostvars.Step {
	if f.made == nil {
		f.made = hostvars.New(f.e.g.outside(f.e.lookup), f.e.id)
	}
	return f.made
}

// passes judges the conditions of a step where the plan lets the host do so before it does the step, or hands it
// over: one that is skipped concerns nobody else. It is false if they hold, or cannot be judged.
func (r *walk) passes(ctx context.Context, s *plan.Step, id plan.ID) (f flow, skipped bool, err error) {
	t, err := newTask(ctx, r.ground, s, id, r.at.rescuing())
	if err != nil {
		return failed, false, err
	}
	contextErr := t.base.context(ctx, t.f)
	ok, _, err := t.base.tpl.Condition(ctx, conditions(s.When)...)
	if err != nil || contextErr != nil || ok || r.held.isBeyond() {
		return onward, false, nil // they are judged anew when the step is done, and what is wrong is said
	}
	f, err = r.conclude(ctx, t, skippedResult(t.f))
	return f, true, err
}

// hand gives a step to the controller and takes over what came of it.
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

// take walks on from a step that the controller has done.
func (r *walk) take(ctx context.Context, s *plan.Step, id plan.ID, did *wire.Did) (flow, error) {
	r.know(did)
	o := &did.Outcome
	r.apply(o.Effects)
	for _, notified := range did.Notified {
		r.handlers.marked(id, notified)
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

// Single does single steps of a host for the controller, which holds the answers: over the variables of its mirror,
// with the calls that touch the host sent there. It keeps what a host keeps from step to step of a play beside its
// variables. Its methods may be called from one goroutine at a time.
type Single struct{ walk *walk }

// NewSingle makes one for a host of a plan. cfg needs Modules, Ask and Emit; start is what a session of the host
// would begin with.
func NewSingle(cfg Config, p *plan.Plan, start wire.Start) *Single {
	cfg = New(cfg).cfg
	cfg.Own = true
	r := newWalk(cfg, p, start)
	r.handlers.apart = &r.notified
	return &Single{r}
}

// Do evaluates and does the step where the host stands, with the variables that it has now. The events, the last of
// which is Done, went to Config.Emit. The error says that the run itself broke.
func (s *Single) Do(ctx context.Context, at plan.Stand, now wire.HostVars) (*wire.Did, error) {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	r.cancel.lasting, r.notified, r.passed.ran, r.stale = ctx, nil, map[string]bool{}, false // the variables are those of this moment
	r.at.frames = standing(at)
	r.at.flushing, r.job = "", at.Job
	if at.ID != at.Step.ID {
		r.at.flushing = at.ID
	}
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
		Notified: r.notified, Ran: len(r.passed.ran) > 0, Fragments: fragments,
	}
	return did, nil
}

// standing are frames that tell of a host what r.at.frames would.
func standing(at plan.Stand) []frame {
	outer := frame{block: &plan.Block{}, section: plan.InAlways, failed: at.Failing}
	inner := frame{block: &plan.Block{}, section: plan.InAlways}
	if at.Rescuing {
		inner.section, inner.block = plan.InBody, &plan.Block{Rescue: []plan.Node{{}}}
	}
	return []frame{outer, inner}
}

// Late are the contents of the play's vars_files whose names hold templates, by their index, for the host's variables
// as they are now.
func (s *Single) Late(ctx context.Context, now wire.HostVars) (map[int]*value.Dict, error) {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	if err := r.lateVarsFiles(ctx); err != nil {
		return nil, err
	}
	return r.vars.Late, nil
}

// Shared are the layers of the play with what fragments have made public.
func (s *Single) Shared() *vars.Shared { return s.walk.shared }

// Missing is the first of the handlers that a step notifies to which nobody answers, "" if all are there.
func (s *Single) Missing(ctx context.Context, step *plan.Step, now wire.HostVars) string {
	r := s.walk
	r.know(&wire.Did{Vars: &now})
	e := r.newEval(step, step.ID, nil)
	rd := &reader{ctx: ctx, e: e}
	r.notified = nil
	return r.handlers.notify(ctx, step.ID, rd.texts("notify", step.Notify))
}

// MissingHandler is what Ansible says of a handler that nobody answers to.
func MissingHandler(name string) string {
	return "The requested handler '" + name + "' was not found in either the main handlers list nor in the listening handlers list"
}
