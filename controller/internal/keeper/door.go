package keeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/standing"
)

// Asking answers an Ask.
type Asking struct {
	Hosts int    `json:"hosts"` // that it is about
	Err   string `json:"err,omitempty"`
}

// Door is where a keeper takes what operators ask of it. Only those whom it believes may ask, and each message counts once.
type Door struct {
	transport wire.Transport
	own       *wire.Identity
	believes  func(key string) bool
	asks      chan Asked
	done      <-chan struct{}

	mu    sync.Mutex
	codec wire.Codec
	had   map[string]time.Time // nonces, until they expire; guarded by mu
}

// OpenDoor listens until ctx is over.
func OpenDoor(ctx context.Context, t wire.Transport, own *wire.Identity, believes func(key string) bool) (*Door, error) {
	d := &Door{transport: t, own: own, believes: believes, asks: make(chan Asked), done: ctx.Done(), had: map[string]time.Time{}}
	sub, err := t.Subscribe(wire.Keeper(own.ID()), d.take)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for what is asked: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	return d, nil
}

// Asks are what comes in.
func (d *Door) Asks() <-chan Asked { return d.asks }

// take passes an ask on. What is not signed by somebody who may ask is not answered.
func (d *Door) take(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return
	}
	h := f.Header
	demands := wire.Demands{Trusted: d.believes, ID: d.own.ID(), Kind: wire.KindKeeperAsk}
	if demands.Check(f) != nil || m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(h.Issuer)) || d.again(h) {
		return
	}
	answer := func(n int, err error) {
		out := Asking{Hosts: n}
		if err != nil {
			out.Err = err.Error()
		}
		frame, err := d.codec.Pack(wire.Header{Kind: wire.KindAnswer, To: h.Nonce}, out, wire.Packing{Sign: d.own})
		if err == nil {
			_ = m.Respond(frame) // who asked may be gone
		}
	}
	var a Ask
	if err := f.Body(&d.codec, wire.SealBox, wire.Keys{Own: d.own}, &a); err != nil {
		answer(0, err)
		return
	}
	go func() {
		select {
		case d.asks <- Asked{Ask: a, By: h.Issuer, Answer: answer}:
		case <-d.done:
		}
	}()
}

// again tells a message that was taken before.
func (d *Door) again(h wire.Header) bool {
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

// askLimit is how long a keeper may take.
const askLimit = 10 * time.Second

// Put asks the keeper of a duty for something, and gives how many hosts it is about.
func Put(ctx context.Context, t wire.Transport, own *wire.Identity, d standing.Definition, a Ask) (int, error) {
	var codec wire.Codec
	id, nonce := wire.IDOf(d.Keeper), wire.NewNonce()
	frame, err := codec.Pack(wire.Header{Kind: wire.KindKeeperAsk, Targets: []string{id}, Nonce: nonce}, a, wire.Packing{Sign: own, To: d.XKey, Box: own})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	raw, err := t.Request(ctx, wire.Keeper(id), frame)
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return 0, fmt.Errorf("no keeper is running with the key %s: `hark keeper run`, or `systemctl start hark-keeper`", d.Keeper)
	case errors.Is(err, context.DeadlineExceeded):
		return 0, fmt.Errorf("the keeper did not answer within %s: it may not believe this operator (`hark key believe` there)", askLimit)
	case err != nil:
		return 0, err
	}
	f, err := wire.Parse(raw)
	if err != nil {
		return 0, err
	}
	if !f.Signed || f.Header.Issuer != d.Keeper || f.Header.To != nonce || f.Header.Kind != wire.KindAnswer {
		return 0, errors.New("the answer is not that of the keeper")
	}
	var out Asking
	if err := f.Body(&codec, "", wire.Keys{}, &out); err != nil {
		return 0, err
	}
	if out.Err != "" {
		err = errors.New(out.Err)
	}
	return out.Hosts, err
}
