package link

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// CollectStatus is how it stands with a host when a Collector has ended.
type CollectStatus string

// What a host can have reported.
const (
	Everything CollectStatus = "everything" // its agent has no session of the run any more: it has sent all that there was
	// it has the session yet: it is at a step, or has not noticed that the controller is gone
	StillBusy CollectStatus = "busy"
	Nothing   CollectStatus = "nothing" // its agent did not answer
)

// Collector takes what agents kept for a controller that died. It begins nothing and ends nothing: what a host is at,
// it finishes.
type Collector struct {
	Run       string
	Transport wire.Transport
	Operator  *wire.Identity
	Fleet     string
	// Sessions are the sessions of the run; of several of a host the one with the last turn counts.
	Sessions []SessionKeys
	// Take keeps events, which are acknowledged when it returns without an error. They may come again. It is called
	// by one goroutine at a time.
	Take   func(events []wire.Event) error
	Logger zerolog.Logger

	codec    wire.Codec
	sessions map[string]map[string]SessionKeys // by agent and host

	mu   sync.Mutex
	left map[string]Leave // by host; guarded by mu
}

// Leave is what an agent that was started again says of a session that the process before it had.
type Leave struct {
	// Cut: the host was restarted, so what the session did last may be missing.
	Cut bool
}

// Left returns the hosts whose sessions did not come to their end, as far as their agents said so.
func (c *Collector) Left() map[string]Leave {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.left)
}

// leaves notes what an agent says of a session.
func (c *Collector) leaves(r wire.Renew) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil {
		c.left = map[string]Leave{}
	}
	c.left[r.Host] = Leave{Cut: r.Cut}
}

// How long an agent may take to answer whether it has sessions, and how often it is asked until they are gone.
const (
	askLimit = 10 * time.Second
	askEach  = 3 * time.Second
)

// Collect hears the agents until none has a session of the run any more, none answers, or the limit is over.
func (c *Collector) Collect(ctx context.Context, limit time.Duration) (map[string]CollectStatus, error) {
	c.sessions = map[string]map[string]SessionKeys{}
	for _, s := range c.Sessions {
		id := wire.IDOf(s.Key)
		if c.sessions[id] == nil {
			c.sessions[id] = map[string]SessionKeys{}
		}
		if had, ok := c.sessions[id][s.Host]; !ok || had.Turn < s.Turn {
			c.sessions[id][s.Host] = s
		}
	}
	for _, subject := range []string{wire.ResultsOfRun(c.Run), wire.QuestionsOfRun(c.Run)} {
		sub, err := c.Transport.Subscribe(subject, c.take)
		if err != nil {
			return nil, fmt.Errorf("cannot listen for results: %w", err)
		}
		defer func() { _ = sub.Unsubscribe() }()
	}
	if err := c.Transport.Flush(ctx); err != nil {
		return nil, fmt.Errorf("cannot listen for results: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	told := map[string]CollectStatus{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	slots := make(chan struct{}, tellWorkers)
	for _, hosts := range c.sessions {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for host, t := range c.await(ctx, hosts) {
				mu.Lock()
				told[host] = t
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return told, nil
}

// await asks an agent until it has no session of the run any more.
func (c *Collector) await(ctx context.Context, hosts map[string]SessionKeys) map[string]CollectStatus {
	told := map[string]CollectStatus{}
	key := ""
	for host, s := range hosts {
		told[host], key = Nothing, s.Key
	}
	p := &Pinger{Transport: c.Transport, Operator: c.Operator, Fleet: c.Fleet, Run: c.Run}
	for began := time.Now(); ; {
		try, cancel := context.WithTimeout(ctx, askLimit)
		pong, err := p.Ping(try, key)
		cancel()
		busy := 0
		switch {
		case err == nil:
			for host := range hosts {
				told[host] = Everything
				if _, has := pong.Turns[host]; has || slices.Contains(pong.Left, host) {
					told[host] = StillBusy
					busy++
				}
			}
			if busy == 0 {
				return told
			}
		case errors.Is(err, wire.ErrNoResponder), time.Since(began) > askLimit:
			return told
		}
		select {
		case <-ctx.Done():
			return told
		case <-time.After(askEach):
		}
	}
}

// take takes what an agent sends of its own.
func (c *Collector) take(m wire.Msg) {
	if err := c.message(m); err != nil {
		c.Logger.Warn().Str("subject", m.Subject).AnErr("cause", err).Msg("message refused")
	}
}

func (c *Collector) message(m wire.Msg) error {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return err
	}
	id := wire.SubjectID(m.Subject)
	sessionKeys, ok := c.of(id)
	switch {
	case !ok:
		return errors.New("its agent has no part in this run")
	case f.Header.Run != c.Run || f.Header.Kind != wire.SubjectKind(m.Subject):
		return errors.New("its envelope does not belong to its subject")
	case f.Signed && f.Header.Issuer != sessionKeys.Key:
		return errors.New("it is signed by another agent than the one whose subject it is on")
	}
	keys := wire.Keys{Host: &sessionKeys.HostKey}
	switch f.Header.Kind {
	case wire.KindBatch:
		var b wire.Batch
		if err := f.Body(&c.codec, wire.SealHost, keys, &b); err != nil {
			return err
		}
		return c.batch(m, f, id, b)
	case wire.KindRenew:
		var r wire.Renew
		if err := f.Body(&c.codec, wire.SealHost, keys, &r); err != nil {
			return err
		}
		if !r.Left {
			return nil // a session that is not answered ends by itself
		}
		c.heedLeft(id, r)
		return c.reply(m, f, id, sessionKeys, wire.Renewed{})
	}
	return nil
}

// heedLeft notes that a session was left. A log that was cut may have lost even which turn it was of.
func (c *Collector) heedLeft(id string, r wire.Renew) {
	if own, ok := c.sessions[id][r.Host]; ok && (own.Turn == r.Turn || r.Cut) {
		c.leaves(r)
	}
}

// of returns the keys of a session of an agent: all of its hosts have one key.
func (c *Collector) of(id string) (SessionKeys, bool) {
	for _, sessionKeys := range c.sessions[id] {
		return sessionKeys, true
	}
	return SessionKeys{}, false
}

// batch keeps the events of a host and acknowledges them.
func (c *Collector) batch(m wire.Msg, f *wire.Frame, id string, b wire.Batch) error {
	sessionKeys, ok := c.sessions[id][b.Host]
	if !ok {
		return fmt.Errorf("its agent does not serve host %q", b.Host)
	}
	last := uint64(0)
	for _, e := range b.Events {
		if e.Run != c.Run || e.Host != b.Host {
			return fmt.Errorf("an event is about host %q of run %q", e.Host, e.Run)
		}
		last = max(last, e.Seq)
	}
	if b.Turn == sessionKeys.Turn {
		if err := c.Take(b.Events); err != nil {
			return err
		}
	}
	return c.reply(m, f, id, sessionKeys, wire.Acked{Run: b.Run, Host: b.Host, Seq: last, Collected: true})
}

// ReadBatch opens a batch that Config.Keep has stored, with the keys of the sessions of its run.
func ReadBatch(run string, sessions []SessionKeys, agent string, frame []byte) ([]wire.Event, error) {
	at := slices.IndexFunc(sessions, func(s SessionKeys) bool { return wire.IDOf(s.Key) == agent })
	if at < 0 {
		return nil, errors.New("its agent has no part in this run")
	}
	f, err := wire.Parse(frame)
	if err != nil {
		return nil, err
	}
	var codec wire.Codec
	var b wire.Batch
	if err := f.Body(&codec, wire.SealHost, wire.Keys{Host: &sessions[at].HostKey}, &b); err != nil {
		return nil, err
	}
	if f.Header.Run != run || f.Header.Kind != wire.KindBatch || b.Run != run {
		return nil, errors.New("it does not belong to this run")
	}
	return b.Events, nil
}

// reply answers a message of an agent, and only to a subject of the agent's own.
func (c *Collector) reply(m wire.Msg, f *wire.Frame, id string, sessionKeys SessionKeys, body any) error {
	if m.Respond == nil || !wire.OwnReply(m.Reply, id) {
		return fmt.Errorf("it wants its answer at %q", m.Reply)
	}
	frame, err := c.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: c.Run, To: f.Header.Nonce}, body,
		wire.Packing{Key: &sessionKeys.HostKey, Seal: wire.SealHost})
	if err != nil {
		return err
	}
	return m.Respond(frame)
}
