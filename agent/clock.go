package agent

import (
	"errors"
	"sync"
	"time"

	"hark/agent/wire"
)

// challengeLife is for how long an operator's answer to a question for the time is good. A message that was held up
// on its way shifts the time by as much.
const challengeLife = 30 * time.Second

// clocks are the operators' clocks as this host's would show them. A host whose own clock is wrong obeys all the
// same: it asks the operator for the time, with a challenge that only he can answer and only now.
type clocks struct {
	mu         sync.Mutex
	ahead      map[string]time.Duration // by which an operator's clock is ahead of this host's, by his key; guarded by mu
	challenges map[string]challenge     // by nonce; guarded by mu
}

type challenge struct {
	issuer string
	made   time.Time
}

// now is the time by an operator's clock.
func (c *clocks) now(issuer string, local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return local.Add(c.ahead[issuer])
}

// ask makes a challenge for an operator. The last one stands.
func (c *clocks) ask(issuer string, local time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.challenges == nil {
		c.challenges = map[string]challenge{}
	}
	for nonce, x := range c.challenges {
		if local.Sub(x.made) > challengeLife || local.Before(x.made) {
			delete(c.challenges, nonce)
		}
	}
	nonce := wire.NewNonce()
	if len(c.challenges) < 1000 {
		c.challenges[nonce] = challenge{issuer, local}
	}
	return nonce
}

// set takes an operator's answer: his time when he answered.
func (c *clocks) set(issuer, nonce string, his, local time.Time) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, ok := c.challenges[nonce]
	delete(c.challenges, nonce)
	if !ok || x.issuer != issuer || local.Sub(x.made) > challengeLife {
		return 0, &wire.RefusedError{Reason: wire.Replayed, Text: "nobody asked for the time, or too long ago"}
	}
	if c.ahead == nil {
		c.ahead = map[string]time.Duration{}
	}
	c.ahead[issuer] = his.Sub(local)
	return c.ahead[issuer], nil
}

// until is when an operator's message may be forgotten, in milliseconds by this host's clock, whether that is put
// right meanwhile or not.
func (a *Agent) until(h wire.Header) int64 {
	expires := time.UnixMilli(h.Expires).Add(wire.Skew)
	local := a.cfg.Now()
	shown := expires.Add(local.Sub(a.clocks.now(h.Issuer, local)))
	if shown.After(expires) {
		return shown.UnixMilli()
	}
	return expires.UnixMilli()
}

// misdated answers a message that is good but for its time: with a question for the time.
func (a *Agent) misdated(l *letter, err error) bool {
	var r *wire.RefusedError
	if !errors.As(err, &r) || r.Reason != wire.Expired {
		return false
	}
	ack := wire.Ack{Run: l.Header.Run, Err: err.Error(), Clock: a.clocks.ask(l.Header.Issuer, a.cfg.Now())}
	a.answer(l, ack)
	return true
}

// takeClock puts an operator's clock right.
func (a *Agent) takeClock(l *letter) {
	h := l.Header
	ahead, err := a.clocks.set(h.Issuer, h.To, time.UnixMilli(h.NotBefore), a.cfg.Now())
	ack := wire.Ack{Run: h.Run}
	if err != nil {
		a.refuse(l.msg, h.Kind, err)
		ack.Err = err.Error()
	} else {
		a.cfg.Logger.Warn().Str("operator", h.Issuer).Str("ahead", ahead.Round(time.Second).String()).
			Msg("this host's clock is wrong, or the operator's: his is used for his messages")
	}
	a.answer(l, ack)
}
