package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"hark/agent/wire"
)

// Why sessions and orders end before their time.
var (
	errCancelled = errors.New("the run was cancelled")
	errEnded     = errors.New("the controller ended the run")
	errReplaced  = errors.New("the controller began another play")
	errLease     = errors.New("the controller has gone away")
)

func refusal(format string, a ...any) error {
	return &wire.RefusedError{Reason: wire.Untrusted, Text: fmt.Sprintf(format, a...)}
}

// askAgain is how long a request waits for its answer before it is sent again. The controller answers a question once,
// however often it comes.
const askAgain = 10 * time.Second

// line is the connection of a session or an order with its controller: requests, and the lease that says
// whether the controller is still there.
type line struct {
	agent  *Agent
	issuer string // the operator whose run it is
	run    string
	host   string
	key    wire.Key

	mu    sync.Mutex
	lease time.Duration // guarded by mu
	heard time.Time     // of the controller's last word; guarded by mu
	away  time.Time     // when the broker was last found away; guarded by mu
	gone  chan struct{} // closed when the lease has run out; guarded by mu
	lost  bool          // gone is closed; guarded by mu
}

func newLine(a *Agent, issuer, run, host string, key wire.Key, lease time.Duration) *line {
	l := &line{agent: a, issuer: issuer, run: run, host: host, key: key}
	l.begin(lease)
	return l
}

// begin starts the lease anew: the controller has just spoken.
func (l *line) begin(lease time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lease <= 0 {
		lease = time.Minute
	}
	l.lease, l.heard = lease, l.agent.cfg.Now()
	if l.gone == nil || l.lost {
		l.gone, l.lost = make(chan struct{}), false
	}
}

// isGone is a channel that is closed when the lease runs out.
func (l *line) isGone() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

func (l *line) hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.agent.cfg.Now()
}

// question is a packed request; sent again it is the same bytes, so that the controller knows it again.
type question struct {
	subject, nonce string
	frame          []byte
}

// pack makes a request that is sealed with the key of the line. p may add a signature.
func (l *line) pack(subject string, k wire.Kind, body any, p wire.Packing) (question, error) {
	q := question{subject: subject, nonce: wire.NewNonce()}
	p.Key, p.Seal, p.Now = &l.key, wire.SealHost, l.agent.cfg.Now
	var err error
	q.frame, err = l.agent.codec.Pack(wire.Header{Kind: k, Run: l.run, Nonce: q.nonce}, body, p)
	return q, err
}

// send puts a question once and decodes the answer.
func (l *line) send(ctx context.Context, q question, into any, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(l.agent.connection(), cancel)()
	raw, err := l.agent.cfg.Transport.Request(ctx, q.subject, q.frame)
	if err != nil {
		return err
	}
	f, err := wire.Parse(raw)
	if err != nil {
		return err
	}
	if f.Header.To != q.nonce {
		return refusal("the answer is to another question")
	}
	if err := f.Body(&l.agent.codec, wire.SealHost, wire.Keys{Host: &l.key}, into); err != nil {
		return err
	}
	l.hear()
	return nil
}

// request puts a question until it is answered, ctx is over or the controller is gone.
func (l *line) request(ctx context.Context, q question, into any) error {
	gone := l.isGone()
	for {
		err := l.send(ctx, q, into, askAgain)
		if err == nil || errors.Is(err, wire.ErrTooLarge) {
			return err
		}
		select {
		case <-gone:
			return errLease
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(time.Second)):
		}
	}
}

// keep renews the lease while ctx lasts, every third of it and whenever now says so. state is what the controller is
// told, renewed takes what it answers.
func (l *line) keep(ctx context.Context, now <-chan struct{}, state func() wire.Renew, renewed func(wire.Renewed)) {
	subject := wire.Questions(l.agent.id, l.run, wire.KindRenew)
	for {
		l.mu.Lock()
		lease := l.lease
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-now:
		case <-time.After(lease/3 - rand.N(lease/12+1)):
		}
		var r wire.Renewed
		q, err := l.pack(subject, wire.KindRenew, state(), wire.Packing{})
		if err == nil {
			err = l.send(ctx, q, &r, lease/4)
		}
		if err == nil {
			renewed(r)
			continue
		}
		l.expire(l.agent.reachable(ctx))
	}
}

// close says that nobody keeps the lease any more: what a job still asks has no answer.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lost {
		l.lost = true
		close(l.gone)
	}
}

// standStill is for how many leases the clock of a lease may stand since the broker is away: the controller waits for it for five minutes.
const standStill = 10

// expire closes gone if the lease has run out. While the broker does not answer this agent nothing is known of the controller: the lease
// begins anew when it does.
func (l *line) expire(reachable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.agent.cfg.Now()
	if !reachable {
		l.away = now
	}
	since := l.heard
	if l.away.After(since) && now.Sub(l.heard) <= standStill*l.lease {
		since = l.away
	}
	if !l.lost && now.Sub(since) > l.lease {
		l.lost = true
		close(l.gone)
	}
}
