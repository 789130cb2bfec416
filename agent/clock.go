package agent

import (
	"errors"
	"sync"
	"time"

	"hark/agent/wire"
)

// challengeLife is how long an operator may take to answer a question for the time. A delay on the way shifts the
// time by as much.
const challengeLife = 30 * time.Second

// clocks hold the offsets of the operators' clocks. So a host whose own clock is wrong still obeys: it asks the
// operator for the time, with a challenge that only this operator can answer, and only now.
type clocks struct {
	mu sync.Mutex
	// offset of each operator's clock from this host's, by the operator's key; guarded by mu
	ahead      map[string]time.Duration
	challenges map[string]challenge // by nonce; guarded by mu
}

type challenge struct {
	issuer string
	made   time.Time
}

// now returns the time on an operator's clock.
func (c *clocks) now(issuer string, local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return local.Add(c.ahead[issuer])
}

// ask makes a challenge for an operator.
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

// set records an operator's answer: the operator's time when it was given.
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

// expiry returns when an operator's message may be forgotten, in milliseconds of this host's clock. It holds even if
// that clock is set meanwhile.
func (b *inbox) expiry(h wire.Header) int64 {
	expires := time.UnixMilli(h.Expires).Add(wire.Skew)
	local := b.cfg.Now()
	shown := expires.Add(local.Sub(b.clocks.now(h.Issuer, local)))
	if shown.After(expires) {
		return shown.UnixMilli()
	}
	return expires.UnixMilli()
}

// misdated answers a message that is valid except for its time with a question for the time.
func (b *inbox) misdated(l *letter, err error) bool {
	var r *wire.RefusedError
	if !errors.As(err, &r) || r.Reason != wire.Expired {
		return false
	}
	ack := wire.Ack{Run: l.Header.Run, Err: err.Error(), Clock: b.clocks.ask(l.Header.Issuer, b.cfg.Now())}
	b.answer(l, ack)
	return true
}

// handleClock corrects the offset of an operator's clock.
func (b *inbox) handleClock(l *letter) {
	h := l.Header
	ahead, err := b.clocks.set(h.Issuer, h.To, time.UnixMilli(h.NotBefore), b.cfg.Now())
	ack := wire.Ack{Run: h.Run}
	if err != nil && b.handover.shares() {
		return // another process of this agent may have asked
	}
	if err != nil {
		b.refuse(l.msg, h.Kind, err)
		ack.Err = err.Error()
	} else {
		b.cfg.Logger.Warn().Str("operator", h.Issuer).Str("ahead", ahead.Round(time.Second).String()).
			Msg("this host's clock is wrong, or the operator's: his is used for his messages")
	}
	b.answer(l, ack)
}

// dates pair a time on the controller's clock with the same time on this host's clock. Messages supply them.
type dates struct {
	his, own time.Time // his: when a message was made; own: when it arrived here
}

// sameClock is how late a message may seem to be if the clocks of both machines agree.
const sameClock = 2 * time.Second

// at converts a time of this host to the controller's time, as far as messages show it. A slow message shows a time
// that has passed, so the message that shows the latest time counts. If the two clocks may agree, at returns the
// host's own time. Setting the host's clock during a play changes nothing: the time since a message is measured by
// the monotonic clock.
func (d *dates) at(own time.Time) time.Time {
	if d.his.IsZero() {
		return own
	}
	his := d.his.Add(own.Sub(d.own))
	if late := own.Round(0).Sub(his); late >= 0 && late < sameClock {
		return own
	}
	return his
}

// setBack is how far behind earlier messages a message must be before at assumes that the controller's clock was set
// back.
const setBack = time.Minute

// take records when a message that has just arrived was made.
func (d *dates) take(his, own time.Time) {
	behind := d.his.Add(own.Sub(d.own)).Sub(his)
	if d.his.IsZero() || behind < 0 || behind > setBack {
		d.his, d.own = his, own
	}
}

// dated records the time in a message of the controller.
func (l *controllerLink) dated(h wire.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dates.take(time.UnixMilli(h.NotBefore), l.agent.cfg.Now())
}

// clock returns the controller's time.
func (l *controllerLink) clock() time.Time {
	own := l.agent.cfg.Now()
	if l.agent.cfg.Controller {
		return own
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dates.at(own)
}
