package answer

import (
	"context"
	"fmt"
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// include compiles what a step includes. Hosts that include the same get the same fragments.
func (a *Answerer) include(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if step.Kind != plan.Include || b.Include == nil {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s includes nothing", ask.Step)}
	}
	fragments, paths, err := b.Include(ctx, ask.Step, slices.Index(b.Hosts, ask.Host), ask.Includes)
	if err != nil {
		return wire.Answer{}, err
	}
	for i := range fragments {
		f := &fragments[i]
		if b.first(ask.Step.Under(f.Index)) {
			a.handFiles(f, b)
			b.mentions.scanFragment(f)
			if b.Handed != nil {
				b.Handed(f)
			}
		}
	}
	return wire.Answer{Fragments: fragments, Paths: paths}, nil
}

// first tells whether a fragment is handed out for the first time.
func (b *batch) first(id plan.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.handed[id]
	b.handed[id] = true
	return !was
}

// handPlan makes the files that were sent ahead in a plan available.
func (a *Answerer) handPlan(b *batch) {
	a.handFiles(&plan.Fragment{Blocks: b.Plan.Blocks, Handlers: b.Plan.Handlers}, b)
}

// handFiles makes the files that were sent ahead in a fragment available.
func (a *Answerer) handFiles(f *plan.Fragment, b *batch) {
	plan.Walk(f.Blocks, func(s *plan.Step) { a.handStep(s, b) })
	for _, h := range f.Handlers {
		a.handStep(h.Step, b)
	}
}

func (a *Answerer) handStep(s *plan.Step, b *batch) {
	for _, file := range s.Files {
		a.Hand(file, b.Hosts)
	}
}
