package runner

import (
	"context"
	"sync"

	"hark/agent/internal/call"
	"hark/modules/py/value"
)

// The items of a loop whose jobs are awaited run together: each begins when the one before it waits for its job. Only
// the item that holds the turn does anything but wait, so the rest of the session need not know. Results are reported,
// and registered, in the order of the items.

// turn is an item's share of the common lock. The item holds mu except while it waits.
type turn struct {
	mu *sync.Mutex
	// yielded is called when the item begins to wait.
	yielded func()
}

// host returns this host, where an item passes the turn on while it waits for its job. With a nil turn it returns h.
func (b *turn) host(h call.Host) call.Host {
	wait := h.Jobs.Wait
	if b == nil || wait == nil {
		return h
	}
	h.Jobs.Wait = func(ctx context.Context, run, id string) (res *value.Dict, err error) {
		b.passWhile(func() { res, err = wait(ctx, run, id) })
		return res, err
	}
	return h
}

// passWhile lets the other items go on while this one waits. With a nil turn there are none.
func (b *turn) passWhile(wait func()) {
	if b != nil {
		b.yielded()
		b.mu.Unlock()
		defer b.mu.Lock()
	}
	wait()
}

// together does the task for all items at the same time. After an error it begins no more items.
func (l *loop) together(ctx context.Context) ([]*itemResult, error) {
	var mu sync.Mutex
	var running sync.WaitGroup
	var failure error // guarded by mu, as all that follows
	results := make([]*itemResult, len(l.items))
	told := 0
	for i := range l.items {
		begun := make(chan struct{})
		yielded := sync.OnceFunc(func() { close(begun) })
		running.Go(func() {
			defer yielded()
			mu.Lock()
			defer mu.Unlock()
			results[i] = l.item(ctx, i, newHostView(), &turn{&mu, yielded})
			for ; failure == nil && told < len(results) && results[told] != nil; told++ {
				failure = l.tell(ctx, results[told])
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
