// Package progress follows each host of a batch through its play, so that no agent leaves a task out and says nothing
// of it. It judges; who is not believed is given up by others.
package progress

import (
	"cmp"
	"slices"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/playbook/plan"
)

// Tracker knows what the plan says that a host still owes an account of: each step that it comes by, skipped ones too.
// Where it cannot know, as with handlers, nothing is owed. It belongs to the goroutine of the batch.
type Tracker struct {
	steps *steps.Set
	by    map[string]*way
}

// way is how far one host has come.
type way struct {
	from, at plan.ID // where it began, and the last step up to which everything is known
	under    []plan.ID
	// left are the sections that it left by failing. It skips their other steps.
	left map[part]bool
	// ran is the first step of each role, by Identity, that it has reported; ending is the end of the role whose
	// remaining steps it passes over.
	ran    map[string]plan.ID
	ending plan.ID
	// notified are the handlers that its steps have notified, by name.
	notified []notice
	// fell is the step at which it failed out of the play or was lost, "" if it did not; handlers are the runs of handlers
	// that ended well.
	fell     plan.ID
	handlers []plan.ID
	// out: it has failed out of the play, or was told to leave. Nothing more is owed.
	out bool
}

// notice is that a step has notified handlers.
type notice struct {
	step  plan.ID
	names []string
	// before says that it was notified before the step, in an earlier run.
	before bool
}

// part is a section of a block, by the block's ID: what came with a fragment may come again.
type part struct {
	block   plan.ID
	section plan.Section
}

func partOf(p plan.Place) part { return part{p.Block.ID, p.Section} }

// New returns the Tracker of a batch whose hosts have reported nothing.
func New(of *steps.Set) *Tracker { return &Tracker{steps: of, by: map[string]*way{}} }

// Begin says that a host begins at a step, "" for the first.
func (c *Tracker) Begin(host string, from plan.ID) {
	w := &way{from: from}
	if was := c.by[host]; was != nil {
		w.notified = was.notified
	}
	places, _ := c.steps.Around(from)
	for _, p := range places {
		if p.Section == plan.InRescue { // it has failed in the body before
			w.leave(part{p.Block.ID, plan.InBody})
		}
	}
	c.by[host] = w
}

func (w *way) leave(p part) {
	if w.left == nil {
		w.left = map[part]bool{}
	}
	w.left[p] = true
}

// Owes says that a host had notified handlers, by name, before it began at a step.
func (c *Tracker) Owes(host string, at plan.ID, handlers []string) {
	if len(handlers) > 0 {
		w := c.of(host)
		w.notified = append(w.notified, notice{step: at, names: handlers, before: true})
	}
}

// Fell returns the step at which a host failed out of the play or was lost, "" if it did not: with a handler, the flush
// that runs it. after are the runs of handlers that ended well at or after that step.
func (c *Tracker) Fell(host string) (at plan.ID, after []plan.ID) {
	w := c.of(host)
	at = c.flushOf(w.fell)
	for _, run := range w.handlers {
		if plan.Compare(c.flushOf(run), at) >= 0 {
			after = append(after, run)
		}
	}
	return at, after
}

// Included returns the fragments that a host has included.
func (c *Tracker) Included(host string) []plan.ID { return c.of(host).under }

// flushOf returns the flush that runs a handler, the step itself for others.
func (c *Tracker) flushOf(id plan.ID) plan.ID {
	for i, r := range id {
		if s := c.steps.Step(id[:i]); r == '.' && s != nil && s.Kind == plan.Meta {
			return id[:i]
		}
	}
	return id
}

func (c *Tracker) of(host string) *way {
	if c.by[host] == nil {
		c.Begin(host, "")
	}
	return c.by[host]
}

// Leave says that nothing more is owed of a host.
func (c *Tracker) Leave(host string) { c.of(host).out = true }

// Out reports whether it is known why a host takes no further part.
func (c *Tracker) Out(host string) bool { return c.of(host).out }

// Missed returns a step before another (before any, for "") that a host should have reported; nil if there is none.
func (c *Tracker) Missed(host string, before plan.ID) *plan.Step {
	w := c.of(host)
	if w.out {
		return nil
	}
	for _, id := range c.steps.Steps(w.at, before) {
		if s := c.steps.Step(id); c.expected(w, s, id) {
			return s
		}
	}
	return nil
}

// expected reports whether a host comes by a step that lies ahead of it.
func (c *Tracker) expected(w *way, s *plan.Step, id plan.ID) bool {
	switch {
	case s.Implicit && s.Kind == plan.Meta, plan.Compare(id, w.from) < 0, w.ending != "" && plan.Compare(id, w.ending) < 0:
		return false
	case !c.entered(w, id):
		return false
	}
	places, _ := c.steps.Around(id)
	for _, p := range places {
		if w.left[partOf(p)] || p.Section == plan.InRescue && !w.left[part{p.Block.ID, plan.InBody}] {
			return false
		}
	}
	return !c.completed(w, s, id)
}

// entered reports whether a host has included all the fragments that a step lies in, one in the other.
func (c *Tracker) entered(w *way, id plan.ID) bool {
	for i, r := range id {
		if r != '.' || c.steps.Step(id[:i]) == nil {
			continue
		}
		fragment := id
		if n := strings.IndexByte(string(id[i+1:]), '.'); n >= 0 {
			fragment = id[:i+1+n]
		}
		if !slices.Contains(w.under, fragment) {
			return false
		}
	}
	return true
}

// completed reports whether a step may be passed over because its role was done before, under whatever key.
func (c *Tracker) completed(w *way, s *plan.Step, id plan.ID) bool {
	r := c.steps.RoleOf(s)
	if r == nil || r.AllowDuplicates || w.ran[r.Identity] == "" {
		return false
	}
	end := c.roleEnd(w.ran[r.Identity], r.Identity)
	return end != "" && plan.Compare(end, id) < 0
}

// roleEnd returns where the role of a step ends, "" if that is not known.
func (c *Tracker) roleEnd(step plan.ID, identity string) plan.ID {
	return c.steps.NextRoleEnd(step, func(key string) bool {
		r := c.steps.RoleOf(&plan.Step{Role: key})
		return r != nil && r.Identity == identity
	})
}

// Note takes in that a host has done a step.
func (c *Tracker) Note(e wire.Event) {
	s, w := c.steps.Step(e.Step), c.of(e.Host)
	if e.Kind != wire.Done || e.Outcome == nil || s == nil {
		return
	}
	o, r := e.Outcome, c.steps.RoleOf(s)
	if w.at == "" || plan.Compare(e.Step, w.at) > 0 {
		w.at = e.Step
	}
	if r != nil && w.ran[r.Identity] == "" {
		if w.ran == nil {
			w.ran = map[string]plan.ID{}
		}
		w.ran[r.Identity] = e.Step
	}
	if len(o.Notify) > 0 {
		w.notified = append(w.notified, notice{step: e.Step, names: o.Notify})
	}
	if s.Handler && o.Status != wire.StatusFailed && o.Status != wire.StatusUnreachable {
		w.handlers = append(w.handlers, e.Step)
	}
	for _, in := range o.Included {
		w.under = append(w.under, e.Step.Under(in.Index))
	}
	switch {
	case o.Status == wire.StatusUnreachable && !o.Ignored && !o.Cancelled:
		w.fell = cmp.Or(w.fell, e.Step)
		w.out = true
	case o.Cancelled:
		w.out = true
	case o.Status == wire.StatusFailed && !o.Ignored:
		c.Fail(e.Host, e.Step)
	case o.Status == wire.Skipped:
	case o.Meta == "end_host", o.Meta == "end_play", o.Meta == "end_batch":
		w.out = true
	case o.Meta == "end_role" && r != nil:
		w.ending = c.roleEnd(e.Step, r.Identity)
	}
}

// Pending returns the names of handlers that a host has notified and that no flush before a step has run. With ""
// there are none.
func (c *Tracker) Pending(host string, step plan.ID) []string {
	var names []string
	if step == "" {
		return nil
	}
	for _, n := range c.of(host).notified {
		flushed := false
		between := c.steps.Steps(n.step, step)
		if n.before && plan.Compare(n.step, step) < 0 {
			between = append(between, n.step)
		}
		for _, id := range between {
			s := c.steps.Step(id)
			flushed = flushed || s != nil && s.Kind == plan.Meta && steps.RawText(s, "_raw_params") == "flush_handlers"
		}
		if !flushed {
			names = append(names, n.names...)
		}
	}
	return names
}

// Fail notes that a host has failed at a step: it leaves the sections around that, up to the one whose rescue takes
// the failure.
func (c *Tracker) Fail(host string, at plan.ID) {
	w := c.of(host)
	places, handler := c.steps.Around(at)
	for i, p := range places {
		w.leave(partOf(p))
		if p.Section == plan.InBody && len(p.Block.Rescue) > 0 && (!handler || i == len(places)-1) {
			return
		}
	}
	w.fell = cmp.Or(w.fell, at)
	w.out = true
}
