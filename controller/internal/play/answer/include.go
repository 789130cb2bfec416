package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// fragment is one compiled include of a step, or why it cannot be compiled. done is closed when it is one of both.
type fragment struct {
	done chan struct{}
	f    *plan.Fragment
	err  error
}

// perHost parts the indexes of fragments by the place of the host that asked first, so that fragments that differ by
// host come in the order of the hosts, whoever asks first.
const perHost = 1 << 20

// include compiles what a step includes, once for all hosts that include the same.
func (a *Answerer) include(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if step.Kind != plan.Include || b.Include == nil {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s includes nothing", ask.Step)}
	}
	defer b.turn(ctx, ask)()
	var out wire.Answer
	for i, call := range ask.Includes {
		f, err := a.fragment(ctx, b, ask, i, call)
		if err != nil {
			return wire.Answer{}, err
		}
		out.Fragments = append(out.Fragments, *f)
	}
	return out, nil
}

// queue is the hosts that have been served at a step whose asks should be answered in the order of hosts. changed is
// closed, and made again, with each.
type queue struct {
	served  map[string]bool
	changed chan struct{}
}

// courtesy is how long such a step waits for hosts that stand before its own, in batches of up to courteous hosts.
const (
	courtesy  = 20 * time.Millisecond
	courteous = 100
)

// turn waits, in plays in lockstep, until the hosts before this one have been served at the step: whoever asks first
// decides the order in which included files run, or in which a group has its hosts, and that should not be left to
// chance. Hosts that do not ask cost a little patience. The func that it gives ends the turn.
func (b *batch) turn(ctx context.Context, ask wire.Ask) (done func()) {
	b.mu.Lock()
	q := b.queues[ask.Step]
	if q == nil {
		q = &queue{served: map[string]bool{}, changed: make(chan struct{})}
		b.queues[ask.Step] = q
	}
	b.mu.Unlock()
	if b.Plan.Play.Gated && !b.Plan.Play.Free() && len(b.Hosts) <= courteous {
		b.wait(ctx, q, b.Hosts[:max(0, slices.Index(b.Hosts, ask.Host))])
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		q.served[ask.Host] = true
		close(q.changed)
		q.changed = make(chan struct{})
	}
}

// wait returns when all of the hosts were served, or patience is over.
func (b *batch) wait(ctx context.Context, q *queue, hosts []string) {
	patience := time.NewTimer(courtesy)
	defer patience.Stop()
	for {
		b.mu.Lock()
		missing := slices.ContainsFunc(hosts, func(h string) bool { return !q.served[h] })
		changed := q.changed
		b.mu.Unlock()
		if !missing {
			return
		}
		select {
		case <-changed:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// fragment returns the fragment of a call, compiled by whoever asks first. The same call twice in one ask is two
// fragments.
func (a *Answerer) fragment(ctx context.Context, b *batch, ask wire.Ask, i int,
	call wire.IncludeCall) (*plan.Fragment, error) {
	key, err := includeKey(ask, i)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	f := b.fragments[key]
	mine := f == nil
	if mine {
		f = &fragment{done: make(chan struct{})}
		b.fragments[key] = f
	}
	index := b.freeIndex(ask, i, key, mine)
	b.mu.Unlock()
	if mine {
		f.f, f.err = b.Include(ctx, ask.Host, ask.Step, call, index)
		if f.err == nil {
			a.handFiles(f.f, b)
			if b.Handed != nil {
				b.Handed(f.f)
			}
		}
		close(f.done)
	}
	select {
	case <-f.done:
		return f.f, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Fragments are the IDs of the fragments of a batch, by digests of what was included: who goes on with a run finds its
// steps under the IDs of then. It is safe for concurrent use. The zero value is ready.
type Fragments struct {
	mu    sync.Mutex
	by    map[string]plan.ID // guarded by mu
	taken map[plan.ID]bool   // guarded by mu
}

// Recall takes those of an earlier run.
func (f *Fragments) Recall(by map[string]plan.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.by, f.taken = maps.Clone(by), map[plan.ID]bool{}
	for _, id := range by {
		f.taken[id] = true
	}
}

// All returns the IDs.
func (f *Fragments) All() map[string]plan.ID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.by)
}

// index returns the index of what was included before under a step.
func (f *Fragments) index(step plan.ID, key string) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, under := strings.CutPrefix(string(f.by[digestOf(key)]), string(step)+".")
	index, err := strconv.Atoi(n)
	return index, under && err == nil
}

// put notes a new fragment. It is false if another one has its ID.
func (f *Fragments) put(id plan.ID, key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken[id] {
		return false
	}
	if f.by == nil {
		f.by, f.taken = map[string]plan.ID{}, map[plan.ID]bool{}
	}
	f.by[digestOf(key)], f.taken[id] = id, true
	return true
}

func digestOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// freeIndex returns an index for a new fragment of a step. Callers hold mu.
func (b *batch) freeIndex(ask wire.Ask, i int, key string, mine bool) int {
	if !mine {
		return 0
	}
	if b.Fragments == nil {
		b.Fragments = &Fragments{}
	}
	if index, known := b.Fragments.index(ask.Step, key); known {
		return index
	}
	index := max(0, slices.Index(b.Hosts, ask.Host))*perHost + i
	for !b.Fragments.put(ask.Step.Under(index), key) {
		index++
	}
	return index
}

// includeKey is equal for includes that Ansible would run as one: same file or role, arguments and variables.
func includeKey(ask wire.Ask, i int) (string, error) {
	key, err := callKey(ask.Includes[i])
	twice := 0
	for _, before := range ask.Includes[:i] {
		if k, _ := callKey(before); k == key {
			twice++
		}
	}
	return fmt.Sprintf("%s\x00%d\x00%s", ask.Step, twice, key), err
}

func callKey(c wire.IncludeCall) (string, error) {
	var b strings.Builder
	for _, d := range []*value.Dict{c.Args.Dict, c.Vars.Dict} {
		if d == nil {
			d = value.NewDict()
		}
		enc, err := value.Encode(d)
		if err != nil {
			return "", fmt.Errorf("cannot tell includes apart: %w", err)
		}
		b.Write(enc)
		b.WriteByte(0)
	}
	return b.String(), nil
}
