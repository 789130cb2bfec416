package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
)

// Pinger asks agents whether they are there, outside of a run.
type Pinger struct {
	Transport wire.Transport
	Operator  *wire.Identity
	Fleet     string
	// Run, if set, is the run whose sessions agents report.
	Run string

	codec wire.Codec
}

// Pong is an agent's answer to a ping, with what it shows of the way there and back.
type Pong struct {
	wire.Alive
	RTT time.Duration
	// Offset is by how much the agent's clock is ahead of this one, to within RTT.
	Offset time.Duration
}

// Ping asks the agent with a public key once. The error is wire.ErrNoResponder if it is not connected.
func (p *Pinger) Ping(ctx context.Context, key string) (*Pong, error) {
	pong, _, err := p.ping(ctx, wire.IDOf(key), key, wire.Ping{})
	return pong, err
}

// Greet asks the agent with an id to say hello again, as what it said was overwritten, and returns its public key.
func (p *Pinger) Greet(ctx context.Context, id string) (pong *Pong, key string, err error) {
	return p.ping(ctx, id, "", wire.Ping{Greet: true})
}

// ping asks the agent with an id, whose key must be the given one unless that is "".
func (p *Pinger) ping(ctx context.Context, id, key string, ask wire.Ping) (pong *Pong, signer string, err error) {
	nonce := wire.NewNonce()
	head := wire.Header{Kind: wire.KindPing, Fleet: p.Fleet, Run: p.Run, Targets: []string{id}, Nonce: nonce}
	frame, err := p.codec.Pack(head, ask, wire.Packing{Sign: p.Operator})
	if err != nil {
		return nil, "", err
	}
	to := inquiry{transport: p.Transport, operator: p.Operator, codec: &p.codec, key: key, id: id, fleet: p.Fleet}
	var body struct {
		wire.Alive
		Err string `json:"err"`
	}
	began := time.Now()
	f, err := to.put(ctx, wire.HostSubject(id, wire.KindPing), nonce, frame, &body)
	if err != nil {
		return nil, "", err
	}
	if body.Err != "" {
		return nil, "", &refusedError{text: body.Err}
	}
	rtt := time.Since(began)
	pong = &Pong{Alive: body.Alive, RTT: rtt, Offset: time.UnixMilli(f.Header.NotBefore).Sub(began.Add(rtt / 2))}
	return pong, f.Header.Issuer, nil
}

// Await asks until the agent answers or ctx is over, at first soon again: an agent that has just been started listens
// in a moment.
func (p *Pinger) Await(ctx context.Context, key string) (*Pong, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 300*time.Millisecond) {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		pong, err := p.Ping(try, key)
		cancel()
		var refused *refusedError
		if err == nil || errors.As(err, &refused) {
			return pong, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("it does not answer: %w", err)
		case <-time.After(pause):
		}
	}
}

// Trust changes which operators an agent obeys, and returns the keys of those that it obeys then.
func (p *Pinger) Trust(ctx context.Context, key, xkey string, change wire.Trust) ([]string, error) {
	var body wire.Trusted
	err := p.change(ctx, wire.KindTrust, key, xkey, change, &body)
	if err == nil && body.Err != "" {
		err = &refusedError{text: body.Err}
	}
	return body.Operators, err
}

// Hold keeps keepers from an agent's host. A nil hold lets them play again.
func (p *Pinger) Hold(ctx context.Context, key, xkey string, h *wire.Hold) error {
	var body wire.HoldChanged
	err := p.change(ctx, wire.KindHold, key, xkey, wire.HoldChange{Hold: h}, &body)
	switch {
	case err != nil:
		return err
	case body.Err != "":
		return &refusedError{text: body.Err}
	case h != nil && body.Hold == nil:
		return errors.New("the agent is of an older version and knows no holds: hark agents upgrade")
	}
	return nil
}

// change sends an agent a sealed message that changes something of its own, and reads the answer.
func (p *Pinger) change(ctx context.Context, k wire.Kind, key, xkey string, change, into any) error {
	id, nonce := wire.IDOf(key), wire.NewNonce()
	frame, err := p.codec.Pack(wire.Header{Kind: k, Fleet: p.Fleet, Targets: []string{id}, Nonce: nonce}, change,
		wire.Packing{Sign: p.Operator, To: xkey, Box: p.Operator})
	if err != nil {
		return err
	}
	to := inquiry{transport: p.Transport, operator: p.Operator, codec: &p.codec, key: key, fleet: p.Fleet}
	_, err = to.put(ctx, wire.HostSubject(id, k), nonce, frame, into)
	return err
}
