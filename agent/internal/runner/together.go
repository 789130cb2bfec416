package runner

import (
	"context"
	"sync"

	"hark/agent/internal/call"
	"hark/modules/py/value"
)

// The items of a loop whose jobs are awaited run together: each is begun when the one before it waits for its job.
// Only one of them does anything else than wait at a time, the one that holds the baton; so the rest of the session
// knows nothing of it. Results are told, and registered, in the order of the items.

// baton is what an item has of it. The item holds mu but when it waits.
type baton struct {
	mu *sync.Mutex
	// yielded is called when the item begins to wait.
	yielded func()
}

// host is this host, where an item passes the baton on while it waits for its job. Without a baton it is what it was.
func (b *baton) host(h call.Host) call.Host {
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

// passWhile lets the other items go on while this one waits. Without a baton there are none.
func (b *baton) passWhile(wait func()) {
	if b != nil {
		b.yielded()
		b.mu.Unlock()
		defer b.mu.Lock()
	}
	wait()
}

// together does the task for all items at the same time. After an error no more items are begun.
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
			results[i] = l.item(ctx, i, newSight(), &baton{&mu, yielded})
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
