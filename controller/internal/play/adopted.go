package play

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hark/agent/evaluate"
	"hark/agent/wire"
	"hark/playbook/plan"
)

// adoptable is the step in hand of a host that was lost while it waited for a job, with the job: its agent, when it is back, knows how that
// ended. A loop may wait for several, and a session cannot be begun within a section whose failure leads elsewhere.
func (b *batchRun) adoptable(host string) (*plan.Step, string) {
	id := b.current[host]
	s, job := b.steps.Step(id), b.polls.Job(host)
	if s == nil || s.ID != id || job == "" || !b.doing[host] || b.handouts.of(host) == nil || s.Loop != nil || len(s.Until) > 0 || !s.DelegateTo.IsZero() {
		return nil, ""
	}
	places, _ := b.steps.Around(id)
	for _, p := range places {
		if p.Section != plan.InBody || len(p.Block.Rescue)+len(p.Block.Always) > 0 {
			return nil, ""
		}
	}
	return s, job
}

// awaitJob waits for the job that a lost host has left behind, has the step judged by how it ended, and opens a new session behind it.
func (b *batchRun) awaitJob(host, reason string, s *plan.Step, job string) {
	h := b.handouts.of(host)
	b.r.work.Go(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		within, end := b.within(b.r.ctx, false)
		defer end()
		var did *wire.Did
		if b.reach(within, host, s, job) {
			did, _ = b.single(h).Do(within, evaluate.Stand{Step: s, ID: s.ID, Vars: b.r.mirror.Start(host), Job: job})
		}
		_ = b.aside(b.ends, func() { b.jobEnded(host, reason, s, did) })
	})
}

// reach waits until the agent of a host is back, as long as that may take.
func (b *batchRun) reach(ctx context.Context, host string, s *plan.Step, job string) bool {
	c := wire.Call{Module: s.Action, Name: s.Written, Args: json.RawMessage("{}"), Await: job, Patience: time.Millisecond}
	ctx, cancel := context.WithTimeoutCause(ctx, returnLimit, errors.New("it did not come back"))
	defer cancel()
	for {
		a := b.r.answers.Answer(ctx, wire.Ask{Run: b.r.in.Run, Play: b.plan.Play.ID, Host: host, Kind: wire.AskDelegate, Step: s.ID, Name: host, Call: &c})
		if a.Err == "" {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(returnPause):
		}
	}
}

// jobEnded lets a host go on behind the step whose job has ended.
func (b *batchRun) jobEnded(host, reason string, s *plan.Step, did *wire.Did) {
	ended := wire.Event{Own: true, Run: b.r.in.Run, Play: b.plan.Play.ID, Host: host, Kind: wire.Ended}
	switch {
	case !b.machine.Live(host):
	case did == nil && b.pardoned(host) != nil:
		b.goOn(host, reason+b.unknown(host), s)
	case did == nil:
		b.unreachable(host, reason+b.unknown(host))
		b.publish(wire.Advance{Drop: []string{host}})
	case did.Outcome.Status == wire.StatusUnreachable && !did.Outcome.Ignored:
		ended.Fate = wire.Unreachable
		b.handle(ended)
	case did.Outcome.Status == wire.StatusFailed && !did.Outcome.Ignored, b.r.cause() != nil:
		ended.Fate = wire.Failed
		b.handle(ended)
	default:
		b.continueBehind(host, s)
	}
}
