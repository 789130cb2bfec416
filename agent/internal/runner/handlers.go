package runner

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// handler is a handler with its standing on this host.
type handler struct {
	plan.Handler
	notified bool
	// name is the rendered name, once rendered is set; "" is a name that cannot be rendered.
	name     string
	rendered bool
}

// handlers are those of a plan, and which of them are notified.
type handlers struct {
	list  []*handler
	roles map[string]*plan.Role // by key; shared with the walk, and grows with it
	line  *line
	// render gives the name of a handler as the host has it.
	render func(ctx context.Context, s *plan.Step) (string, error)
	// apart, if set, is told what a single step notifies, which its controller marks; see Single.
	apart *[]plan.ID
}

// add takes in a handler, once.
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
			hs.mark(by, h)
		}
	}
}

// flush runs the handlers that were notified, in their order; id is the flush. A handler that is notified while an
// earlier one runs joins, one that lies behind waits for the next flush.
func (r *walk) flush(ctx context.Context, id plan.ID) (flow, error) {
	r.at.flushing = id
	defer func() { r.at.flushing = "" }()
	for i := 0; i < len(r.handlers.list); i++ {
		h := r.handlers.list[i]
		if !h.notified {
			continue
		}
		run := id + "." + h.Step.ID
		f, err := r.step(ctx, h.Step, run)
		h.notified = false
		if f != onward || err != nil {
			return f, err
		}
	}
	return onward, nil
}

// notify marks the handlers of the names and tells of those that were not notified yet. It gives the first name that
// nobody answers to; the names after it are not looked at.
func (hs *handlers) notify(ctx context.Context, step plan.ID, names []string) (missing string) {
	for _, name := range names {
		found := hs.named(ctx, step, name)
		if found != nil {
			hs.mark(step, found)
		}
		listening := false
		for _, h := range hs.list {
			if hs.listens(h, name) {
				listening = true
				hs.mark(step, h)
			}
		}
		if found == nil && !listening {
			return name
		}
	}
	return ""
}

// remember marks the handlers that an earlier session of the play has notified, and reported.
func (hs *handlers) remember(ctx context.Context, resume plan.ID, names []string) {
	for _, name := range names {
		if found := hs.named(ctx, resume, name); found != nil {
			found.notified = true
		}
		for _, h := range hs.list {
			h.notified = h.notified || hs.listens(h, name)
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

func (hs *handlers) mark(step plan.ID, h *handler) {
	if hs.apart != nil {
		if !slices.Contains(*hs.apart, h.Step.ID) {
			*hs.apart = append(*hs.apart, h.Step.ID)
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

// named finds the handler of a name: of several those of the last group count, and of these the first. Names of
// handlers may not depend on the host in Ansible, which renders them once.
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
			hs.line.warn(step, "Handler '"+h.Step.Name+"' is unusable because it has no listen topics and the name could not be templated "+
				"(host-specific variables are not supported in handler names). The error: "+err.Error())
		}
		return false
	}
	h.name, h.rendered = text, true
	return text != ""
}
