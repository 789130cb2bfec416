package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"hark/agent/wire"
)

// Reasons why sessions and delegated calls end early.
var (
	errCancelled = errors.New("the run was cancelled")
	errEnded     = errors.New("the controller ended the run")
	errReplaced  = errors.New("the controller began another play")
	errLease     = errors.New("the controller has gone away")
	errSlow      = errors.New("the controller's answers come too late to begin anything on them")
)

func refusal(format string, a ...any) error {
	return &wire.RefusedError{Reason: wire.Untrusted, Text: fmt.Sprintf(format, a...)}
}

// askAgain is how long a request waits for its answer before it is sent again. The controller answers each question
// once, however often it arrives.
const askAgain = 10 * time.Second

// controllerLink connects a session or a delegated call with its controller. It sends requests, keeps the lease that
// shows whether the controller is still there, and knows when the controller last confirmed that the session may go
// on.
type controllerLink struct {
	agent  *Agent
	issuer string // the operator whose run it is
	run    string
	host   string
	key    wire.Key
	// unsigned: results are sealed and not signed, see wire.Opening.
	unsigned bool
	// sealed: the end of the run is reported with the key of the session, see wire.Opening.
	sealed bool
	// over, if set, is called when the controller says that the run goes on without this session or call. It does not
	// block.
	over func()

	mu      sync.Mutex
	session wire.Session  // guarded by mu
	terms   terms         // guarded by mu
	heard   time.Time     // of the controller's last word; guarded by mu
	wanted  time.Time     // when the last question that was answered in this turn was sent; guarded by mu
	granted time.Duration // how long that answer counts, from then; guarded by mu
	late    time.Duration // how long the last answer took, as far as is known; guarded by mu
	word    chan struct{} // closed and replaced at each answer; guarded by mu
	away    time.Time     // when the broker was last found away; guarded by mu
	gone    chan struct{} // closed when the lease has run out; guarded by mu
	lost    bool          // gone is closed; guarded by mu
	dates   dates         // guarded by mu
}

// terms are how long a session goes on without its controller, see wire.Start.
type terms struct{ lease, fresh time.Duration }

func (t terms) orDefault() terms {
	if t.lease <= 0 {
		t.lease = time.Minute
	}
	if t.fresh <= 0 {
		t.fresh = wire.Fresh
	}
	return t
}

func newControllerLink(a *Agent, issuer, run, host string, key wire.Key, t terms) *controllerLink {
	l := &controllerLink{agent: a, issuer: issuer, run: run, host: host, key: key, word: make(chan struct{})}
	l.begin(wire.Session{}, t)
	return l
}

// begin renews the lease, because a message of the controller has arrived. The message may be old, so whether the
// controller still wants the session is not known until it answers.
func (l *controllerLink) begin(s wire.Session, t terms) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.terms, l.heard, l.wanted = s, t.orDefault(), l.agent.cfg.Now(), time.Time{}
	if l.gone == nil || l.lost {
		l.gone, l.lost = make(chan struct{}), false
	}
}

// who returns the session of the link.
func (l *controllerLink) who() wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// says returns what the messages of the link say of the session.
func (l *controllerLink) says() wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	if l.late > slow {
		s.Late = l.late
	}
	return s
}

// slow is how long an answer must take before the agent reports the delay.
const slow = time.Second

// isGone returns a channel that is closed when the lease runs out.
func (l *controllerLink) isGone() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

func (l *controllerLink) hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.agent.cfg.Now()
}

// answered records the answer to a question that the session sent at a time. The answer counts for lasts; 0 is the
// duration from the session's Start.
func (l *controllerLink) answered(put time.Time, as wire.Session, lasts time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.agent.cfg.Now()
	if l.session == as && put.After(l.wanted) {
		l.wanted, l.granted = put, max(lasts, l.terms.fresh)
	}
	close(l.word)
	l.word = make(chan struct{})
}

// askSoon is how long a session waits for the answer to messages on their way before it asks for one.
const askSoon = time.Second

// isWanted reports whether the controller is known to want what now begins, see awaitWanted.
func (l *controllerLink) isWanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wantedNow()
}

// wantedNow is isWanted. It assumes mu held.
func (l *controllerLink) wantedNow() bool {
	return !l.wanted.IsZero() && l.agent.cfg.Now().Sub(l.wanted) <= l.granted
}

// awaitWanted waits until the controller is known to want what now begins: it has answered a question that is no
// older than fresh. Any answer will do; ask is called if none comes. If every answer takes longer, awaitWanted gives
// up after two leases.
func (l *controllerLink) awaitWanted(ctx context.Context, ask func()) error {
	began := l.agent.cfg.Now()
	for {
		l.mu.Lock()
		late := l.agent.cfg.Now().Sub(began) > 2*l.terms.lease
		yes := l.wantedNow()
		word, gone := l.word, l.gone
		l.mu.Unlock()
		switch {
		case yes:
			return nil
		case late:
			return errSlow
		}
		select {
		case <-word:
		case <-gone:
			return errLease
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askSoon):
			ask()
		}
	}
}

// question is a packed request. It is sent again as the same bytes, so that the controller recognises it.
type question struct {
	subject, nonce string
	frame          []byte
	// work says that the controller may need long to make the answer, so the time that it takes does not show a slow
	// connection.
	work bool
}

// pack makes a request that is sealed with the key of the line. p may add a signature.
func (l *controllerLink) pack(subject string, k wire.Kind, body any, p wire.Packing) (question, error) {
	q := question{subject: subject, nonce: wire.NewNonce()}
	p.Key, p.Seal, p.Now = &l.key, wire.SealHost, l.agent.cfg.Now
	var err error
	h := wire.Header{Kind: k, Run: l.run, Nonce: q.nonce}
	if raw, ok := body.(json.RawMessage); ok {
		q.frame, err = l.agent.codec.PackBytes(h, raw, p)
	} else {
		q.frame, err = l.agent.codec.Pack(h, body, p)
	}
	return q, err
}

// packResult makes a request that reports a result.
func (l *controllerLink) packResult(k wire.Kind, body any) (question, error) {
	var p wire.Packing
	if !l.unsigned {
		p.Sign = l.agent.cfg.Identity
	}
	return l.pack(wire.Results(l.run, l.agent.id, k), k, body, p)
}

// patience returns how long to wait for an answer: the usual time, and up to half a lease if the last answer took
// long. Repeating a question before its answer can arrive would only delay a slow controller further.
func (l *controllerLink) patience(q question, usual time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.work {
		return usual
	}
	return max(usual, min(2*l.late, l.terms.lease/2))
}

// resend returns how long the answer to a batch may take before the batch is sent again. Where answers count for
// longer than usual, the controller may defer them for longer.
func (l *controllerLink) resend() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.agent.cfg.Resend + max(0, l.terms.fresh-wire.Fresh)
}

// took records how long an answer took.
func (l *controllerLink) took(q question, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !q.work {
		l.late = d
	}
}

// inVain is a factor: an answer that did not come in time is assumed to take that many times as long.
const inVain = 3

// send sends a question once and decodes the answer. It waits for the usual time, or longer if answers are late.
func (l *controllerLink) send(ctx context.Context, q question, into any, usual time.Duration) error {
	wait := l.patience(q, usual)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(l.agent.connection(), cancel)()
	put, as := l.agent.cfg.Now(), l.who()
	raw, err := l.agent.cfg.Transport.Request(ctx, q.subject, q.frame)
	if errors.Is(err, context.DeadlineExceeded) {
		l.took(q, inVain*wait)
	}
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
	if err := f.Body(l.agent.codec, wire.SealHost, wire.Keys{Host: &l.key}, into); err != nil {
		return err
	}
	l.dated(f.Header)
	if v, ok := into.(interface{ IsOver() bool }); ok && v.IsOver() {
		if l.over != nil && l.who() == as { // else the answer is about an earlier turn
			l.over()
		}
		return errEnded
	}
	if v, ok := into.(*wire.Acked); ok && v.Collected {
		return nil
	}
	lasts, held := time.Duration(0), time.Duration(0)
	if v, ok := into.(interface {
		Lasts() time.Duration
		HeldFor() time.Duration
	}); ok {
		lasts, held = v.Lasts(), v.HeldFor()
	}
	l.took(q, max(0, l.agent.cfg.Now().Sub(put)-held))
	l.answered(put, as, lasts)
	return nil
}

// request sends a question until it is answered, ctx is done or the controller is gone.
func (l *controllerLink) request(ctx context.Context, q question, into any) error {
	gone := l.isGone()
	for {
		select {
		case <-gone:
			return errLease
		default:
		}
		err := l.send(ctx, q, into, askAgain)
		if err == nil || errors.Is(err, wire.ErrTooLarge) || errors.Is(err, errEnded) {
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

// renewWait is how long the answer to a renewal may take before the renewal is sent again.
const renewWait = 5 * time.Second

// keep renews the lease until ctx is done: after each third of it and whenever now says so. state returns what to
// report, renewed receives the answer.
func (l *controllerLink) keep(ctx context.Context, now <-chan struct{}, state func() wire.Renew,
	renewed func(wire.Renewed)) {
	subject := wire.Questions(l.agent.id, l.run, wire.KindRenew)
	for {
		l.mu.Lock()
		lease := l.terms.lease
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
			err = l.send(ctx, q, &r, min(lease/4, renewWait))
		}
		if err == nil {
			renewed(r)
			continue
		}
		l.expire(reachable(ctx, l.agent.cfg.Transport))
	}
}

// close says that nobody renews the lease any more. Questions of jobs get no answer from then on.
func (l *controllerLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lost {
		l.lost = true
		close(l.gone)
	}
}

// standStill is for how many leases the clock of a lease may stand while the broker is away: the controller waits
// five minutes for the broker.
const standStill = 10

// expire closes gone if the lease has run out. While the broker does not answer, nothing is known of the controller,
// so the lease starts again when the broker answers.
func (l *controllerLink) expire(reachable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.agent.cfg.Now()
	if !reachable {
		l.away = now
	}
	since := l.heard
	if l.away.After(since) && now.Sub(l.heard) <= standStill*l.terms.lease {
		since = l.away
	}
	if !l.lost && now.Sub(since) > l.terms.lease {
		l.lost = true
		close(l.gone)
	}
}
