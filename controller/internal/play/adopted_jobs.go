package play

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/sessions"
	"hark/playbook/plan"
)

// adoptable returns the current step of a host that was lost while it waited for a job, with the job: its agent, when
// it is back, knows how that ended. A loop may wait for several, and a session cannot be begun within a section whose
// failure leads elsewhere.
func (l *lostHosts) adoptable(host string) (*plan.Step, string) {
	id := l.b.where.of(host)
	s, job := l.b.steps.Step(id), l.b.polls.Job(host)
	if s == nil || s.ID != id || job == "" || !l.b.where.isDoing(host) || l.b.tasks.Of(host) == nil || s.Loop != nil ||
		len(s.Until) > 0 || !s.DelegateTo.IsZero() {
		return nil, ""
	}
	places, _ := l.b.steps.Around(id)
	for _, p := range places {
		if p.Section != plan.InBody || len(p.Block.Rescue)+len(p.Block.Always) > 0 {
			return nil, ""
		}
	}
	return s, job
}

// awaitJob waits for the job that a lost host has left behind, has the step judged by how it ended, and opens a new
// session behind it.
func (l *lostHosts) awaitJob(host, reason string, s *plan.Step, job string) {
	h := l.b.tasks.Of(host)
	l.b.r.work.Go(func() {
		h.Lock()
		defer h.Unlock()
		within, end := l.b.within(l.b.r.ctx, false)
		defer end()
		var did *wire.Did
		if l.reach(within, host, s, job) {
			did = l.b.executor.JudgeJob(within, h, s, job)
		}
		_ = l.b.queue.aside(l.b.ends, func() { l.jobEnded(host, reason, s, did) })
	})
}

// reach waits until the agent of a host is back, as long as that may take.
func (l *lostHosts) reach(ctx context.Context, host string, s *plan.Step, job string) bool {
	c := wire.Call{Module: s.Action, Name: s.Written, Args: json.RawMessage("{}"), Await: job, Patience: time.Millisecond}
	ctx, cancel := context.WithTimeoutCause(ctx, sessions.ReturnLimit, errors.New("it did not come back"))
	defer cancel()
	for {
		a := l.b.r.answers.Answer(ctx, wire.Ask{Run: l.b.r.in.Run, Play: l.b.plan.Play.ID, Host: host,
			Kind: wire.AskDelegate, Step: s.ID, Name: host, Call: &c})
		if a.Err == "" {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(sessions.ReturnPause):
		}
	}
}

// jobEnded lets a host go on behind the step whose job has ended.
func (l *lostHosts) jobEnded(host, reason string, s *plan.Step, did *wire.Did) {
	b := l.b
	switch {
	case !b.machine.Live(host):
	case did == nil && l.pardoned(host) != nil:
		l.goOn(host, reason+l.unknown(host), s)
	case did == nil:
		l.unreachable(host, reason+l.unknown(host))
		b.publish(wire.Advance{Drop: []string{host}})
	case did.Outcome.Status == wire.StatusUnreachable && !did.Outcome.Ignored:
		b.handle(b.tells(host, wire.Ended, wire.Unreachable))
	case did.Outcome.Status == wire.StatusFailed && !did.Outcome.Ignored, b.r.cause() != nil:
		b.handle(b.tells(host, wire.Ended, wire.Failed))
	default:
		l.continueBehind(host, s)
	}
}
