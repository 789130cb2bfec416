package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"hark/agent/internal/runner"
	"hark/agent/wire"
)

// delegatedCallID identifies a delegated call among those of all runs.
type delegatedCallID struct{ issuer, run, id string }

// delegatedCall is one call for the step of another host (delegate_to).
type delegatedCall struct {
	ack    wire.Ack
	ready  chan struct{} // closed when ack is set
	cancel context.CancelCauseFunc
	late   bool // of an always section of a cancelled run
}

// delegatedCalls are the calls that run or wait to run.
type delegatedCalls struct {
	mu   *sync.Mutex                        // the agent's: a hand-over looks at runs, openings and calls at one moment
	byID map[delegatedCallID]*delegatedCall // guarded by mu
}

// handleDelegatedCall runs a call. If the same call comes again it is acknowledged but not run again.
func (a *Agent) handleDelegatedCall(l *letter) {
	var in wire.Order
	if err := l.Body(a.codec, wire.SealBox, wire.Keys{Own: a.cfg.Identity}, &in); err != nil {
		a.inbox.refuse(l.msg, wire.KindExec, err)
		a.inbox.answer(l, wire.Ack{Run: l.Header.Run, Err: err.Error()})
		return
	}
	id := delegatedCallID{l.Header.Issuer, l.Header.Run, in.Exec.ID}
	a.mu.Lock()
	if a.handover.others(wire.KindExec, l.Header.Run) { // since a moment ago
		a.mu.Unlock()
		return
	}
	o := a.calls.byID[id]
	again := o != nil
	if !again {
		o = &delegatedCall{ready: make(chan struct{}), late: in.Exec.Late}
		a.calls.byID[id] = o
	}
	ctx := a.ctx
	a.mu.Unlock()
	a.serve(func() {
		if again {
			<-o.ready
			a.inbox.acknowledge(l, o.ack, in.HostKey, in.Sealed)
			return
		}
		defer a.rest()
		defer a.calls.forget(id)
		a.obey(ctx, l, &in, o)
	})
}

// obey acknowledges a call, runs it and sends its result until the controller has it.
func (a *Agent) obey(ctx context.Context, l *letter, in *wire.Order, o *delegatedCall) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o.ack = wire.Ack{Run: in.Exec.Run, Host: in.Exec.Host, Life: a.life}
	take := a.inbox.journal.Take
	if in.Lives {
		take = a.inbox.journal.TakeBriefly
	}
	err := a.inbox.let(l, take, nothing)
	if err == nil && in.Exec.Run != l.Header.Run {
		err = refusal("the call is of run %q, its envelope of %q", in.Exec.Run, l.Header.Run)
	}
	if err != nil {
		a.inbox.refuse(l.msg, wire.KindExec, err)
		o.ack.Err = a.inbox.because(err).Error()
	}
	a.mu.Lock()
	o.cancel = cancel
	a.mu.Unlock()
	close(o.ready)
	a.inbox.acknowledge(l, o.ack, in.HostKey, in.Sealed)
	if err != nil {
		return
	}
	line := newControllerLink(a, l.Header.Issuer, in.Exec.Run, in.Exec.Host, in.HostKey, terms{lease: in.Lease})
	line.begin(wire.Session{Life: a.life}, terms{lease: in.Lease})
	line.unsigned = in.Unsigned
	line.over = func() { cancel(errEnded) }
	var keeping sync.WaitGroup
	now := make(chan struct{}, 1)
	keeping.Go(func() {
		line.keep(ctx, now,
			func() wire.Renew { return wire.Renew{Session: line.says(), Call: in.Exec.ID, Host: in.Exec.Host} },
			func(wire.Renewed) {})
	})
	// The message may have been on its way for so long that nobody waits for the result.
	poke(now)
	switch err := line.awaitWanted(ctx, func() { poke(now) }); {
	case err == nil:
		a.deliver(ctx, line, in.Exec)
	case errors.Is(err, errSlow):
		failed, _ := json.Marshal(map[string]any{"failed": true, "msg": err.Error()}) // plain data always encodes
		_ = line.report(ctx, wire.ExecDone{ID: in.Exec.ID, Result: failed})
	}
	cancel(nil)
	keeping.Wait()
	line.close()
}

// deliver runs the call and sends its result.
func (a *Agent) deliver(ctx context.Context, line *controllerLink, e wire.Exec) {
	result := a.execute(ctx, line, e)
	if ctx.Err() != nil {
		return
	}
	err := line.report(ctx, wire.ExecDone{ID: e.ID, Result: result})
	if errors.Is(err, wire.ErrTooLarge) {
		failed, _ := json.Marshal(map[string]any{"failed": true,
			"msg": fmt.Sprintf("the result of %d MB is too large to be sent", len(result)>>20)})
		err = line.report(ctx, wire.ExecDone{ID: e.ID, Result: failed})
	}
	if err != nil {
		a.cfg.Logger.Warn().Str("run", line.run).Str("call", e.ID).AnErr("cause", err).
			Msg("the result of a call was not taken")
	}
}

// report sends a result until the controller has it.
func (l *controllerLink) report(ctx context.Context, done wire.ExecDone) error {
	q, err := l.packResult(wire.KindExecDone, done)
	if err != nil {
		return err
	}
	var ack wire.Acked
	return l.request(ctx, q, &ack)
}

// execute runs the call. It always returns a result as JSON, even if the call fails.
func (a *Agent) execute(ctx context.Context, l *controllerLink, e wire.Exec) (result json.RawMessage) {
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.Error().Str("run", e.Run).Str("call", e.ID).Any("panic", p).Bytes("stack", debug.Stack()).
				Msg("a call broke")
			result, _ = json.Marshal(map[string]any{"failed": true, "msg": fmt.Sprintf("internal error: the call broke: %v", p)})
		}
	}()
	if e.Call.Module == wire.UpgradeModule {
		return a.upgrader.order(ctx, l, e)
	}
	t := newAuditLog(l, e.Play)
	defer t.called(e.Step)
	return runner.Exec(ctx, t.watch(a.runner(l, wire.Ask{Run: e.Run, Play: e.Play, Host: e.Host, Step: e.Step}, l.ask)), e)
}

func (c *delegatedCalls) forget(id delegatedCallID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}

// stop ends the calls of a run. With spareLate the calls of always sections of a cancelled run go on.
func (c *delegatedCalls) stop(run, issuer string, cause error, spareLate bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, o := range c.byID {
		if id.run == run && id.issuer == issuer && o.cancel != nil && !(spareLate && o.late) {
			o.cancel(cause)
		}
	}
}
