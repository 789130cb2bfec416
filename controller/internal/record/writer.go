package record

import (
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Lines wait in memory for at most shortest at the beginning of a run, so that a crash costs no more and others see the run live; in a long one
// for up to longest, since small parts compress badly. mostWaiting is how many parts may wait for slow sinks.
const (
	shortest    = time.Second
	longest     = 5 * time.Second
	mostWaiting = 16
)

// Writer makes a record: it numbers lines, cuts them into parts and hands those to its sinks, on a goroutine of its own from Begin to End.
// Its methods may be called from any goroutine.
type Writer struct {
	o     WriterOptions
	sinks []Sink // belong to the goroutine, which takes out those that failed
	wake  chan struct{}
	ended chan struct{}

	mu sync.Mutex
	// guarded by mu
	head    *Head
	last    time.Time // of the line told last
	lines   int64
	open    chunk
	waiting []chunk
	sums    []PartSum
	missing string // why lines were lost
	dropped bool   // the line before this one was lost
	foot    *Foot
}

// WriterOptions are what a Writer needs of the world.
type WriterOptions struct {
	// Now is the controller's clock.
	Now func() time.Time
	// Failed is told, at most once for each sink, why that one takes no more. It is called from any goroutine; the run goes on.
	Failed func(err error)
}

// chunk is a part in the making.
type chunk struct {
	PartSum
	text  []byte
	lines int
}

// NewWriter makes a writer. Nothing is written before Begin.
func NewWriter(o WriterOptions, sinks ...Sink) *Writer {
	return &Writer{o: o, sinks: sinks, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Begin writes the head, whose version it sets. It is called once, before Tell and End.
func (w *Writer) Begin(h Head) {
	h.V = Version
	w.mu.Lock()
	w.head, w.last, w.lines = &h, h.At, 1
	w.mu.Unlock()
	go w.write()
}

// Tell adds a line and gives the time that it has. Lines that come after End are lost.
func (w *Writer) Tell(l *Line) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now().Truncate(time.Microsecond)
	if now.Before(w.last) { // clocks are set back
		now = w.last
	}
	if w.foot != nil {
		return now
	}
	if len(w.waiting) >= mostWaiting {
		w.lose(fmt.Sprintf("lines are missing after line %d: the record could not be written fast enough", w.lines-1))
		return now
	}
	if w.dropped {
		w.dropped = false
		w.add(&Line{Kind: KindIncomplete, Text: w.missing})
	}
	l.After = now.Sub(w.last).Microseconds()
	w.last = now
	w.add(l)
	return now
}

// lose notes that lines are lost. It needs mu.
func (w *Writer) lose(why string) {
	w.dropped = true
	if w.missing == "" {
		w.missing = why
	}
}

// add puts a line into the open part. It needs mu.
func (w *Writer) add(l *Line) {
	text, err := AppendLine(w.open.text, l)
	if err != nil {
		w.lose(fmt.Sprintf("line %d could not be written: %v", w.lines, err))
		return
	}
	if w.open.lines == 0 {
		w.open.N, w.open.First = len(w.sums)+1, w.lines
	}
	w.open.text = text
	w.open.lines++
	w.lines++
	switch l.Kind {
	case KindHost, KindStep, KindPlay, KindPlaybook, KindTaskStart:
		w.open.Defines = true
	case KindDone, KindItem:
		if bad(l) {
			w.open.Bad++
		}
	}
	if len(w.open.text) >= PartSize {
		w.cut()
		w.signal()
	} else if w.open.lines == 1 {
		w.signal()
	}
}

// cut finishes the open part. It needs mu.
func (w *Writer) cut() {
	if w.open.lines == 0 {
		return
	}
	w.sums = append(w.sums, w.open.PartSum)
	w.waiting = append(w.waiting, w.open)
	w.open = chunk{}
}

// signal tells the goroutine that there is something to do.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// End writes what is left and the foot, whose fields of the record itself it fills in, and waits until the sinks have it.
func (w *Writer) End(f Foot) {
	w.mu.Lock()
	if w.head == nil || w.foot != nil {
		w.mu.Unlock()
		return
	}
	w.cut()
	f.At = w.o.Now().Truncate(time.Microsecond)
	f.Lines, f.Parts, f.Incomplete = w.lines+1, w.sums, w.missing
	w.foot = &f
	w.mu.Unlock()
	w.signal()
	<-w.ended
}

// write is the goroutine of the writer.
func (w *Writer) write() {
	defer close(w.ended)
	packer, err := newPacker()
	if err != nil {
		w.fail(0, err)
		return
	}
	w.begin(packer)
	for began := w.o.Now(); ; {
		<-w.wake
		w.linger(began)
		parts, foot := w.take()
		for _, c := range parts {
			p := Part{PartSum: c.PartSum, Lines: c.lines, Raw: len(c.text), Data: packer.pack(c.text)}
			w.each(func(s Sink) error { return s.Part(p) })
		}
		if foot != nil {
			w.end(packer, foot)
			return
		}
	}
}

// linger waits until there is enough for a part, or what there is has waited long enough.
func (w *Writer) linger(began time.Time) {
	wait := time.NewTimer(min(max(w.o.Now().Sub(began)/60, shortest), longest))
	defer wait.Stop()
	for {
		w.mu.Lock()
		ready := len(w.waiting) > 0 || w.foot != nil
		w.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-w.wake:
		case <-wait.C:
			w.mu.Lock()
			w.cut()
			w.mu.Unlock()
			return
		}
	}
}

// take are the finished parts that nobody has taken, and the foot if these are the last.
func (w *Writer) take() ([]chunk, *Foot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parts := w.waiting
	w.waiting = nil
	return parts, w.foot
}

func (w *Writer) begin(p *packer) {
	w.mu.Lock()
	h := *w.head
	w.mu.Unlock()
	text, err := AppendLine(nil, &Line{Kind: KindHead, Head: &h})
	if err != nil {
		w.fail(0, err)
		return
	}
	w.each(func(s Sink) error { return s.Begin(h, p.pack(text)) })
}

func (w *Writer) end(p *packer, f *Foot) {
	w.mu.Lock()
	l := Line{Kind: KindFoot, Foot: f, After: f.At.Sub(w.last).Microseconds()}
	w.mu.Unlock()
	text, err := AppendLine(nil, &l)
	if err == nil {
		w.each(func(s Sink) error { return s.End(*f, p.pack(text)) })
	}
	w.each(Sink.Close)
}

// each calls the sinks and parts with those that fail.
func (w *Writer) each(call func(Sink) error) {
	for i := 0; i < len(w.sinks); {
		if err := call(w.sinks[i]); err != nil {
			w.fail(i, err)
			continue
		}
		i++
	}
}

// fail closes a sink that failed and tells why.
func (w *Writer) fail(i int, err error) {
	if i < len(w.sinks) {
		_ = w.sinks[i].Close() // its error is worth less than the first
		w.sinks = append(w.sinks[:i:i], w.sinks[i+1:]...)
	}
	w.o.Failed(err)
}

// packer compresses parts.
type packer struct{ enc *zstd.Encoder }

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(PartSize),
		zstd.WithLowerEncoderMem(true))
	return &packer{enc}, err
}

func (p *packer) pack(text []byte) []byte {
	return p.enc.EncodeAll(text, make([]byte, 0, len(text)/8+64))
}
