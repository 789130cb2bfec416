package keeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
)

// Reply answers an Ask.
type Reply struct {
	Hosts int    `json:"hosts"` // that it is about
	Err   string `json:"err,omitempty"`
	// Duty is the name of a play that was put off; Unfit are the hosts for which it could not be, each with the reason.
	Duty  string   `json:"duty,omitempty"`
	Unfit []string `json:"unfit,omitempty"`
}

// failed returns an answer that says why not.
func failed(err error) Reply { return Reply{Err: err.Error()} }

// RequestServer is where a keeper takes what operators ask of it. Only operators that it trusts may ask, and each
// message counts once.
type RequestServer struct {
	transport wire.Transport
	own       *wire.Identity
	believes  func(key string) bool
	asks      chan Requested
	done      <-chan struct{}

	mu    sync.Mutex
	codec wire.Codec
	had   map[string]time.Time // nonces, until they expire; guarded by mu
}

// ServeRequests listens until ctx is over.
func ServeRequests(ctx context.Context, t wire.Transport, own *wire.Identity,
	believes func(key string) bool) (*RequestServer, error) {
	d := &RequestServer{transport: t, own: own, believes: believes, asks: make(chan Requested), done: ctx.Done(),
		had: map[string]time.Time{}}
	sub, err := t.Subscribe(wire.Keeper(own.ID()), d.take)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for what is asked: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	return d, nil
}

// Asks returns what comes in.
func (d *RequestServer) Asks() <-chan Requested { return d.asks }

// take passes an ask on. What is not signed by somebody who may ask is not answered.
func (d *RequestServer) take(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return
	}
	h := f.Header
	demands := wire.Demands{Trusted: d.believes, ID: d.own.ID(), Kind: wire.KindKeeperAsk}
	if demands.Check(f) != nil || m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(h.Issuer)) || d.again(h) {
		return
	}
	answer := func(out Reply) {
		frame, err := d.codec.Pack(wire.Header{Kind: wire.KindAnswer, To: h.Nonce}, out, wire.Packing{Sign: d.own})
		if err == nil {
			_ = m.Respond(frame) // who asked may be gone
		}
	}
	var a Request
	if err := f.Body(&d.codec, wire.SealBox, wire.Keys{Own: d.own}, &a); err != nil {
		answer(failed(err))
		return
	}
	go func() {
		select {
		case d.asks <- Requested{Request: a, By: h.Issuer, Answer: answer}:
		case <-d.done:
		}
	}()
}

// again reports whether a message was taken before.
func (d *RequestServer) again(h wire.Header) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for nonce, until := range d.had {
		if until.Before(now) {
			delete(d.had, nonce)
		}
	}
	_, had := d.had[h.Nonce]
	d.had[h.Nonce] = time.UnixMilli(h.Expires).Add(10 * time.Minute)
	return had
}

// How long a keeper may take; longer where it compiles a play first.
const (
	askLimit     = 10 * time.Second
	compileLimit = 60 * time.Second
)

// Put asks a keeper for something. What it refuses is an error.
func Put(ctx context.Context, t wire.Transport, own *wire.Identity, key, xkey string, a Request) (Reply, error) {
	var codec wire.Codec
	var out Reply
	id, nonce := wire.IDOf(key), wire.NewNonce()
	frame, err := codec.Pack(wire.Header{Kind: wire.KindKeeperAsk, Targets: []string{id}, Nonce: nonce}, a,
		wire.Packing{Sign: own, To: xkey, Box: own})
	if err != nil {
		return out, err
	}
	limit := askLimit
	if a.Later != nil {
		limit = compileLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := t.Request(ctx, wire.Keeper(id), frame)
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return out, fmt.Errorf("no keeper is running with the key %s: `hark keeper run`, or `systemctl start hark-keeper`",
			key)
	case errors.Is(err, context.DeadlineExceeded):
		return out, fmt.Errorf("the keeper did not answer within %s: it may not believe this operator (`hark key believe` "+
			"there)", limit)
	case err != nil:
		return out, err
	}
	f, err := wire.Parse(raw)
	if err != nil {
		return out, err
	}
	if !f.Signed || f.Header.Issuer != key || f.Header.To != nonce || f.Header.Kind != wire.KindAnswer {
		return out, errors.New("the answer is not that of the keeper")
	}
	if err := f.Body(&codec, "", wire.Keys{}, &out); err != nil {
		return out, err
	}
	if out.Err != "" {
		err = errors.New(out.Err)
	}
	return out, err
}
