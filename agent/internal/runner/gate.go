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

// gates are the gates at which a host waits.
type gates struct{ g *playState }

// pass lets the host pass to a step, or returns what becomes of it instead.
func (w gates) pass(ctx context.Context, s *plan.Step, id plan.ID) (gateResult, error) {
	if !w.g.play.Gated || !s.Gate && !w.g.play.AllGated {
		return w.peek(ctx)
	}
	if w.g.start.Go == id { // it was let go before it arrived
		w.g.start.Go = ""
		return w.commanded(ctx)
	}
	if w.g.line.pending != nil {
		w.g.line.settle(id)
	} else if w.g.line.lastGate != id {
		w.g.line.lastGate = id
		w.g.line.send(wire.Event{Kind: wire.AtGate, Next: id})
	}
	defer func() { w.g.line.lastGate = "" }()
	for {
		a, err := w.g.cfg.Gate(ctx, id)
		if err != nil {
			return gateResult{}, err
		}
		if g, ok := w.concerns(a, id); ok {
			return g, nil
		}
	}
}

// ahead reports whether a host that skips a step need not wait at its gate.
func (w gates) ahead(s *plan.Step, id plan.ID) bool {
	return s.Ahead && w.g.play.Gated && !w.g.play.AllGated && w.g.start.Go != id
}

// concerns reports whether an Advance moves this host, which stands at a step.
func (w gates) concerns(a wire.Advance, at plan.ID) (gateResult, bool) {
	if a.Play != w.g.play.ID {
		return gateResult{}, false
	}
	w.g.stale = w.g.stale || slices.Contains(a.Stale, w.g.start.Host)
	switch {
	case slices.Contains(a.Drop, w.g.start.Host), a.EndPlay:
		return gateResult{verdict: gateLeave}, true
	case slices.Contains(a.Fail, w.g.start.Host):
		return gateResult{verdict: gateFail}, true
	case at == "" || a.Step != at, len(a.Only) > 0 && !slices.Contains(a.Only, w.g.start.Host):
		return gateResult{}, false
	case a.Shared != nil:
		return gateResult{verdict: gateAdopt, shared: a.Shared}, true
	}
	return gateResult{}, true
}

// peek looks, without waiting, for an Advance that ends the play for this host, in plays that are not gated.
func (w gates) peek(ctx context.Context) (gateResult, error) {
	if w.g.cfg.Gate == nil || w.g.play.Gated && !w.g.play.Free() {
		return gateResult{}, nil
	}
	return w.commanded(ctx)
}

// commanded returns what waiting Advances say of a host that waits for none.
func (w gates) commanded(ctx context.Context) (gateResult, error) {
	for {
		a, err := w.g.cfg.Gate(ctx, "")
		if err != nil || a.Seq == 0 {
			return gateResult{}, err
		}
		if g, ok := w.concerns(a, ""); ok {
			return g, nil
		}
	}
}
