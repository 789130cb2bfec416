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

// Why sessions and orders end before their time.
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

// askAgain is how long a request waits for its answer before it is sent again. The controller answers a question once,
// however often it comes.
const askAgain = 10 * time.Second

// line is the connection of a session or an order with its controller: requests, the lease that says whether the
// controller is still there, and how long ago it was known to want the session to go on.
type line struct {
	agent  *Agent
	issuer string // the operator whose run it is
	run    string
	host   string
	key    wire.Key
	// unsigned: results are sealed and not signed, see wire.Opening.
	unsigned bool
	// sealed: the controller hears of the run's end by the key of the session, see wire.Opening.
	sealed bool
	// over, if set, is called when the controller says that the run goes on without this session or order. It does
	// not wait.
	over func()

	mu      sync.Mutex
	session wire.Session  // guarded by mu
	terms   terms         // guarded by mu
	heard   time.Time     // of the controller's last word; guarded by mu
	wanted  time.Time     // when the last question was put that was answered in this turn; guarded by mu
	granted time.Duration // for how long that counts, from then; guarded by mu
	late    time.Duration // how long the last answer took, as far as is known; guarded by mu
	word    chan struct{} // closed and replaced at each answer; guarded by mu
	away    time.Time     // when the broker was last found away; guarded by mu
	gone    chan struct{} // closed when the lease has run out; guarded by mu
	lost    bool          // gone is closed; guarded by mu
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

func newLine(a *Agent, issuer, run, host string, key wire.Key, t terms) *line {
	l := &line{agent: a, issuer: issuer, run: run, host: host, key: key, word: make(chan struct{})}
	l.begin(wire.Session{}, t)
	return l
}

// begin starts the lease anew: the controller has just spoken. What it has sent may have been on its way for long, so
// whether it still wants the session is not known until it answers.
func (l *line) begin(s wire.Session, t terms) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.terms, l.heard, l.wanted = s, t.orDefault(), l.agent.cfg.Now(), time.Time{}
	if l.gone == nil || l.lost {
		l.gone, l.lost = make(chan struct{}), false
	}
}

// who is the session that the line is of.
func (l *line) who() wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// says is what the line's messages say of the session.
func (l *line) says() wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	if l.late > slow {
		s.Late = l.late
	}
	return s
}

// slow is from when on it is told how long an answer took.
const slow = time.Second

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

// answered notes that a question which the session put then, as what it was then, was answered with what lasts so
// long; 0 is as long as the session was told first.
func (l *line) answered(put time.Time, as wire.Session, lasts time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.agent.cfg.Now()
	if l.session == as && put.After(l.wanted) {
		l.wanted, l.granted = put, max(lasts, l.terms.fresh)
	}
	close(l.word)
	l.word = make(chan struct{})
}

// askSoon is how long a session waits for the answer to what is on its way before it asks for one.
const askSoon = time.Second

// isWanted reports whether the controller is known to want what now begins, see awaitWanted.
func (l *line) isWanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wantedNow()
}

// wantedNow is isWanted. It assumes mu held.
func (l *line) wantedNow() bool {
	return !l.wanted.IsZero() && l.agent.cfg.Now().Sub(l.wanted) <= l.granted
}

// awaitWanted waits until the controller is known to want what now begins: it has answered what was asked no longer
// than fresh ago. The answer may be to anything; ask is called if none comes. A way on which every answer takes
// longer is given up after two leases.
func (l *line) awaitWanted(ctx context.Context, ask func()) error {
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

// question is a packed request; sent again it is the same bytes, so that the controller knows it again.
type question struct {
	subject, nonce string
	frame          []byte
	// work says that the controller may have much to do for the answer: how long that takes does not tell how late it is.
	work bool
}

// pack makes a request that is sealed with the key of the line. p may add a signature.
func (l *line) pack(subject string, k wire.Kind, body any, p wire.Packing) (question, error) {
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

// packResult makes a request that tells what came of something.
func (l *line) packResult(k wire.Kind, body any) (question, error) {
	var p wire.Packing
	if !l.unsigned {
		p.Sign = l.agent.cfg.Identity
	}
	return l.pack(wire.Results(l.run, l.agent.id, k), k, body, p)
}

// patience is how long an answer is waited for: as long as is usual, and up to half a lease where the last one took
// long. A question that is put again before its answer could be there only makes a controller that is late still
// later.
func (l *line) patience(q question, usual time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.work {
		return usual
	}
	return max(usual, min(2*l.late, l.terms.lease/2))
}

// resend is how long the answer to a batch may take before it is sent again: where answers count for longer than is
// usual, the controller owes them for longer.
func (l *line) resend() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.agent.cfg.Resend + max(0, l.terms.fresh-wire.Fresh)
}

// took notes how long an answer took.
func (l *line) took(q question, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !q.work {
		l.late = d
	}
}

// inVain is how many times as long as it was waited for an answer is taken to need that did not come.
const inVain = 3

// send puts a question once and decodes the answer. It waits for as long as is usual, or for longer if answers are
// late.
func (l *line) send(ctx context.Context, q question, into any, usual time.Duration) error {
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
	if err := f.Body(&l.agent.codec, wire.SealHost, wire.Keys{Host: &l.key}, into); err != nil {
		return err
	}
	if v, ok := into.(interface{ IsOver() bool }); ok && v.IsOver() {
		if l.over != nil && l.who() == as { // else it was said of an earlier turn
			l.over()
		}
		return errEnded
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

// request puts a question until it is answered, ctx is over or the controller is gone.
func (l *line) request(ctx context.Context, q question, into any) error {
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

// renewWait is how long the answer to a renewal may take before it is asked for again.
const renewWait = 5 * time.Second

// keep renews the lease while ctx lasts, every third of it and whenever now says so. state is what the controller is
// told, renewed takes what it answers.
func (l *line) keep(ctx context.Context, now <-chan struct{}, state func() wire.Renew, renewed func(wire.Renewed)) {
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

// standStill is for how many leases the clock of a lease may stand since the broker is away: the controller waits for
// it for five minutes.
const standStill = 10

// expire closes gone if the lease has run out. While the broker does not answer this agent nothing is known of the
// controller: the lease begins anew when it does.
func (l *line) expire(reachable bool) {
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
