package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"hark/agent/internal/runner"
	"hark/agent/internal/store"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// play runs one plan to its end. Whatever happens, it reports the end to the controller. When cancelled is done only
// always sections still run.
func (s *session) play(ctx, cancelled context.Context, start wire.Start) {
	var ended *wire.Event
	var unsent error // the session has gone on for a result that was not reported
	t := newAuditLog(s.line, start.Play)
	tell := func(e wire.Event) {
		t.take(e)
		if err := s.out.add(e); err != nil && e.Kind == wire.Done {
			unsent = err
			s.end(err)
		}
	}
	err := s.walk(ctx, cancelled, start, t, func(e wire.Event) {
		if e.Kind == wire.Ended {
			last := e
			ended = &last // its text depends on the reason
			return
		}
		if e.Kind == wire.Started {
			s.ran.Store(false)
		}
		tell(e)
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case broken(err):
		s.interrupted(s.out.where(), err.Error(), tell)
	case ended != nil && unsent == nil:
		tell(*ended)
	default:
		text := "internal error: the play has no end"
		if err != nil {
			text = err.Error()
		}
		tell(wire.Event{Run: start.Run, Play: start.Play, Host: start.Host, Kind: wire.Ended, State: wire.Failed, Text: text,
			Time: s.line.agent.cfg.Now()})
	}
}

// walk gets the plan and runs it. A panic is an error like any other: it ends this play and nothing else.
func (s *session) walk(ctx, cancelled context.Context, start wire.Start, t *auditLog,
	emit func(wire.Event)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.line.agent.cfg.Logger.Error().Str("run", start.Run).Str("host", start.Host).Any("panic", p).
				Bytes("stack", debug.Stack()).Msg("a play broke")
			err = fmt.Errorf("internal error: the play broke: %v", p)
		}
	}()
	p, err := s.run.plans.get(start.Digest, func() (*plan.Plan, error) { return s.fetch(ctx, start) })
	if err != nil {
		return err
	}
	t.playing(&p.Play)
	cfg := t.watch(s.line.agent.runner(s.line, wire.Ask{Run: start.Run, Play: start.Play, Host: start.Host}, s.ask))
	cfg.Gate, cfg.Emit, cfg.Cancelled = s.gate, emit, cancelled
	return runner.New(s.guard(cfg)).Run(ctx, p, start)
}

// fetch returns the plan of a Start: from its body, or pulled from the controller.
func (s *session) fetch(ctx context.Context, start wire.Start) (*plan.Plan, error) {
	body := []byte(start.Plan)
	for eof := len(body) > 0; !eof; {
		a, err := s.line.ask(ctx, wire.Ask{Run: start.Run, Play: start.Play, Host: start.Host, Kind: wire.AskPlan,
			Digest: start.Digest, Offset: int64(len(body))})
		if err != nil {
			return nil, err
		}
		if a.Err != "" {
			return nil, fmt.Errorf("cannot get the plan: %s", a.Err)
		}
		if len(a.Data) == 0 && !a.EOF {
			return nil, fmt.Errorf("cannot get the plan: the controller sends an empty piece")
		}
		body, eof = append(body, a.Data...), a.EOF
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != start.Digest {
		return nil, fmt.Errorf("cannot use the plan: it does not match its digest")
	}
	var p plan.Plan
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, fmt.Errorf("cannot read the plan: %v", err)
	}
	return &p, nil
}

// ask implements runner.Config.Ask. Events that were emitted before it reach the controller first, so that the answer
// takes them into account.
func (s *session) ask(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	if err := s.out.flushed(ctx); err != nil {
		return wire.Answer{}, err
	}
	return s.line.ask(ctx, a)
}

// guard returns a config that starts no module that may change the host, here or in the background, before its
// beginning is durable and the controller is known to want it still.
func (s *session) guard(c runner.Config) runner.Config {
	call, start := c.Call, c.Jobs.Start
	c.Call = func(ctx context.Context, inv runner.Invocation) modules.Result {
		if err := s.mayBegin(ctx, inv); err != nil {
			return modules.Result{Failed: true, Msg: err.Error()}
		}
		return call(ctx, inv)
	}
	if start != nil {
		c.Jobs.Start = func(ctx context.Context, inv runner.Invocation) (*value.Dict, error) {
			if err := s.mayBegin(ctx, inv); err != nil {
				return nil, err
			}
			return start(ctx, inv)
		}
	}
	return c
}

// mayBegin waits until a call may begin. A call that changes nothing may begin as soon as the outbox has room for its
// result. The error says why it may not.
func (s *session) mayBegin(ctx context.Context, inv runner.Invocation) error {
	if !changes(inv) {
		return nil
	}
	err := awaitSuccessor(ctx, s.line.agent)
	if err == nil {
		err = s.out.durable(ctx)
	}
	if inv.Module.Has(modules.OnlyLooks) {
		return err
	}
	if err == nil && !s.line.isWanted() {
		s.out.urge() // the answer to the waiting events will do
	}
	if err == nil {
		err = s.line.awaitWanted(ctx, func() { poke(s.renew) })
	}
	if errors.Is(err, errLease) || errors.Is(err, errSlow) || errors.Is(err, errAlone) {
		s.end(err)
	}
	if err == nil {
		s.ran.Store(true)
	}
	return err
}

// runner returns the part of a runner's config that sessions and delegated calls share. base completes the asks for
// pieces of files.
func (a *Agent) runner(l *controllerLink, base wire.Ask,
	ask func(context.Context, wire.Ask) (wire.Answer, error)) runner.Config {
	h := a.cfg.Host
	if h.Call == nil {
		h.Call = func(ctx context.Context, inv runner.Invocation) modules.Result {
			return inv.InProcess(ctx)
		}
	}
	h.Call = a.edits.inTurn(h.Call)
	h = a.gate.permit(l.issuer, h)
	return runner.Config{
		Modules: a.cfg.Modules, Engine: a.engine, Ask: ask, Own: a.cfg.Controller,
		Call: h.Call, Jobs: h.Jobs, Exec: h.Exec, Environ: h.Environ, Now: a.cfg.Now, Clock: l.clock, Hidden: a.cfg.Hidden,
		Open: func(ctx context.Context, digest string) (io.ReadCloser, error) { return l.open(ctx, base, digest) },
	}
}

// ask sends a question to the controller.
func (l *controllerLink) ask(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	q, err := l.pack(wire.Questions(l.agent.id, l.run, wire.KindAsk), wire.KindAsk,
		wire.Question{Ask: a, Session: l.says()}, wire.Packing{})
	if err != nil {
		return wire.Answer{}, err
	}
	q.work = true
	var answer wire.Answer
	err = l.request(ctx, q, &answer)
	return answer, err
}

// open reads a blob from the cache, or pulls it.
func (l *controllerLink) open(ctx context.Context, base wire.Ask, digest string) (io.ReadCloser, error) {
	files, err := l.agent.files.open()
	if err != nil {
		return nil, err
	}
	p := l.puller(base, digest)
	r, err := files.Open(ctx, digest, p.piece)
	var other *store.OtherError
	if errors.As(err, &other) && p.alone() {
		r, err = files.Open(ctx, digest, p.piece)
	}
	return r, err
}

// plans keeps the plan of the current play, so that it is read once for all hosts that this agent serves.
type plans struct {
	mu     sync.Mutex
	digest string                     // guarded by mu
	once   func() (*plan.Plan, error) // guarded by mu
}

// get returns the plan and fetches it if no other session does. If that fetch failed for another session, get tries
// again.
func (c *plans) get(digest string, fetch func() (*plan.Plan, error)) (*plan.Plan, error) {
	for {
		own := false
		c.mu.Lock()
		if c.digest != digest {
			c.digest = digest
			c.once = sync.OnceValues(func() (*plan.Plan, error) {
				own = true
				return fetch()
			})
		}
		once := c.once
		c.mu.Unlock()
		p, err := once()
		if err == nil || own {
			return p, err
		}
		c.forget(digest)
	}
}

func (c *plans) forget(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.digest == digest {
		c.digest = ""
	}
}
