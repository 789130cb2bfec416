package agent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"hark/agent/wire"
)

// batchInFlight is a batch on its way: its last event, its size in bytes, and what ends the waiting for its answer.
type batchInFlight struct {
	*batch
	last uint64
	size int
	// first is the acknowledgement of the plan, if it goes with this batch.
	first *receipt
	// question is the batch as it is sent, err why it cannot be.
	question question
	err      error

	ctx  context.Context
	land context.CancelFunc
	// before is the previous batch if that is on its way too, else nil. done is closed when this one was answered or
	// failed; arrived reports whether the controller has it then.
	before  *batchInFlight
	done    chan struct{}
	arrived bool
}

// maxBatchesInFlight is how many batches may be on their way. A second batch is sent while one is on its way only if
// that takes long: after half the time of the last answer, and no sooner than leastGap. So on a fast connection, or
// if the controller is slow, the events of that time become one batch. The end of a play does not wait that long:
// nothing comes after it.
const (
	maxBatchesInFlight = 4
	leastGap           = 5 * time.Millisecond
)

// run sends until ctx is done.
func (o *outbox) run(ctx context.Context) {
	landed := make(chan bool, maxBatchesInFlight)
	pause, flying, latest := time.Duration(0), 0, time.Time{}
	settle := func() {
		for ; flying > 0; flying-- {
			<-landed
		}
	}
	defer settle()
	for {
		f, wait := o.takeOff(ctx, time.Since(latest))
		if f != nil {
			o.pack(f) // one after the other: a larger batch must not be overtaken by a smaller one
			flying, latest = flying+1, time.Now()
			go func() { landed <- o.deliver(f) }()
			continue
		}
		var again <-chan time.Time
		if wait > 0 {
			again = time.After(wait)
		}
		select {
		case <-o.filled:
			continue
		case <-again:
			continue
		case <-ctx.Done():
			return
		case ok := <-landed:
			if flying--; ok {
				pause = 0
				continue
			}
		}
		o.recallAll() // the controller accepts no later batch
		settle()
		o.rewind()
		pause = min(max(2*pause, 100*time.Millisecond), 30*time.Second)
		select {
		case <-o.retry:
			pause = 0
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return
		}
	}
}

// takeOff makes a batch of events that are due and not on their way: at least one, and as many as the rest of the
// window holds. If there is no batch, it returns after what time there may be one, 0 for when an event comes. since
// is the time since the last batch was sent.
func (o *outbox) takeOff(ctx context.Context, since time.Duration) (f *batchInFlight, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := 0
	for first < len(o.queue) && o.queue[first].Seq <= o.sent {
		first++
	}
	room := o.window
	for _, f := range o.air {
		room -= f.size
	}
	switch {
	case o.broken, first == len(o.queue) || o.queue[first].Seq > o.due: // nothing, or nothing before rewind
		return nil, 0
	case len(o.air) == 0:
	case o.gate.seq > 0: // others wait for a host at a barrier, and batches on their way are answered there
		return nil, 0
	case len(o.air) >= maxBatchesInFlight || len(o.queue[first].JSON) > room:
		return nil, 0
	case since < o.gap():
		return nil, o.gap() - since
	}
	f = &batchInFlight{batch: &batch{Session: o.line.says(), Run: o.line.run, Host: o.line.host},
		done: make(chan struct{})}
	if n := len(o.air); n > 0 {
		f.before = o.air[n-1]
	}
	if f.first, o.first = o.first, nil; f.first != nil {
		f.Ack = &f.first.ack
	}
	for _, u := range o.queue[first:] {
		if f.size > 0 && f.size+len(u.JSON) > room {
			break
		}
		f.size += len(u.JSON)
		f.Events, f.last = append(f.Events, u.JSON), u.Seq
	}
	if o.log != nil { // the log must have all events that others know: a later process would reuse their numbers
		if err := o.log.Flush(); err != nil {
			o.fail(err)
		}
	}
	f.ctx, f.land = context.WithCancel(ctx)
	o.air, o.sent = append(o.air, f), f.last
	if o.gate.seq > o.acked && o.gate.seq <= f.last && o.gate.put.IsZero() {
		o.gate.put = o.line.agent.cfg.Now()
	}
	return f, 0
}

// gap returns the least time between two batches. It assumes mu held.
func (o *outbox) gap() time.Duration {
	if o.place.Ended {
		return leastGap
	}
	return max(leastGap, o.line.lateness()/2)
}

// lateness returns how long the last answer took, as far as is known.
func (l *controllerLink) lateness() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late
}

// deliver sends a batch once, and reports whether the controller is known to have it. That counts only when the
// controller has the batches before it: the successor of a dead controller (link.Collector) knows nothing of them.
func (o *outbox) deliver(f *batchInFlight) bool {
	seq, ok := o.send(f)
	if f.before != nil {
		<-f.before.done
		ok, f.before = ok && f.before.arrived, nil
	}
	if ok {
		o.ack(seq)
	}
	ok = ok && seq >= f.last || o.has(f.last)
	f.land()
	o.mu.Lock()
	defer o.mu.Unlock()
	f.arrived, o.broken = ok, o.broken || !ok
	if !ok && f.first != nil && f.Turn == o.line.who().Turn {
		o.first = f.first
	}
	o.air = slices.DeleteFunc(o.air, func(other *batchInFlight) bool { return other == f })
	close(f.done)
	return ok
}

// pack makes a batch ready to be sent.
func (o *outbox) pack(f *batchInFlight) {
	body, err := f.json()
	if err == nil {
		f.question, err = o.line.packResult(wire.KindBatch, body)
	}
	f.err = err
}

// send sends a batch once and returns what its answer acknowledges, false if no answer came.
func (o *outbox) send(f *batchInFlight) (seq uint64, ok bool) {
	l, err := o.line, f.err
	var ack wire.Acked
	if err == nil {
		err = l.send(f.ctx, f.question, &ack, l.resend())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		reachable(f.ctx, l.agent.cfg.Transport) // a line that is silent is left for a new one
	}
	if err != nil && !o.has(f.last) {
		l.agent.cfg.Logger.Debug().Str("run", l.run).Str("host", l.host).AnErr("cause", err).
			Msg("events wait for the controller")
	}
	return ack.Seq, err == nil
}

// recall stops waiting for the answers to batches up to an event: they came another way, or will not come. It assumes
// mu held.
func (o *outbox) recall(last uint64) {
	for _, f := range o.air {
		if f.last <= last {
			f.land()
		}
	}
}

// recallAll stops waiting for all answers.
func (o *outbox) recallAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recall(math.MaxUint64)
}

// rewind makes all events that were not acknowledged due again. No batch is on its way.
func (o *outbox) rewind() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent, o.broken = o.acked, false
}
