package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// BrokenOff is a record that breaks off, as far as one must know it to go on with it.
type BrokenOff struct {
	Head Head
	// Names are the hosts and the tasks that have numbers.
	Names Names
	// Tasks are the tasks by their steps; of several plays that of the last.
	Tasks map[plan.ID]view.Task

	hosts map[string]int
	steps map[string]int
	sum   summary
	done  map[[2]int]bool // by task and host
	parts []PartSum
	lines int64
	last  time.Time
}

// ReadBrokenOff reads a record that breaks off. One that has an end, or whose run goes on, is an error.
func ReadBrokenOff(ctx context.Context, s Store, run string) (*BrokenOff, error) {
	e, err := s.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	if e.State != Lost {
		return nil, fmt.Errorf("run %s was not lost: it is %s", run, e.State)
	}
	b := &BrokenOff{
		Head: e.Head, Tasks: map[plan.ID]view.Task{}, hosts: map[string]int{}, steps: map[string]int{}, sum: newSummary(), done: map[[2]int]bool{},
		lines: 1, last: e.Head.At,
	}
	if err := b.readParts(ctx, s); err != nil {
		return nil, err
	}
	lines, err := s.Open(ctx, run, Opening{})
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	for {
		l, err := lines.Next(ctx)
		var lost *LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		b.learn(&l)
	}
}

func (b *BrokenOff) readParts(ctx context.Context, s Store) error {
	parts, err := s.Parts(ctx, b.Head.Run)
	if err != nil {
		return err
	}
	defer parts.Close()
	for {
		p, err := parts.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b.parts = append(b.parts, p.PartSum)
	}
}

// learn takes in what a line says.
func (b *BrokenOff) learn(l *Line) {
	b.Names.Learn(l)
	b.lines, b.last = l.N+1, l.At
	if l.Step != nil {
		key, _ := json.Marshal(l.Step) // it was read from JSON
		t := b.Names.TaskOf(l.Task)
		b.steps[string(key)] = l.Task
		b.sum.begin(l.Task, t)
		b.Tasks[t.ID] = t
	}
	switch l.Kind {
	case KindStage:
		if l.Stage != nil {
			b.sum.stage(l.Stage)
		}
	case KindHost:
		b.hosts[l.Name] = l.Host
	case KindDone:
		o := wire.Outcome{Status: l.Status}
		if l.Outcome != nil {
			o.Ignored, o.Rescued = l.Outcome.Ignored, l.Outcome.Rescued
		}
		b.sum.done(l.Task, b.Names.Host(l.Host), &o)
		b.done[[2]int{l.Task, l.Host}] = true
	}
}

// Has reports whether the record has the end of a task on a host.
func (b *BrokenOff) Has(t view.Task, host string) bool {
	for number := len(b.steps); number > 0; number-- {
		if sameTask(b.Names.TaskOf(number), t) {
			return b.done[[2]int{number, b.hosts[host]}]
		}
	}
	return false
}

// Parts is how many parts the record has.
func (b *BrokenOff) Parts() int { return len(b.parts) }

// Resume makes the recorder that goes on with it. The writer's sinks must have what it has so far; they get no
// beginning.
func (b *BrokenOff) Resume(w *Writer, o RecorderOptions) *Recorder {
	w.mu.Lock()
	w.head, w.last, w.lines, w.sums = &b.Head, b.last, b.lines, b.parts
	w.mu.Unlock()
	for i := range w.sinks {
		w.sinks[i].begun = true
	}
	go w.write()
	return &Recorder{o: o, w: w, head: b.Head, now: b.last, hosts: b.hosts, steps: b.steps, sum: b.sum}
}
