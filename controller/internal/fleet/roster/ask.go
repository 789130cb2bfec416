package roster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"hark/agent/wire"
)

// NATS sends an answer to whatever subject a request names. So whoever has access to the broker can put one in the place
// of what an agent has said of itself. It is not signed, so it says nothing, but the agent's own word is gone. Then the
// roster asks the agent.

const (
	// mostAsked is how many agents are asked each time that the roster is read. Those on record come first: anybody can
	// make up ids.
	mostAsked = 10_000
	// askedAtOnce is how many of them are asked at the same time.
	askedAtOnce = 128
	// askLimit is how long asking may take in all.
	askLimit = 5 * time.Second
)

// asked returns the agents that are there although their records do not say so. It assumes mu held.
func (r *Roster) asked(ctx context.Context, byID map[string]*record) []Agent {
	if r.Ask == nil {
		return nil
	}
	known := map[string]bool{}
	if r.known != nil {
		for _, name := range r.known.Names() {
			known[wire.IDOf(r.known.Key(name))] = true
		}
	}
	var ids []string
	for id, rec := range byID {
		if rec.doubtful(r.now()) {
			ids = append(ids, id)
		}
	}
	rank := func(id string) int {
		if known[id] {
			return 0
		}
		return 1
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var work sync.WaitGroup
	var mu sync.Mutex
	var there []Agent // guarded by mu
	slots := make(chan struct{}, askedAtOnce)
	for _, id := range ids[:min(len(ids), mostAsked)] {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			a, err := r.Ask(ctx, id)
			if err != nil || a.Name == "" || wire.IDOf(a.Key) != id {
				return
			}
			a.ID, a.Since, a.Seen, a.Present, a.Left = id, r.now(), r.now(), true, false
			mu.Lock()
			defer mu.Unlock()
			there = append(there, a)
		})
	}
	work.Wait()
	return there
}
