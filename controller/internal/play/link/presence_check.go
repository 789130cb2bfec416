package link

import (
	"context"
	"encoding/json"
	"errors"

	"hark/agent/wire"
)

// inquiry is how an agent is asked something that it answers in clear, signed, or sealed with the key that it was
// given with the question.
type inquiry struct {
	transport wire.Transport
	operator  *wire.Identity
	codec     *wire.Codec
	key       string // of the agent, "" if only its id is known
	id        string // of the agent, "" for that of its key
	fleet     string
	session   *wire.Key // nil if it has none
}

// errNotFrom is an answer of somebody else.
var errNotFrom = errors.New("the answer is not from the agent that was asked")

// put sends a frame and decodes the answer. If the agent finds the frame misdated, it is told the time, and then sent
// the frame again.
func (q inquiry) put(ctx context.Context, subject, nonce string, frame []byte, into any) (*wire.Frame, error) {
	f, body, err := q.once(ctx, subject, nonce, frame)
	if err != nil {
		return nil, err
	}
	var ack wire.Ack
	if json.Unmarshal(body, &ack) == nil && ack.Clock != "" {
		if err := q.tellTime(ctx, ack.Clock); err != nil {
			return nil, err
		}
		if f, body, err = q.once(ctx, subject, nonce, frame); err != nil {
			return nil, err
		}
	}
	return f, wire.Decode(body, into)
}

func (q inquiry) once(ctx context.Context, subject, nonce string, frame []byte) (*wire.Frame, json.RawMessage, error) {
	raw, err := q.transport.Request(ctx, subject, frame)
	if err != nil {
		return nil, nil, err
	}
	f, err := wire.Parse(raw)
	if err != nil {
		return nil, nil, err
	}
	var body json.RawMessage
	switch {
	case f.Header.To != nonce || f.Header.Kind != wire.KindAnswer:
		return nil, nil, errNotFrom
	case q.session != nil && f.Header.Seal == wire.SealHost:
		err = f.Body(q.codec, wire.SealHost, wire.Keys{Host: q.session}, &body)
	case !f.Signed || wire.IDOf(f.Header.Issuer) != q.agent() || q.key != "" && f.Header.Issuer != q.key:
		err = errNotFrom
	default:
		err = f.Body(q.codec, "", wire.Keys{}, &body)
	}
	return f, body, err
}

// agent returns the id of the agent that is asked.
func (q inquiry) agent() string {
	if q.id != "" {
		return q.id
	}
	return wire.IDOf(q.key)
}

// tellTime answers an agent's question for the time. The header says what it is.
func (q inquiry) tellTime(ctx context.Context, challenge string) error {
	nonce := wire.NewNonce()
	head := wire.Header{
		Kind: wire.KindClock, Fleet: q.fleet, Targets: []string{q.agent()}, Nonce: nonce, To: challenge,
	}
	frame, err := q.codec.Pack(head, struct{}{}, wire.Packing{Sign: q.operator})
	if err != nil {
		return err
	}
	_, _, err = q.once(ctx, wire.HostSubject(q.agent(), wire.KindClock), nonce, frame)
	return err
}
