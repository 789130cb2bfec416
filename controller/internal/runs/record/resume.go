package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// BrokenOff is a record that breaks off, with what is needed to go on with it.
type BrokenOff struct {
	Head Head
	// Names are the hosts and the tasks that have numbers.
	Names Names

	hosts map[string]int
	steps map[string]int
	sum   summary
	play  string                     // the last one
	tasks map[string]map[plan.ID]int // numbers of tasks, by play and step
	told  map[toldKey]int            // how many lines there are
	parts []PartSum
	lines int64
	last  time.Time

	unreachable map[int]bool // hosts whose last line in the record says so
}

// toldKey is what lines tell: the end of a task on a host, an item or a try.
type toldKey struct {
	play       string
	kind       Kind
	task, host int
}

// ReadBrokenOff reads a record that breaks off. A record that has an end, or whose run goes on, is an error.
func ReadBrokenOff(ctx context.Context, s Store, run string) (*BrokenOff, error) {
	e, err := s.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	if e.State != Lost {
		return nil, fmt.Errorf("run %s was not lost: it is %s", run, e.State)
	}
	b := &BrokenOff{
		Head: e.Head, hosts: map[string]int{}, steps: map[string]int{}, sum: newSummary(),
		tasks: map[string]map[plan.ID]int{}, told: map[toldKey]int{},
		unreachable: map[int]bool{}, lines: 1, last: e.Head.At,
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

// learn reads a line.
func (b *BrokenOff) learn(l *Line) {
	b.Names.Learn(l)
	b.lines, b.last = l.N+1, l.At
	if l.Step != nil {
		key, _ := json.Marshal(l.Step) // it was read from JSON
		t := b.Names.TaskOf(l.Task)
		b.steps[string(key)] = l.Task
		b.sum.begin(l.Task, t)
	}
	if l.Kind == KindPlay && l.Play != nil {
		b.play = l.Play.ID
	}
	b.learnTask(l.Task)
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
		b.unreachable[l.Host] = l.Status == wire.StatusUnreachable
	}
	switch l.Kind {
	case KindDone, KindItem, KindRetry:
		b.told[toldKey{b.play, l.Kind, l.Task, l.Host}]++
	}
}

// learnTask notes the step of a task of the last play.
func (b *BrokenOff) learnTask(number int) {
	if number == 0 {
		return
	}
	if b.tasks[b.play] == nil {
		b.tasks[b.play] = map[plan.ID]int{}
	}
	b.tasks[b.play][b.Names.TaskOf(number).ID] = number
}

// Task returns the task of a step of a play, false if the record has no line of it.
func (b *BrokenOff) Task(play string, step plan.ID) (view.Task, bool) {
	number := b.number(play, step)
	return b.Names.TaskOf(number), number > 0
}

// number returns the number of a task, 0 if the record has no line of it.
func (b *BrokenOff) number(play string, step plan.ID) int { return b.tasks[b.shown(play)][step] }

// shown returns a play as the record names it: a play that goes on after a meta clear_host_errors has a suffix.
func (b *BrokenOff) shown(play string) string {
	if b.tasks[play] == nil {
		if whole := strings.LastIndexByte(play, '.'); whole >= 0 && b.tasks[play[:whole]] != nil {
			return play[:whole]
		}
	}
	return play
}

// Told returns how many lines of a kind the record has of a step on a host: ends, items or tries.
func (b *BrokenOff) Told(play string, step plan.ID, host string, k Kind) int {
	return b.told[toldKey{b.shown(play), k, b.number(play, step), b.hosts[host]}]
}

// Has reports whether the record has the end of a step of the last play on a host.
func (b *BrokenOff) Has(step plan.ID, host string) bool {
	return b.Told(b.play, step, host, KindDone) > 0
}

// Unreachable reports whether the last line of a host in the record says that it was unreachable.
func (b *BrokenOff) Unreachable(host string) bool { return b.unreachable[b.hosts[host]] }

// Last returns when the last line that is there was told.
func (b *BrokenOff) Last() time.Time { return b.last }

// Parts returns how many parts the record has.
func (b *BrokenOff) Parts() int { return len(b.parts) }

// Resume returns the recorder that goes on with it. The writer's sinks must have what it has so far; they get no
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
