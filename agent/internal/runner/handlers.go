package runner

import (
	"context"
	"errors"
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// handler is a handler with its state on this host.
type handler struct {
	plan.Handler
	notified bool
	// name is the rendered name, once rendered is set; "" if it cannot be rendered.
	name     string
	rendered bool
}

// handlers are the handlers of a plan, and which of them are notified.
type handlers struct {
	list []*handler
	// behind is the place behind the handler that has failed in the last flush.
	behind int
	roles  map[string]*plan.Role // by key; shared with the walk, and grows with it
	line   *controllerLink
	// render gives the name of a handler as the host has it.
	render func(ctx context.Context, s *plan.Step) (string, error)
	// apart, if set, collects what a single step notifies, which the controller marks; see Single.
	apart *notified
	// late has names wait for the next flush, which looks for their handlers then; saved are those that wait. A flush
	// is under way while now is set: what its handlers notify is marked at once.
	late, now bool
	saved     []string
}

// notified is what a step has notified: the steps of handlers, or names that wait for the next flush.
type notified struct {
	steps []plan.ID
	names []string
}

// add adds a handler, once.
func (hs *handlers) add(h plan.Handler) {
	for _, known := range hs.list {
		if known.Step.ID == h.Step.ID {
			return
		}
	}
	hs.list = append(hs.list, &handler{Handler: h})
}

// marked notes that the controller has notified a handler, by its step.
func (hs *handlers) marked(by plan.ID, step plan.ID) {
	for _, h := range hs.list {
		if h.Step.ID == step {
			hs.markNotified(by, h)
		}
	}
}

// flush runs the notified handlers in their order; id is the flush. A handler that is notified while an earlier one
// runs joins them; one that lies behind waits for the next flush.
func (r *walk) flush(ctx context.Context, id plan.ID) (flow, error) {
	if r.at.lost() {
		return leaveFailed, nil
	}
	r.at.flushing, r.at.within, r.handlers.now = id, len(r.at.frames), true
	defer func() { r.at.flushing, r.handlers.now = "", false }()
	r.handlers.expand(ctx, id)
	first := 0
	if r.at.failsAsTask { // Ansible goes on behind the handler that has failed
		first = r.handlers.behind
	}
	r.handlers.behind = 0
	for i := first; i < len(r.handlers.list); i++ {
		h := r.handlers.list[i]
		if !h.notified {
			continue
		}
		run := id + "." + h.Step.ID
		f, err := r.step(ctx, h.Step, run)
		h.notified = false
		if f != onward || err != nil {
			r.handlers.behind = i + 1
			return f, err
		}
	}
	return onward, nil
}

// notify marks the handlers with the names and reports those that were not notified before. It returns the first name
// without a handler, and ignores the names after it.
func (hs *handlers) notify(ctx context.Context, step plan.ID, names []string) (missing string) {
	for _, name := range names {
		found := hs.answering(ctx, step, name)
		if len(found) == 0 {
			return name
		}
		if hs.late && !hs.now {
			hs.save(name)
			continue
		}
		for _, h := range found {
			hs.markNotified(step, h)
		}
	}
	return ""
}

// missing returns the first of the names without a handler, "" if there is none.
func (hs *handlers) missing(ctx context.Context, step plan.ID, names []string) string {
	for _, name := range names {
		if len(hs.answering(ctx, step, name)) == 0 {
			return name
		}
	}
	return ""
}

// lacking ends the run for a name without a handler.
func (hs *handlers) lacking(step plan.ID, name string) error {
	text := MissingHandler(name)
	hs.line.emit(wire.Event{Kind: wire.Broken, Step: step, Text: text})
	return errors.New(text)
}

// answering returns the handlers of a name, and those that listen to it. Where names wait, of listeners that are
// called the same the last one counts: a role that is included twice has its handlers twice.
func (hs *handlers) answering(ctx context.Context, step plan.ID, name string) []*handler {
	var out []*handler
	if found := hs.named(ctx, step, name); found != nil {
		out = append(out, found)
	}
	for _, h := range hs.list {
		if !hs.listens(h, name) || slices.Contains(out, h) {
			continue
		}
		if hs.late && h.Step.Name != "" && hs.rendered(ctx, step, h) {
			same := func(o *handler) bool { return o.name == h.name && o.rendered && hs.listens(o, name) }
			out = slices.DeleteFunc(out, func(o *handler) bool { return same(o) && o.Group < h.Group })
			if slices.ContainsFunc(out, same) {
				continue
			}
		}
		out = append(out, h)
	}
	return out
}

// save has a name wait for the next flush.
func (hs *handlers) save(name string) {
	into := &hs.saved
	if hs.apart != nil {
		into = &hs.apart.names
	}
	if !slices.Contains(*into, name) {
		*into = append(*into, name)
	}
}

// expand marks the handlers of the names that have waited.
func (hs *handlers) expand(ctx context.Context, id plan.ID) {
	saved := hs.saved
	hs.saved = nil
	for _, name := range saved {
		for _, h := range hs.answering(ctx, id, name) {
			hs.markNotified(id, h)
		}
	}
}

// remember marks the handlers that an earlier session of the play has notified and reported.
func (hs *handlers) remember(ctx context.Context, resume plan.ID, names []string) {
	for _, name := range names {
		for _, h := range hs.answering(ctx, resume, name) {
			h.notified = true
		}
	}
}

// listens reports whether a name is a topic of a handler, with or without its role.
func (hs *handlers) listens(h *handler, name string) bool {
	role := hs.roles[h.Step.Role]
	return slices.ContainsFunc(h.Listen, func(topic string) bool {
		return topic == name || role != nil && (role.Name+" : "+topic == name || role.FullName()+" : "+topic == name)
	})
}

func (hs *handlers) markNotified(step plan.ID, h *handler) {
	if hs.apart != nil {
		if !slices.Contains(hs.apart.steps, h.Step.ID) {
			hs.apart.steps = append(hs.apart.steps, h.Step.ID)
		}
		return
	}
	if h.notified {
		return
	}
	h.notified = true
	name := h.name
	if name == "" {
		name = h.Step.Name
	}
	if name == "" {
		name = h.Step.Written
	}
	if role := hs.roles[h.Step.Role]; role != nil {
		name = role.FullName() + " : " + name
	}
	hs.line.emit(wire.Event{Kind: wire.Notified, Step: step, Text: name})
}

// named returns the handler of a name: of several those of the last group count, and of these the first. Names of
// handlers cannot depend on the host in Ansible, which renders them once.
func (hs *handlers) named(ctx context.Context, step plan.ID, name string) *handler {
	var found *handler
	for _, h := range hs.list {
		if h.Step.Name == "" || found != nil && h.Group <= found.Group || !hs.rendered(ctx, step, h) {
			continue
		}
		role := hs.roles[h.Step.Role]
		if h.name == name || role != nil && (role.Name+" : "+h.name == name || role.FullName()+" : "+h.name == name) {
			found = h
		}
	}
	return found
}

func (hs *handlers) rendered(ctx context.Context, step plan.ID, h *handler) bool {
	if h.rendered {
		return h.name != ""
	}
	text, err := hs.render(ctx, h.Step)
	if err != nil {
		if len(h.Listen) == 0 {
			hs.line.warn(step, "Handler '"+h.Step.Name+
				"' is unusable because it has no listen topics and the name could not be templated "+
				"(host-specific variables are not supported in handler names). The error: "+err.Error())
		}
		return false
	}
	h.name, h.rendered = text, true
	return text != ""
}
