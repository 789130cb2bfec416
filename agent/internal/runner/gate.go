package runner

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

type gateVerdict int

const (
	gateGo gateVerdict = iota
	gateFail
	gateLeave
	gateAdopt
)

type gateResult struct {
	verdict gateVerdict
	shared  *wire.Outcome
}

// gate lets the host pass to a step, or tells what becomes of it instead.
func (r *walk) gate(ctx context.Context, s *plan.Step, id plan.ID) (gateResult, error) {
	if !r.doc.Play.Gated || !s.Gate && !r.doc.Play.AllGated {
		return r.peek(ctx)
	}
	if r.start.Go == id { // it was let go before it came here
		r.start.Go = ""
		return commanded(ctx, r)
	}
	if r.line.pending != nil {
		r.line.settle(id)
	} else if r.line.told != id {
		r.line.told = id
		r.line.send(wire.Event{Kind: wire.AtGate, Next: id})
	}
	defer func() { r.line.told = "" }()
	for {
		a, err := r.cfg.Gate(ctx, id)
		if err != nil {
			return gateResult{}, err
		}
		if g, ok := r.concerns(a, id); ok {
			return g, nil
		}
	}
}

// concerns tells whether an Advance moves this host, which stands at a step.
func (r *walk) concerns(a wire.Advance, at plan.ID) (gateResult, bool) {
	if a.Play != r.doc.Play.ID {
		return gateResult{}, false
	}
	r.stale = r.stale || slices.Contains(a.Stale, r.start.Host)
	switch {
	case slices.Contains(a.Drop, r.start.Host), a.EndPlay:
		return gateResult{verdict: gateLeave}, true
	case slices.Contains(a.Fail, r.start.Host):
		return gateResult{verdict: gateFail}, true
	case at == "" || a.Step != at, len(a.Only) > 0 && !slices.Contains(a.Only, r.start.Host):
		return gateResult{}, false
	case a.Shared != nil:
		return gateResult{verdict: gateAdopt, shared: a.Shared}, true
	}
	return gateResult{}, true
}

// peek looks, without waiting, for an Advance that ends the play for this host: plays that are not gated hear of it so.
func (r *walk) peek(ctx context.Context) (gateResult, error) {
	if r.cfg.Gate == nil || r.doc.Play.Gated && !r.doc.Play.Free() {
		return gateResult{}, nil
	}
	return commanded(ctx, r)
}

// commanded is what the Advances that are there say of a host, which waits for none.
func commanded(ctx context.Context, r *walk) (gateResult, error) {
	for {
		a, err := r.cfg.Gate(ctx, "")
		if err != nil || a.Seq == 0 {
			return gateResult{}, err
		}
		if g, ok := r.concerns(a, ""); ok {
			return g, nil
		}
	}
}
