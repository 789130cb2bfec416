package link

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"hark/agent/wire"
)

// pendingExec is a delegated call that waits for its result.
type pendingExec struct {
	peer *peer
	done chan execResult // one slot
	life string          // of the agent that took it, "" until it has; guarded by members.mu
	over bool            // it was given up: it is not to begin any more; guarded by members.mu
	grants
}

// takenBy reports whether a life of the agent has the call: the first that is heard of. An agent of an earlier
// version does not say which it is. members.mu is held.
func (x *pendingExec) takenBy(life string) bool {
	if life == "" {
		return true
	}
	x.life = cmp.Or(x.life, life)
	return x.life == life
}

type execResult struct {
	json json.RawMessage
	err  error
}

// ThisProcess, as wire.Exec.Agent, is the agent in the controller's own process.
const ThisProcess = "@"

// Exec implements Link.
func (h *Hub) Exec(ctx context.Context, e wire.Exec) ([]byte, error) {
	route := func() (*peer, error) { return h.route(ctx, e.Host) }
	switch e.Agent {
	case "":
	case ThisProcess:
		route = h.localPeer
	default:
		route = func() (*peer, error) { return h.agent(ctx, e.Host, e.Agent) }
	}
	p, err := route()
	if err != nil {
		return nil, err
	}
	x := &pendingExec{peer: p, done: make(chan execResult, 1)}
	h.members.mu.Lock()
	p.hosts[e.Host] = true
	h.members.calls[e.ID] = x
	if p.is(hasEnded) {
		p.end(needsEnd) // it has forgotten the run, and begins it again
	}
	h.members.mu.Unlock()
	defer func() {
		h.members.mu.Lock()
		defer h.members.mu.Unlock()
		delete(h.members.calls, e.ID)
	}()

	// The result may overtake the acknowledgement, or the acknowledgement may be lost.
	acked := make(chan error, 1)
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	h.work.Go(func() {
		order := wire.Order{
			Exec: e, HostKey: p.hostKey, Lease: h.cfg.Lease, Unsigned: true, Sealed: true, Lives: true,
		}
		ack, err := h.requests.command(sending, p, wire.KindExec, "", wire.NewNonce(), order)
		h.members.mu.Lock()
		x.life = cmp.Or(x.life, ack.Life)
		h.members.mu.Unlock()
		acked <- err
	})
	for {
		select {
		case r := <-x.done:
			return r.json, r.err
		case err := <-acked:
			if err != nil {
				return nil, h.requests.absent(ctx, p, e.Host, err)
			}
			acked = nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-h.ctx.Done():
			return nil, errors.New("the run is over")
		}
	}
}

// takeExecDone hands the result of a call to the one who waits for it. A result that comes again is only acknowledged.
func (h *Hub) takeExecDone(m wire.Msg, f *wire.Frame, p *peer) error {
	var d wire.ExecDone
	if err := h.replies.open(f, p, &d); err != nil {
		return err
	}
	h.members.finishCall(d.ID, p, execResult{json: d.Result})
	h.replies.reply(m, f, p, wire.Acked{Run: h.cfg.Run})
	return nil
}
