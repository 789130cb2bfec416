package play

import (
	"context"
	"fmt"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// ChangedError says that a run cannot go on where an earlier one was: something differs from then.
type ChangedError struct{ Text string }

func (e *ChangedError) Error() string { return e.Text }

// resume gives the hosts the variables that they had in the run that goes on.
func resume(r *runner) error {
	c := r.in.Resume
	switch {
	case c == nil:
		return nil
	case c.Why != "":
		return &ChangedError{c.Why}
	case c.Extra != digestOf(plan.Dict{Dict: r.in.Extra}):
		return &ChangedError{"the values of -e are not those of then"}
	}
	for host, v := range c.Vars {
		if digestOf(r.mirror.Start(host).Inventory) != v.Inventory {
			return &ChangedError{"the inventory has other variables for " + host + " than then"}
		}
		r.mirror.Restore(host, wire.HostVars{Facts: v.Facts, Include: v.Include, Set: v.Set})
	}
	r.hidden.recall(c.Secrets)
	return nil
}

// goOn goes on with a batch of an earlier run: first with the hosts that stood at a step, then with those that begin,
// since they were out before. Those that had come to the end do nothing.
func (p *playBatch) goOn(ctx context.Context, was *BatchPoint) (batchResult, error) {
	p.was, p.first = was, p.id
	later, anew := map[string]Position{}, map[string]Position{}
	took := map[string]bool{}
	for _, h := range was.Hosts {
		took[h] = true
	}
	for _, h := range p.left(p.hosts) {
		at, failed := was.Failed[h]
		switch {
		case failed && at.Step != "":
			later[h] = at
		case failed || !took[h]:
			anew[h] = Position{}
		}
	}
	res := batchResult{status: statusOf(p.r.states)}
	for i, entry := range []map[string]Position{later, anew} {
		if len(entry) == 0 || res.Broken || res.EndPlay {
			continue
		}
		p.id = p.first
		if i > 0 {
			p.id += ".1" // events of the sessions that are over must not be taken for theirs
		}
		one, err := p.drive(ctx, entry)
		if err != nil {
			return one, err
		}
		res = one
	}
	return res, nil
}

// unchanged returns what differs from the plan of then.
func (p *playBatch) unchanged(now *plan.Plan) error {
	if planDigest(now) == p.was.Plan {
		return nil
	}
	return &ChangedError{fmt.Sprintf("the play [%s] is not what it was: its tasks, variables, hosts or options differ",
		p.settings.Name)}
}

// entered returns the hosts that enter the batch, in its order.
func (p *playBatch) entered(entry map[string]Position) []string {
	var out []string
	for _, h := range p.left(p.hosts) {
		if _, enters := entry[h]; enters || entry == nil {
			out = append(out, h)
		}
	}
	return out
}

// isLater reports whether hosts enter behind the beginning.
func isLater(entry map[string]Position) bool {
	for _, at := range entry {
		return at.Step != "" // all are alike
	}
	return false
}

// withoutGathering takes the gathering of facts out of a plan: the hosts have theirs.
func withoutGathering(p *plan.Plan) {
	if len(p.Blocks) == 0 || len(p.Blocks[0].Body) != 1 {
		return
	}
	if s := p.Blocks[0].Body[0].Step; s != nil && s.Implicit && s.Kind == plan.Task {
		p.Blocks = p.Blocks[1:]
	}
}

// enter has only some hosts enter, each where it stands in the batch with the ID.
func enter(b *batchRun, id string, entry map[string]Position) {
	if entry == nil {
		return
	}
	b.included.Recall(b.r.points.of(id).Fragments)
	b.starts.ResumeAt, b.starts.Notified = map[string]plan.ID{}, map[string][]string{}
	for h, at := range entry {
		b.starts.ResumeAt[h], b.starts.Notified[h] = at.Step, at.Notified
		b.tracker.Owes(h, at.Step, at.Notified)
	}
}

// brings takes in what an include has brought. Hosts that go on must not do what was done for them.
func (p *playBatch) brings(b *batchRun, step plan.ID, f *plan.Fragment) error {
	if once := b.brought.note(step, f); !once {
		return nil
	}
	p.r.points.cannot("an include has brought a task that one host does for all (run_once)")
	if p.was != nil {
		return &ChangedError{"an include brings a task that one host does for all (run_once), and another may have done it"}
	}
	return nil
}
