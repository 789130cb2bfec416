// Package runcache reads the records of runs for pages. Each run is read once, however many browsers show it, and
// followed as long as it goes on and has users. Its lines go to a model (package runmodel), and its output is kept in
// lines (package scrollback).
package runcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/console/scrollback"
	"hark/controller/internal/runs/record"
)

// pulse is how often watchers of a run hear of more; faster changes go together.
const pulse = 250 * time.Millisecond

// CachedRun is one run as far as it was read. Its methods are safe for concurrent use.
type CachedRun struct {
	Entry  record.Entry // as it was when the reading began
	Model  *runmodel.Run
	Output *scrollback.Lines
	Memo   Memo

	stop context.CancelFunc
	read chan struct{} // closed when everything that existed at the beginning has been read
	over chan struct{} // closed when nothing more will come

	mu sync.Mutex
	// guarded by mu
	more  chan struct{} // closed at the next pulse
	dirty bool
	lines int64 // of the record that were read
	foot  *record.Foot
	lost  *record.LostError
	err   error
	used  time.Time // when somebody looked last
	users int
}

// At is how far a run was read.
type At struct {
	Lines int64
	Foot  *record.Foot
	Lost  *record.LostError
	Err   error
	// Over says that nothing more will come.
	Over bool
}

// At returns how far the run was read.
func (t *CachedRun) At() At {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := At{Lines: t.lines, Foot: t.foot, Lost: t.lost, Err: t.err}
	select {
	case <-t.over:
		a.Over = true
	default:
	}
	return a
}

// More returns a channel that is closed at the next pulse with more than at the call, and when the run is over.
func (t *CachedRun) More() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.over:
		return t.over
	default:
		return t.more
	}
}

// Read waits until everything that existed when the reading began is read, but no longer than the context, and reports
// whether it is.
func (t *CachedRun) Read(ctx context.Context) bool {
	select {
	case <-t.read:
		return true
	case <-t.over:
		return true
	case <-ctx.Done():
		return false
	}
}

// feeder passes the lines of one record to the model and the output.
type feeder struct {
	t    *CachedRun
	play func(h record.Head) (tell func(record.Line) error, err error)
	tell func(record.Line) error // made by play when the head has come
	line record.Line             // that is being told
}

// follow reads the record to its end. Nothing else writes to the run.
func (f *feeder) follow(ctx context.Context, store record.Store) {
	t := f.t
	defer debug.FreeOSMemory() // reading a record leaves much garbage
	err := f.lines(ctx, store, record.Opening{})
	if err == nil && !f.ended() {
		close(t.read)
		err = f.lines(ctx, store, record.Opening{From: f.next(), Follow: true})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var lost *record.LostError
	switch {
	case errors.As(err, &lost):
		t.lost = lost
	case err != nil && ctx.Err() == nil:
		t.err = err
	}
	close(t.over)
	close(t.more)
}

func (f *feeder) ended() bool {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	return f.t.foot != nil
}

func (f *feeder) next() int64 {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	return f.t.lines
}

// lines passes the lines from the present position to the end of what the opening returns.
func (f *feeder) lines(ctx context.Context, store record.Store, o record.Opening) error {
	lines, err := store.Open(ctx, f.t.Entry.Head.Run, o)
	if err != nil {
		return err
	}
	defer lines.Close()
	for {
		l, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.N < o.From { // it defines numbers that are known here
			continue
		}
		if err := f.take(l); err != nil {
			return err
		}
	}
}

// take tells a line.
func (f *feeder) take(l record.Line) error {
	f.line = l
	if f.tell == nil {
		h := f.t.Entry.Head
		if l.Head != nil { // lists may know less of it
			h = *l.Head
		}
		var err error
		if f.tell, err = f.play(h); err != nil {
			return err
		}
	}
	if err := f.tell(l); err != nil {
		return fmt.Errorf("line %d of the record: %w", l.N, err)
	}
	f.t.took(l)
	return nil
}

// took records a line.
func (t *CachedRun) took(l record.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = l.N + 1
	t.dirty = true
	if l.Foot != nil {
		t.foot = l.Foot
	}
}

// beat wakes the watchers, if there is more.
func (t *CachedRun) beat() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.over:
		return
	default:
	}
	if t.dirty {
		close(t.more)
		t.more, t.dirty = make(chan struct{}), false
	}
}
