package agent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"hark/agent/wire"
)

// flight is a batch on its way: its last event, its size in bytes, and what ends the waiting for its answer.
type flight struct {
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
	// before is the flight before it that is on its way too, nil for none; done is closed when it has landed, arrived
	// reports whether the controller has it then.
	before  *flight
	done    chan struct{}
	arrived bool
}

// mostFlights is how many batches may be on their way. Another one takes off while one is only if that takes long:
// after half of what the last answer took, and no sooner than leastGap, so that on a near way, and to a controller
// that is behind, what comes meanwhile is one batch. The end of a play does not wait for so long: nothing comes after
// it.
const (
	mostFlights = 4
	leastGap    = 5 * time.Millisecond
)

// run sends until ctx is over.
func (o *outbox) run(ctx context.Context) {
	landed := make(chan bool, mostFlights)
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
			o.pack(f) // not beside others: what has more to pack would come after what takes off later
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
		o.recallAll() // the controller takes nothing of what is behind it
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

// takeOff makes a batch of what is due and is not on its way: as many events as the window holds beside those that
// are, at least one. Without one it tells after what time there may be one, 0 for when something comes. since is how
// long ago the last one took off.
func (o *outbox) takeOff(ctx context.Context, since time.Duration) (f *flight, wait time.Duration) {
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
	case o.gate.seq > 0: // who stands at gates is waited for, and what is on its way is answered there
		return nil, 0
	case len(o.air) >= mostFlights || len(o.queue[first].JSON) > room:
		return nil, 0
	case since < o.gap():
		return nil, o.gap() - since
	}
	f = &flight{batch: &batch{Session: o.line.says(), Run: o.line.run, Host: o.line.host}, done: make(chan struct{})}
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
	if o.log != nil { // what is known elsewhere the log has, or another life would number other events so
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

// gap is how long after one batch another one may take off. It assumes mu held.
func (o *outbox) gap() time.Duration {
	if o.place.Ended {
		return leastGap
	}
	return max(leastGap, o.line.lateness()/2)
}

// lateness is how long the last answer took, as far as is known.
func (l *line) lateness() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late
}

// deliver sends a batch once, and reports whether it is known that the controller has it. That counts only when it
// has those before it: whoever takes the place of a controller that has died (link.Collector) knows nothing of them.
func (o *outbox) deliver(f *flight) bool {
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
	o.air = slices.DeleteFunc(o.air, func(other *flight) bool { return other == f })
	close(f.done)
	return ok
}

// pack makes a batch ready to be sent.
func (o *outbox) pack(f *flight) {
	body, err := f.json()
	if err == nil {
		f.question, err = o.line.packResult(wire.KindBatch, body)
	}
	f.err = err
}

// send sends a batch once and gives what its answer acknowledges, false if there is none.
func (o *outbox) send(f *flight) (seq uint64, ok bool) {
	l, err := o.line, f.err
	var ack wire.Acked
	if err == nil {
		err = l.send(f.ctx, f.question, &ack, l.resend())
	}
	if err != nil && !o.has(f.last) {
		l.agent.cfg.Logger.Debug().Str("run", l.run).Str("host", l.host).AnErr("cause", err).Msg("events wait for the controller")
	}
	return ack.Seq, err == nil
}

// recall ends the waiting for the answers to batches up to an event: they have come another way, or will not come any
// more. It assumes mu held.
func (o *outbox) recall(last uint64) {
	for _, f := range o.air {
		if f.last <= last {
			f.land()
		}
	}
}

// recallAll ends the waiting for all answers.
func (o *outbox) recallAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recall(math.MaxUint64)
}

// rewind has all be sent again that was not acknowledged. Nothing is on its way.
func (o *outbox) rewind() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent, o.broken = o.acked, false
}
