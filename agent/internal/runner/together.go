package runner

import (
	"context"
	"slices"
	"sync"

	"hark/agent/internal/call"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// The items of a loop whose jobs are awaited run together: each is begun when the one before it waits for its job. Only one of
// them does anything else than wait at a time, the one that holds the baton; so the rest of the session knows nothing of it.
// Results are told, and registered, in the order of the items.

// baton is what an item has of it. The item holds mu but when it waits.
type baton struct {
	mu *sync.Mutex
	// yielded is called when the item begins to wait.
	yielded func()
}

// together tells whether the items of the loop may run at the same time. They run one after the other if the user says so (throttle,
// loop_control with pause or break_when), or if an item may look at the result of the one before.
func (t *task) together(c *control) bool {
	s := t.s
	if s.Async.IsZero() || len(s.Until) > 0 || len(s.Loop.BreakWhen) > 0 || c.pause > 0 || !s.Throttle.IsZero() || s.Kind == plan.Include {
		return false
	}
	if s.Register == "" {
		return true
	}
	read := templar.ReadConditions(conditions(s.When)...)
	names, complete := read.Names, read.Complete
	for _, v := range []value.Value{dictOr(s.Args.Dict, nil), dictOr(s.Vars.Dict, nil), value.NewList(conditions(s.Environment)...)} {
		more := templar.Read(v)
		names, complete = append(names, more.Names...), complete && more.Complete
	}
	return complete && !slices.Contains(names, s.Register)
}

// host is this host, where an item passes the baton on while it waits for its job.
func (x *execution) host() call.Host {
	h := x.e.r.cfg.here()
	wait := h.Jobs.Wait
	if x.baton == nil || wait == nil {
		return h
	}
	h.Jobs.Wait = func(ctx context.Context, run, id string) (res *value.Dict, err error) {
		x.whileWaiting(func() { res, err = wait(ctx, run, id) })
		return res, err
	}
	return h
}

// whileWaiting lets the other items go on while this one waits.
func (x *execution) whileWaiting(wait func()) {
	if b := x.baton; b != nil {
		b.yielded()
		b.mu.Unlock()
		defer b.mu.Lock()
	}
	wait()
}

// runTogether does the task for all items at the same time. After an error no more items are begun.
func (t *task) runTogether(ctx context.Context, c *control, items []value.Value) ([]*itemResult, error) {
	var mu sync.Mutex
	var running sync.WaitGroup
	var failure error // guarded by mu, as all that follows
	results := make([]*itemResult, len(items))
	told := 0
	for i := range items {
		begun := make(chan struct{})
		yielded := sync.OnceFunc(func() { close(begun) })
		running.Go(func() {
			defer yielded()
			mu.Lock()
			defer mu.Unlock()
			results[i] = t.perform(ctx, c, items, i, newSight(), &baton{&mu, yielded})
			for ; failure == nil && told < len(results) && results[told] != nil; told++ {
				failure = t.tell(ctx, c, results[told])
			}
		})
		<-begun
		mu.Lock()
		stop := failure != nil
		mu.Unlock()
		if stop {
			break
		}
	}
	running.Wait()
	return results, failure
}
