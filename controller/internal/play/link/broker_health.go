package link

import (
	"sync"
	"time"

	"hark/agent/wire"
)

// bus is a transport with the identity that commands on it. It knows whether the broker answers this side: while it
// does not, nothing is learnt of agents, and their clocks stand.
//
//	answers --no connection, or no answer--> silent --answers again--> answers, and agents may take their time to come back
type bus struct {
	transport wire.Transport
	operator  *wire.Identity
	joint     wire.BatchSigner // of the operator
	subs      []wire.Subscription
	first     time.Time // since when there was a connection when it was first used

	mu     sync.Mutex
	silent time.Time // since when the broker does not answer, zero if it does; guarded by mu
	back   time.Time // when it was last found again; guarded by mu
	warned bool      // the user was warned that it is away; guarded by mu
}

func (b *bus) unsubscribe() {
	for _, s := range b.subs {
		_ = s.Unsubscribe()
	}
}

// note takes what came of asking the broker.
func (b *bus) note(answers bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case answers && !b.silent.IsZero():
		b.silent, b.back = time.Time{}, now
	case !answers && b.silent.IsZero():
		b.silent = now
	}
}

// quiet is for how long the broker has not answered, 0 if it does.
func (b *bus) quiet(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.silent.IsZero() {
		return 0
	}
	return max(now.Sub(b.silent), 1)
}

// warns notes that the user was warned of the broker, and reports whether that is news.
func (b *bus) warns(away bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.warned != away
	b.warned = away
	return news
}

// answers reports whether the broker does, as far as is known without asking it.
func (b *bus) answers() bool { return b.quiet(time.Now()) == 0 && !b.transport.Since().IsZero() }

// found returns when the broker was last found again, the zero time if it was there all the time.
func (b *bus) found() time.Time {
	since := b.transport.Since()
	b.mu.Lock()
	defer b.mu.Unlock()
	if since.After(b.first) && since.After(b.back) {
		return since
	}
	return b.back
}

func brokerAway(limit time.Duration) string {
	return "the broker does not answer: this run goes on when it is back (for up to " + limit.String() + ")"
}
