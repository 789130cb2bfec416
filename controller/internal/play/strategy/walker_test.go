package strategy

import (
	"fmt"
	"iter"
	"slices"

	"hark/playbook/plan"
)

// walker is one host. Its walk stops at gates, where it tells what it has done and waits for an order.
type walker struct {
	w     *world
	name  string
	mail  []func() // what it has told and has not arrived
	order order
	next  func() (plan.ID, bool) // goes on to the next gate
	// at is the gate at which it waits; over: it has left, or was lost.
	at   plan.ID
	over bool
	did  map[plan.ID]bool
	// ahead is the step at whose gate it does not wait.
	ahead plan.ID
	// pending is the step that it has done and not told: that comes with where it stands next.
	pending *Done
	ends    int
}

// order is what a host is told at a gate.
type order int

const (
	doStep order = iota
	passStep
	takeOver
	takeFailure
	failHere
	leaveNow
)

// flow is how a host goes on behind a node of the plan.
type flow int

const (
	onward flow = iota
	fails
	leaves
)

// walk is the way of a host through the plan. It yields at each gate; the order is there when it goes on.
func (h *walker) walk() iter.Seq[plan.ID] {
	return func(yield func(plan.ID) bool) {
		f := onward
		for i := range h.w.plan.Blocks {
			if f = h.block(&h.w.plan.Blocks[i], yield); f != onward {
				break
			}
		}
		h.tell("")
		why := Ended
		if f == fails {
			why = Failed
		}
		h.leave(why)
	}
}

func (h *walker) block(b *plan.Block, yield func(plan.ID) bool) flow {
	f := h.nodes(b.Body, yield)
	if f == fails && len(b.Rescue) > 0 {
		f = h.nodes(b.Rescue, yield)
	}
	if f != leaves && len(b.Always) > 0 {
		if g := h.nodes(b.Always, yield); g != onward {
			f = g
		}
	}
	return f
}

func (h *walker) nodes(list []plan.Node, yield func(plan.ID) bool) flow {
	for _, n := range list {
		f := onward
		if n.Block != nil {
			f = h.block(n.Block, yield)
		} else {
			f = h.step(n.Step, yield)
		}
		if f != onward {
			return f
		}
	}
	return onward
}

func (h *walker) step(s *plan.Step, yield func(plan.ID) bool) flow {
	o := doStep
	d := Done{Host: h.name, Step: s.ID}
	if _, ruled := h.w.rules[s.ID]; s.Ahead && !ruled && !h.w.c.Free && h.w.c.MaxFail == nil && s.ID != h.ahead &&
		h.w.one(2) {
		h.tell("") // it is skipped, which needs no turn
		h.pending = &d
		return onward
	}
	if s.Gate && s.ID != h.ahead {
		h.tell(s.ID)
		h.at = s.ID
		if !yield(s.ID) {
			return leaves
		}
		o = h.order
	}
	switch o {
	case leaveNow:
		return leaves
	case failHere:
		return fails
	case passStep, takeOver, takeFailure:
		d.Adopted = true
		if o == takeFailure {
			d.Came = Ill
		}
	default:
		h.did[s.ID] = true
		h.come(&d)
	}
	h.tell("") // what was done before is told with what comes next
	h.pending = &d
	switch {
	case d.Came == Ill || d.Came == Cancelled:
		return fails
	case d.Meta == MetaEndPlay || d.Meta == MetaEndBatch:
		return leaves
	}
	return onward
}

// come says at random how a step has come out.
func (h *walker) come(d *Done) {
	w := h.w
	switch w.rand.IntN(12) {
	case 0, 1:
		d.Came, d.Fatal, d.Excused = Ill, w.one(3), w.one(5)
		d.Rescued, _ = w.index.Handled(d.Step)
	case 2:
		if w.one(4) {
			d.Came = Cancelled
		}
	case 3:
		if w.one(3) {
			d.Meta, d.Fatal = []Meta{MetaEndPlay, MetaEndBatch, MetaClearErrors}[w.rand.IntN(3)], w.one(3)
		}
	}
}

// failedAt reports whether a host has done a step and failed at it, as it has told.
func (h *walker) failedAt(step plan.ID) bool {
	r := h.w.m.round
	return r != nil && r.step == step && slices.Contains(r.failed, h.name)
}

// goOn obeys an order at a gate.
func (h *walker) goOn(o order) {
	if h.over {
		return
	}
	h.order, h.at = o, ""
	h.next()
}

// tell returns what is pending, with where the host stands now, or that it has come to a gate.
func (h *walker) tell(next plan.ID) {
	if d := h.pending; d != nil {
		h.pending = nil
		d.Next = next
		h.post(fmt.Sprintf("%s did %+v", h.name, *d), func() { h.w.m.Did(*d) })
	} else if next != "" {
		h.post(h.name+" at "+string(next), func() { h.w.m.Stand(h.name, next) })
	}
}

func (h *walker) leave(why HostState) {
	h.over = true
	h.post(fmt.Sprintf("%s left %d", h.name, why), func() {
		h.ends++
		h.w.m.Leave(h.name, why)
	})
}

func (h *walker) post(what string, say func()) {
	h.mail = append(h.mail, func() {
		h.w.trace = append(h.w.trace, what)
		say()
	})
}

// lose has a host vanish: what it has not told is lost, and the driver tells its end.
func (h *walker) lose() {
	h.w.trace = append(h.w.trace, h.name+" is lost")
	h.over, h.mail, h.at = true, nil, ""
	h.ends++
	if step := h.w.m.At(h.name); step != "" && h.w.one(2) {
		h.w.m.Did(Done{Host: h.name, Step: step, Came: Lost, Fatal: h.w.one(4)})
	}
	h.w.m.Leave(h.name, Unreachable)
}
