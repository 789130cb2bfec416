package record

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"hark/modules/mask"
)

// Lines wait in memory for at most shortest at the beginning of a run, so that a crash loses no more and others see the
// run live; in a long run for up to longest, since small parts compress badly. mostWaiting is how many parts may wait
// for slow sinks.
const (
	shortest    = time.Second
	longest     = 5 * time.Second
	mostWaiting = 16
)

// Writer makes a record: it numbers lines, cuts them into parts and hands those to its sinks, on a goroutine of its own
// from Begin to End. Any goroutine may call its methods.
type Writer struct {
	o     WriterOptions
	sinks []outlet // belong to the goroutine
	wake  chan struct{}
	begun chan struct{} // closed when the sinks have the head
	ended chan struct{}

	mu sync.Mutex
	// guarded by mu
	head    *Head
	last    time.Time // of the last line
	lines   int64
	open    chunk
	waiting []chunk
	sums    []PartSum
	missing string // why lines were lost
	dropped bool   // the line before this one was lost
	foot    *Foot
}

// WriterOptions are a Writer's environment.
type WriterOptions struct {
	// Now is the controller's clock.
	Now func() time.Time
	// Hidden has the texts that are not written; nil has none.
	Hidden *mask.Masker
	// Failed is called at most once for each sink, with the reason why it takes no more. It is called from any goroutine.
	// The run goes on.
	Failed func(err error)
}

// outlet is a sink with the error after which it gets no more parts.
type outlet struct {
	Sink
	err   error
	begun bool
}

// chunk is an unfinished part.
type chunk struct {
	PartSum
	text  []byte
	lines int
}

// NewWriter returns a writer. It writes nothing before Begin.
func NewWriter(o WriterOptions, sinks ...Sink) *Writer {
	w := &Writer{o: o, wake: make(chan struct{}, 1), begun: make(chan struct{}), ended: make(chan struct{})}
	for _, s := range sinks {
		w.sinks = append(w.sinks, outlet{Sink: s})
	}
	return w
}

// Begin writes the head, whose version it sets. It is called once, before Tell and End.
func (w *Writer) Begin(h Head) {
	h.V = Version
	w.mu.Lock()
	w.head, w.last, w.lines = &h, h.At, 1
	w.mu.Unlock()
	go w.write()
}

// Begun waits until the sinks have the head, or have failed. From then on others can find the run. It comes after
// Begin.
func (w *Writer) Begun() { <-w.begun }

// Tell adds a line and returns its time. Lines after End are lost.
func (w *Writer) Tell(l *Line) time.Time {
	l.hide(w.o.Hidden)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now().Truncate(time.Microsecond)
	if now.Before(w.last) { // clocks may be set back
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

// lose records that lines are lost. It needs mu.
func (w *Writer) lose(why string) {
	w.dropped = true
	if w.missing == "" {
		w.missing = why
	}
}

// add adds a line to the open part. It needs mu.
func (w *Writer) add(l *Line) {
	text, err := AppendLine(w.open.text, l)
	if err != nil {
		w.lose(fmt.Sprintf("line %d could not be written: %v", w.lines, err))
		return
	}
	if w.open.lines == 0 {
		w.open.N, w.open.First = len(w.sums)+1, w.lines
		w.open.At = w.last.Sub(w.head.At).Microseconds() - l.After
	}
	w.open.text = text
	w.open.lines++
	w.lines++
	switch l.Kind {
	case KindHost, KindStep, KindStage, KindPlay, KindPlaybook, KindTaskStart:
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

// signal wakes the goroutine.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// End writes the rest and the foot, fills in the foot's fields about the record itself, and waits until the sinks have
// it.
func (w *Writer) End(f Foot) {
	f.hide(w.o.Hidden)
	w.mu.Lock()
	if w.head == nil || w.foot != nil {
		w.mu.Unlock()
		return
	}
	w.cut()
	f.At = w.o.Now().Truncate(time.Microsecond)
	f.Lines, f.Parts = w.lines+1, w.sums
	if w.missing != "" { // else it is as who ends the record knows
		f.Incomplete = w.missing
	}
	w.foot = &f
	w.mu.Unlock()
	w.signal()
	<-w.ended
}

// write is the goroutine of the writer.
func (w *Writer) write() {
	defer close(w.ended)
	packer, err := newPacker()
	if err != nil { // impossible: its options are constants
		w.o.Failed(err)
		close(w.begun)
		return
	}
	w.begin(packer)
	close(w.begun)
	for began := w.o.Now(); ; {
		<-w.wake
		w.linger(began)
		parts, foot := w.take()
		for _, c := range parts {
			w.part(Part{PartSum: c.PartSum, Lines: c.lines, Raw: len(c.text), Data: packer.pack(c.text)})
		}
		if foot != nil {
			w.end(packer, foot)
			return
		}
	}
}

// linger waits until there is enough for a part, or the lines have waited long enough.
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

// take returns the finished parts, and the foot if these are the last.
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
	for i := range w.sinks {
		s := &w.sinks[i]
		if s.begun {
			continue // see BrokenOff.Resume
		}
		if s.err = err; err == nil {
			s.err = s.Begin(h, p.pack(text))
		}
		if s.begun = s.err == nil; !s.begun {
			w.o.Failed(s.err)
		}
	}
}

// part passes a part to the sinks that accept parts.
func (w *Writer) part(p Part) {
	for i := range w.sinks {
		if s := &w.sinks[i]; s.err == nil {
			if s.err = s.Part(p); s.err != nil {
				w.o.Failed(s.err)
			}
		}
	}
}

// end passes the foot to each sink; it says what that sink lacks.
func (w *Writer) end(p *packer, foot *Foot) {
	w.mu.Lock()
	after := foot.At.Sub(w.last).Microseconds()
	w.mu.Unlock()
	for i := range w.sinks {
		s, f := &w.sinks[i], *foot
		if s.err != nil {
			f.Incomplete = "lines are missing: " + s.err.Error()
		}
		text, err := AppendLine(nil, &Line{Kind: KindFoot, Foot: &f, After: after})
		if err == nil && s.begun {
			err = s.End(f, p.pack(text))
		}
		if err = errors.Join(err, s.Close()); err != nil && s.err == nil {
			w.o.Failed(err)
		}
	}
}

// packer compresses parts.
type packer struct{ enc *zstd.Encoder }

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(PartSize),
		zstd.WithLowerEncoderMem(true))
	return &packer{enc}, err
}

func (p *packer) pack(text []byte) []byte {
	return p.enc.EncodeAll(text, make([]byte, 0, len(text)/8+64))
}
