package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hark/agent/evaluate"
	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// doStep evaluates a step for a host that has handed it over, and does it: what touches the host goes to its agent as calls. What came of it
// is told as events of the controller's own before the host hears of it.
func (b *batchRun) doStep(ctx context.Context, ask wire.Ask) (*wire.Did, error) {
	h := b.handouts.of(ask.Host)
	if h == nil {
		return nil, fmt.Errorf("host %q has no steps to hand over", ask.Host)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var s *plan.Step
	var refused error
	if err := b.aside(ctx, func() { s, refused = b.turn(h, ask.Step) }); err != nil || refused != nil {
		return nil, firstError(refused, err)
	}
	single := b.single(h)
	at := evaluate.Stand{Step: s, ID: ask.Step, Failing: ask.Failing, Vars: b.r.mirror.Start(ask.Host)}
	var lasting bool
	at.Rescuing, lasting = b.steps.Standing(ask.Step)
	within, end := b.within(ctx, lasting)
	defer end()
	did, err := single.Do(within, at)
	if err != nil || did == nil {
		return nil, firstError(err, fmt.Errorf("step %s was not done", ask.Step))
	}
	b.complete(ctx, h, s, ask.Step, did)
	return did, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// complete adds to what a host hears of a step what it can read from now on, and takes away what it cannot. It assumes h.mu held.
func (b *batchRun) complete(ctx context.Context, h *handout, s *plan.Step, id plan.ID, did *wire.Did) {
	for i := range did.Fragments {
		f := did.Fragments[i]
		h.fragments = append(h.fragments, &f)
		h.under = append(h.under, id.Under(f.Index))
	}
	templates := slices.ContainsFunc(did.Outcome.Effects, func(e wire.Effect) bool { return e.Vars.Dict != nil && templar.IsTemplate(e.Vars.Dict) })
	if len(did.Fragments) > 0 || templates {
		did.More = b.handouts.more(ctx, h)
	}
	keep := func(name string) bool { return h.readable[name] }
	did.Outcome.Effects = slices.DeleteFunc(did.Outcome.Effects, func(e wire.Effect) bool { return e.Host != "" && e.Host != h.host })
	did.Outcome.Effects = trim(did.Outcome.Effects, keep)
	for i := range did.Fragments {
		did.Fragments[i] = did.Fragments[i].Cut(keep)
	}
	if b.changesHosts(s) {
		own := b.handouts.vars(ctx, h.host, b.r.mirror.Start(h.host), keep)
		did.Vars = &own
	}
}

// changesHosts tells whether a step may change the variables that hosts have from the inventory.
func (b *batchRun) changesHosts(s *plan.Step) bool {
	return s.Kind == plan.Meta || b.r.in.Modules.Has(s.Action, modules.ChangesInventory)
}

// turn tells whether it is a host's turn to be at a step, and notes that it is. A host says where it stands; where it may stand, and that it
// comes to no step twice, the controller knows.
func (b *batchRun) turn(h *handout, id plan.ID) (*plan.Step, error) {
	s := b.steps.Step(id)
	switch {
	case s == nil || !b.given(h, id):
		return nil, fmt.Errorf("the plan of host %q has no step %q", h.host, id)
	case !b.machine.Live(h.host):
		return nil, fmt.Errorf("host %q takes no part any more", h.host)
	case h.asked[id]:
		return nil, fmt.Errorf("step %s was done for host %q before", id, h.host)
	case h.last != "" && plan.Compare(id, h.last) <= 0 && b.steps.Section(id) != plan.InRescue:
		return nil, fmt.Errorf("host %q is past step %s", h.host, id)
	case !b.released(s, id, h.host):
		return nil, fmt.Errorf("it is not the turn of host %q at step %s", h.host, id)
	case b.r.cause() == nil && !b.comesTo(h.host, id):
		return nil, fmt.Errorf("host %q has left out a step before %s", h.host, id)
	}
	h.asked[id], h.last = true, id
	return s, nil
}

// given tells whether a step is of the plan, or of a fragment that the host was given.
func (b *batchRun) given(h *handout, id plan.ID) bool {
	if b.steps.Included(id) && !slices.ContainsFunc(h.under, func(under plan.ID) bool { return id.Within(under) }) {
		return false
	}
	s := b.steps.Step(id)
	is := func(handler plan.Handler) bool { return handler.Step.ID == s.ID }
	return s.ID == id || slices.ContainsFunc(b.plan.Handlers, is) ||
		slices.ContainsFunc(h.fragments, func(f *plan.Fragment) bool { return slices.ContainsFunc(f.Handlers, is) })
}

// released tells whether a host was let go for a step, where the play has a gate before it.
func (b *batchRun) released(s *plan.Step, id plan.ID, host string) bool {
	p := &b.plan.Play
	return !p.Gated || !s.Gate && !p.AllGated || s.Implicit && s.Kind == plan.Meta || b.machine.LetGo(host, id)
}

// single is what does steps for a host. It assumes h.mu held.
func (b *batchRun) single(h *handout) *evaluate.Host {
	if h.single == nil {
		start := b.opens(h.host)
		start.Vars, start.Remote = b.r.mirror.Start(h.host), true
		start.Reach, start.Ways, start.Resident = b.r.in.Reach, b.r.in.Ways, true
		h.single = evaluate.New(evaluate.Config{
			Modules: b.r.in.Modules, Engine: b.r.in.Templates.Engine,
			Ask: func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
				if err := ctx.Err(); err != nil {
					return wire.Answer{}, err
				}
				return b.r.answers.Answer(ctx, a), nil
			},
			Emit: func(e wire.Event) {
				e.Own, e.Time = true, time.Now()
				_ = b.aside(b.ends, func() { b.handle(e) }) // nobody listens any more when the batch is over
			},
		}, b.plan, start)
	}
	return h.single
}

// within is the context in which a step is done: that of the question, and of the batch; cancelling the run ends steps but those of always
// sections.
func (b *batchRun) within(ctx context.Context, lasting bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stops := []func() bool{context.AfterFunc(b.ends, cancel)}
	if !lasting {
		stops = append(stops, context.AfterFunc(b.soft, cancel))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// ownVars are the variables of a host as they are now, for its agent.
func (b *batchRun) ownVars(ctx context.Context, ask wire.Ask) (*wire.Did, error) {
	all := b.r.mirror.Start(ask.Host)
	h := b.handouts.of(ask.Host)
	if h == nil {
		return &wire.Did{Vars: &all}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	keep := func(name string) bool { return h.readable[name] }
	did := &wire.Did{}
	if slices.ContainsFunc(b.plan.Play.VarsFiles, func(f plan.VarsFile) bool { return f.Late }) {
		late, err := b.single(h).Late(ctx, all)
		if err != nil {
			return nil, err
		}
		did.Late = map[int]plan.Dict{}
		for i, d := range late {
			did.Late[i], _ = plan.CutVars(plan.Dict{Dict: d}, keep)
		}
	}
	own := b.handouts.vars(ctx, ask.Host, all, keep)
	did.Vars, did.More = &own, b.handouts.more(ctx, h)
	return did, nil
}

// admit takes of an agent's event what it may say: how its own host fared at a step that the host evaluates. What follows for others the
// controller concludes itself. It is false if the event says what an agent cannot know.
func (b *batchRun) admit(e *wire.Event) bool {
	s := b.steps.Step(e.Step)
	switch e.Kind {
	case wire.AtGate, wire.Ended, wire.Warning:
		e.Outcome = nil
		return true
	case wire.Broken:
		b.hears(*e, s)
		return false
	}
	if s == nil || e.Kind == wire.Done && e.Outcome == nil {
		b.doubt(e.Host, fmt.Sprintf("it tells of step %q, which its plan does not have", e.Step))
		return false
	}
	if o := e.Outcome; o != nil {
		o.FailAll, o.Included, o.Shown, o.Delegated = false, nil, false, ""
		if s.Kind != plan.Meta || o.Meta != steps.RawText(s, "_raw_params") {
			o.Meta = ""
		}
		if e.Adopted {
			o.Effects, o.Notify = nil, nil
		}
	}
	if e.Kind == wire.Notified {
		return true
	}
	mine := s.Evaluator == plan.Controller || b.handedOver(e.Host, e.Step)
	skipped := s.Guard && e.Kind == wire.Done && e.Outcome.Status == wire.Skipped
	lost := e.Kind == wire.Done && e.Outcome.Status == wire.StatusUnreachable // its agent was restarted
	cancelled := e.Kind == wire.Done && e.Outcome.Cancelled
	if mine && !e.Adopted && !skipped && !lost && !cancelled {
		b.doubt(e.Host, fmt.Sprintf("it tells of step %s, which the controller does", e.Step))
		return false
	}
	return true
}

// handedOver tells whether a host has handed a step over that was its own.
func (b *batchRun) handedOver(host string, id plan.ID) bool {
	h := b.handouts.of(host)
	return h != nil && h.asked[id]
}

// hears judges what an agent says has broken the run. Only that a handler is not there can come up on a host, when it is known what a step
// notifies.
func (b *batchRun) hears(e wire.Event, s *plan.Step) {
	h := b.handouts.of(e.Host)
	if h == nil || s == nil || s.Notify.IsZero() || s.Evaluator == plan.Controller {
		b.doubt(e.Host, "it says that the run cannot go on")
		return
	}
	b.judging++
	b.r.work.Go(func() {
		missing := b.missing(h, s)
		_ = b.aside(b.ends, func() {
			b.judging--
			if missing == "" {
				b.doubt(e.Host, "it says that the run cannot go on")
			} else if b.fatal == nil {
				b.fatal = errors.New(evaluate.MissingHandler(missing))
			}
		})
	})
}

// missing is a handler that a step notifies and its host does not have, "" if there is none.
func (b *batchRun) missing(h *handout, s *plan.Step) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return b.single(h).Missing(b.ends, s, b.r.mirror.Start(h.host))
}

// doubt gives a host up whose agent says what no agent of ours would.
func (b *batchRun) doubt(host, why string) {
	b.unreachable(host, "the agent of "+host+" is not believed: "+why)
	b.publish(wire.Advance{Drop: []string{host}})
}

// mostVariables is how much the variables that one host's agent tells of may take in this process, in bytes.
const mostVariables = 128 << 20

// fits tells whether a host's variables stay within what one host may take.
func (b *batchRun) fits(host string, effects []wire.Effect) bool {
	h := b.handouts.of(host)
	if h == nil {
		return true
	}
	for _, e := range effects {
		e.Vars.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			name = e.Layer + "/" + name
			weight := len(name) + weigh(v)
			h.weight += weight - h.told[name]
			h.told[name] = weight
			return true
		})
	}
	return h.weight <= mostVariables
}

// weigh is about how many bytes a value takes.
func weigh(v value.Value) int {
	const node = 32
	n := node
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			n += weigh(item)
		}
	case *value.Dict:
		for i := range v.Len() {
			k, item := v.Kept(i) // lines that nobody has read take nothing
			n += 2*node + weigh(k) + weigh(item)
		}
	case *value.Lines:
	default:
		text, _ := value.Text(v)
		n += len(text)
	}
	return n
}
