package runner

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/modules/py/value"
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

func (r *walk) addHandler(h plan.Handler) {
	for _, known := range r.handlers {
		if known.Step.ID == h.Step.ID {
			return
		}
	}
	r.handlers = append(r.handlers, &handler{Handler: h})
}

// flush runs the handlers that were notified, in their order; id is the flush. A handler that is notified while an earlier
// one runs joins, one that lies behind waits for the next flush.
func (r *walk) flush(ctx context.Context, id plan.ID) (flow, error) {
	r.flushing = id
	defer func() { r.flushing = "" }()
	for i := 0; i < len(r.handlers); i++ {
		h := r.handlers[i]
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
func (r *walk) notify(ctx context.Context, step plan.ID, names []string) (missing string) {
	for _, name := range names {
		found := r.named(ctx, step, name)
		if found != nil {
			r.mark(step, found)
		}
		listening := false
		for _, h := range r.handlers {
			if r.listens(h, name) {
				listening = true
				r.mark(step, h)
			}
		}
		if found == nil && !listening {
			return name
		}
	}
	return ""
}

// remember marks the handlers that an earlier session of the play has notified, and told of.
func (r *walk) remember(ctx context.Context, names []string) {
	for _, name := range names {
		if found := r.named(ctx, r.start.Resume, name); found != nil {
			found.notified = true
		}
		for _, h := range r.handlers {
			h.notified = h.notified || r.listens(h, name)
		}
	}
}

// listens tells whether a name is a topic of a handler, with or without its role.
func (r *walk) listens(h *handler, name string) bool {
	role := r.roles[h.Step.Role]
	return slices.ContainsFunc(h.Listen, func(topic string) bool {
		return topic == name || role != nil && (role.Name+" : "+topic == name || role.FullName()+" : "+topic == name)
	})
}

func (r *walk) mark(step plan.ID, h *handler) {
	if r.single {
		if !slices.Contains(r.notified, h.Step.ID) {
			r.notified = append(r.notified, h.Step.ID)
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
	if role := r.roles[h.Step.Role]; role != nil {
		name = role.FullName() + " : " + name
	}
	r.emit(wire.Event{Kind: wire.Notified, Step: step, Text: name})
}

// named finds the handler of a name: of several those of the last group count, and of these the first. Names of
// handlers may not depend on the host in Ansible, which renders them once.
func (r *walk) named(ctx context.Context, step plan.ID, name string) *handler {
	var found *handler
	for _, h := range r.handlers {
		if h.Step.Name == "" || found != nil && h.Group <= found.Group || !r.renderHandler(ctx, step, h) {
			continue
		}
		role := r.roles[h.Step.Role]
		if h.name == name || role != nil && (role.Name+" : "+h.name == name || role.FullName()+" : "+h.name == name) {
			found = h
		}
	}
	return found
}

func (r *walk) renderHandler(ctx context.Context, step plan.ID, h *handler) bool {
	if h.rendered {
		return h.name != ""
	}
	e := r.newEval(h.Step, h.Step.ID, nil)
	text, err := e.tpl.Text(ctx, value.YAMLStr(h.Step.Name))
	if err != nil {
		if len(h.Listen) == 0 {
			r.warn(step, "Handler '"+h.Step.Name+"' is unusable because it has no listen topics and the name could not be templated "+
				"(host-specific variables are not supported in handler names). The error: "+err.Error())
		}
		return false
	}
	h.name, h.rendered = text, true
	return text != ""
}
