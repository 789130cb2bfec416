// Package runcache reads the records of runs for pages: each run is read once, however many look at it, and followed
// as long as it goes on and somebody looks. What is read is folded (package runmodel), and its output is kept in
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

// pulse is how often those who watch a run are told that there is more: what comes faster goes in one piece.
const pulse = 250 * time.Millisecond

// Tape is one run as far as it was read. Its methods are safe for concurrent use.
type Tape struct {
	Entry record.Entry // as it was when the reading began
	Fold  *runmodel.Run
	Reel  *scrollback.Reel
	Memo  Memo

	stop context.CancelFunc
	read chan struct{} // closed when everything that there was at the beginning has been read
	over chan struct{} // closed when nothing will come any more

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

// At is how far a tape is.
type At struct {
	Lines int64
	Foot  *record.Foot
	Lost  *record.LostError
	Err   error
	// Over: nothing will come any more.
	Over bool
}

// At describes how far the tape is.
func (t *Tape) At() At {
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

// More is closed when there is more than there was at the call, at the next pulse, and when the tape is over.
func (t *Tape) More() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.over:
		return t.over
	default:
		return t.more
	}
}

// Read waits until everything is read that there was when the reading began, but not for longer than the context, and
// reports whether it is.
func (t *Tape) Read(ctx context.Context) bool {
	select {
	case <-t.read:
		return true
	case <-t.over:
		return true
	case <-ctx.Done():
		return false
	}
}

// feeder tells the lines of one record to the fold and the reel.
type feeder struct {
	t    *Tape
	play func(h record.Head) (tell func(record.Line) error, err error)
	tell func(record.Line) error // made by play when the head has come
	line record.Line             // that is being told
}

// follow reads the record to its end. It is the tape's only writer.
func (f *feeder) follow(ctx context.Context, store record.Store) {
	t := f.t
	defer debug.FreeOSMemory() // a record that was read leaves much that is not needed
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

// lines tells the lines from where the tape is to the end of what the opening gives.
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
		if l.N < o.From { // it gives numbers that are known here
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
		if l.Head != nil { // what lists know of it may be less
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

// took notes a line that was told.
func (t *Tape) took(l record.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = l.N + 1
	t.dirty = true
	if l.Foot != nil {
		t.foot = l.Foot
	}
}

// beat wakes those who watch, if there is more.
func (t *Tape) beat() {
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
