package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// outboxCap is how many bytes of events may wait for the controller; beyond it no new module is started.
const outboxCap = 64 << 20

// linger is how long the event that a step has begun waits for the next event. Most steps are done sooner, and then
// one message carries both.
const linger = 50 * time.Millisecond

// outbox sends the events of a session in batches. It sends each batch again until it is acknowledged; usually one is
// on its way at a time (see batches.go). It never drops an event. The beginning of a step is sent together with the
// next event, when something waits for it, or after a moment.
type outbox struct {
	line *controllerLink

	mu     sync.Mutex
	log    *store.Log     // nil in memory; guarded by mu
	place  store.Place    // guarded by mu
	seq    uint64         // of the last event; guarded by mu
	acked  uint64         // guarded by mu
	sent   uint64         // the last event that is on its way or acknowledged; guarded by mu
	queue  []store.Unsent // guarded by mu
	size   int            // bytes in queue; guarded by mu
	window int            // guarded by mu
	due    uint64         // the last event that is to be sent now; guarded by mu
	// the acknowledgement of the plan as long as it is to go with a batch, nil for none; guarded by mu
	first  *receipt
	later  *time.Timer // makes all waiting events due, nil if none has waited; guarded by mu
	failed error       // the log could not be written; guarded by mu
	// something that may change the host has begun since the last finished step was reported; guarded by mu
	begun  bool
	gate   pendingGate      // guarded by mu
	air    []*batchInFlight // the batches on their way, in their order; guarded by mu
	broken bool             // one of them did not arrive, so no other is sent before rewind; guarded by mu
	change chan struct{}    // closed and replaced at each acknowledgement; guarded by mu
	filled chan struct{}    // one slot: there is something to send
	retry  chan struct{}    // one slot: the broker is back
}

// receipt is the acknowledgement of a plan. alone sends it without a batch.
type receipt struct {
	ack   wire.Ack
	alone func()
}

// pendingGate is the event that reported at which barrier the session waits, 0 for none, and when it was first sent.
type pendingGate struct {
	seq uint64
	put time.Time
}

func newOutbox(l *controllerLink, log *store.Log, window int) *outbox {
	if window <= 0 {
		window = 32 << 10
	}
	return &outbox{line: l, log: log, window: window, place: store.Place{Ended: true}, change: make(chan struct{}),
		filled: make(chan struct{}, 1), retry: make(chan struct{}, 1)}
}

// batch is a wire.Batch whose events are JSON already.
type batch struct {
	wire.Session
	Run    string            `json:"run"`
	Host   string            `json:"host"`
	Events []json.RawMessage `json:"events"`
	Ack    *wire.Ack         `json:"ack,omitempty"`
}

// json returns a batch as JSON: large events are copied once.
func (b *batch) json() (json.RawMessage, error) {
	size, events := 0, b.Events
	for _, e := range events {
		size += len(e) + 1
	}
	whole, err := json.Marshal(batch{Session: b.Session, Run: b.Run, Host: b.Host, Events: []json.RawMessage{},
		Ack: b.Ack})
	if err != nil {
		return nil, err
	}
	mark := []byte(`"events":[`)
	at := bytes.Index(whole, mark) + len(mark)
	head, tail := whole[:at], whole[at:]
	out := append(make([]byte, 0, len(whole)+size), head...)
	for i, e := range events {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, tail...), nil
}

// begin starts the numbering for a new plan, after the last event that the controller has. Waiting events of an
// earlier plan are dropped: the controller has them already or has given up that turn.
func (o *outbox) begin(in *wire.Opening, first *receipt) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq, o.acked, o.sent, o.due, o.queue, o.size = in.Acked, in.Acked, in.Acked, in.Acked, nil, 0
	o.place, o.gate = store.Place{Play: in.Start.Play}, pendingGate{}
	o.recall(math.MaxUint64) // they will not be answered
	if o.first = first; first != nil {
		o.linger()
	}
	if in.Start.Window > 0 {
		o.window = in.Start.Window
	}
	if o.log != nil {
		return o.log.Start(in.Start.Play, in.Start.Digest, in.Turn, in.Acked)
	}
	return nil
}

// add numbers an event and queues it. An event that cannot be sent is replaced by a failure, and add returns that
// failure as an error: the session has not judged it, so the play must not go on.
func (o *outbox) add(e wire.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	e.Seq = o.seq
	raw, unsent := encode(&e)
	o.place.Take(&e)
	if e.Gate() != "" {
		o.gate = pendingGate{seq: e.Seq}
	}
	o.queue = append(o.queue, store.Unsent{Seq: e.Seq, JSON: raw})
	o.size += len(raw)
	if o.log != nil {
		err := o.log.Event(raw)
		if err == nil && o.begun && e.Kind != wire.Started {
			err = o.log.Flush()
		}
		if err != nil {
			o.fail(err)
		}
	}
	if e.Kind == wire.Done {
		o.begun = false
	}
	if e.Kind != wire.Started {
		o.hurry()
	} else {
		o.linger()
	}
	return unsent
}

// linger makes sure that waiting events are sent within a moment. It assumes mu held.
func (o *outbox) linger() {
	if o.later == nil {
		o.later = time.AfterFunc(linger, o.lingered)
	} else {
		o.later.Reset(linger)
	}
}

// lingered sends the waiting events. If there are none, it sends only the acknowledgement of the plan.
func (o *outbox) lingered() {
	o.mu.Lock()
	o.hurry()
	first := o.first
	if len(o.queue) > 0 {
		first = nil // it goes with that
	}
	if first != nil {
		o.first = nil
	}
	o.mu.Unlock()
	if first != nil {
		first.alone()
	}
}

// urge sends the waiting events now.
func (o *outbox) urge() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurry()
}

// hurry is urge with mu held.
func (o *outbox) hurry() {
	o.due = o.seq
	o.kick()
}

// encode returns an event as JSON. If its result cannot be sent, which report.Fit should have found, encode returns a
// failure instead, and an error.
func encode(e *wire.Event) (json.RawMessage, error) {
	raw, err := eventJSON(e)
	switch {
	case err != nil:
		err = fmt.Errorf("internal error: cannot encode the result: %w", err)
	case len(raw) > wire.MaxEvent:
		err = fmt.Errorf("internal error: the result has %d MB: more than %d MB cannot be sent to the controller",
			len(raw)>>20, wire.MaxEvent>>20)
	default:
		return raw, nil
	}
	if e.Outcome != nil {
		result, _ := json.Marshal(map[string]any{"failed": true, "msg": err.Error()})
		e.Outcome = &wire.Outcome{Status: wire.StatusFailed, Result: result, NoLog: e.Outcome.NoLog}
	} else {
		e.Text = err.Error()
	}
	raw, _ = json.Marshal(e) // plain data always encodes
	return raw, err
}

// fail records that the log cannot be written. No new module is started then. It assumes mu held.
func (o *outbox) fail(err error) {
	if o.failed == nil {
		o.line.agent.cfg.Logger.Error().Str("run", o.line.run).AnErr("cause", err).Msg("cannot write the log of a session")
	}
	o.failed = err
}

func (o *outbox) kick() {
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

// where returns the position of the session in the plan.
func (o *outbox) where() store.Place {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.place
}

// stateError says that the state directory cannot be written.
type stateError struct{ err error }

func (e *stateError) Error() string { return "the agent cannot keep its state: " + e.err.Error() }
func (e *stateError) Unwrap() error { return e.err }

// durable makes sure that the beginning of a step is on disk. It waits until the outbox has room for the result.
func (o *outbox) durable(ctx context.Context) error {
	for {
		o.mu.Lock()
		full, change, err := o.size > outboxCap, o.change, o.failed
		if !full && err == nil && o.log != nil {
			if err = o.log.Sync(); err != nil {
				o.fail(err)
			}
		}
		o.begun = o.begun || !full && err == nil
		o.mu.Unlock()
		if !full && err != nil {
			return &stateError{err}
		}
		if !full {
			return nil
		}
		o.line.agent.cfg.Logger.Warn().Str("run", o.line.run).Msg("the outbox is full: waiting for the controller")
		select {
		case <-change:
		case <-o.line.isGone():
			return errLease
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// flushed waits until the controller has every event up to now.
func (o *outbox) flushed(ctx context.Context) error {
	o.mu.Lock()
	want := o.seq
	o.hurry()
	o.mu.Unlock()
	for {
		o.mu.Lock()
		done, change := o.acked >= want || len(o.queue) == 0, o.change
		o.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-change:
		case <-o.line.isGone():
			return errLease
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// heard records that the controller has all events up to the one of the gate, as an Advance says. It counts as the
// answer to the first batch with that event: the broker may delay an Advance while the session sends the event again
// and again.
func (o *outbox) heard() {
	o.mu.Lock()
	g := o.gate
	o.mu.Unlock()
	if g.put.IsZero() {
		return
	}
	o.line.answered(g.put, o.line.who(), 0)
	o.ack(g.seq)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recall(g.seq)
}

// ack removes the events that the controller has.
func (o *outbox) ack(seq uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && o.queue[0].Seq <= seq {
		o.size -= len(o.queue[0].JSON)
		o.queue[0] = store.Unsent{} // the array behind the queue would keep it
		o.queue = o.queue[1:]
	}
	o.acked, o.sent = max(o.acked, seq), max(o.sent, seq)
	if o.log != nil {
		if err := o.log.Acked(seq, len(o.queue) == 0); err != nil {
			o.fail(err)
		}
	}
	close(o.change)
	o.change = make(chan struct{})
}

// has reports whether the controller has all events up to seq.
func (o *outbox) has(seq uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acked >= seq
}

// empty reports whether nothing waits.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) == 0
}

// restore takes over the log of an earlier process.
func (o *outbox) restore(f *store.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq, o.queue, o.place = f.Seq, f.Unsent, f.Place
	for _, u := range f.Unsent {
		o.size += len(u.JSON)
	}
	if len(o.queue) > 0 {
		o.acked = o.queue[0].Seq - 1
		o.sent = o.acked
		o.hurry()
	}
}

// await waits until everything is sent, but for a controller that is gone only as long as results are kept.
func (o *outbox) await(ctx context.Context) {
	if o.log == nil {
		return // it was of this process
	}
	ctx, cancel := context.WithTimeout(ctx, retention)
	defer cancel()
	for !o.empty() {
		o.mu.Lock()
		change := o.change
		o.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return
		}
	}
}

// close ends the log. With keep, events that were not acknowledged stay for the next process of this agent.
func (o *outbox) close(keep bool) { o.shut(keep && !o.empty()) }

// shut ends the log, or leaves it for the next process of this agent.
func (o *outbox) shut(keep bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.later != nil {
		o.later.Stop()
	}
	switch {
	case o.log == nil:
	case keep:
		_ = o.log.Close()
	default:
		_ = o.log.Remove()
	}
}
