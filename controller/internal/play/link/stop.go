package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"hark/agent/wire"
)

// Stops is a run that can be stopped from elsewhere, by the operator who began it and by nobody else.
type Stops struct {
	Transport wire.Transport
	Operator  *wire.Identity
	Run       string
	// Stop is called for each word of the operator's, from a goroutine of the transport.
	Stop func(wire.Stop)

	codec wire.Codec

	mu   sync.Mutex
	seen map[string]bool // by nonce: what is repeated is not a second word; guarded by mu
}

// Listen takes such words until the subscription ends.
func (s *Stops) Listen() (wire.Subscription, error) {
	s.seen = map[string]bool{}
	return s.Transport.Subscribe(wire.RunStopSubject(s.Operator.ID(), s.Run), func(m wire.Msg) {
		answer := wire.Ack{Run: s.Run}
		stop, err := s.take(m.Data)
		if err != nil {
			answer.Err = err.Error()
		}
		if text, err := json.Marshal(answer); err == nil && m.Respond != nil && wire.OwnReply(m.Reply, s.Operator.ID()) {
			_ = m.Respond(text) // who does not hear it asks again
		}
		if stop != nil {
			s.Stop(*stop)
		}
	})
}

// take looks at a word. It is nil for one that came before.
func (s *Stops) take(data []byte) (*wire.Stop, error) {
	f, err := wire.Parse(data)
	if err != nil {
		return nil, err
	}
	own := func(issuer string) bool { return issuer == s.Operator.Key }
	if err := (wire.Demands{Trusted: own, Kind: wire.KindStop}).Check(f); err != nil {
		return nil, err
	}
	var stop wire.Stop
	if err := f.Body(&s.codec, "", wire.Keys{}, &stop); err != nil {
		return nil, err
	}
	if f.Header.Run != s.Run || stop.Run != s.Run {
		return nil, fmt.Errorf("it is about run %s", stop.Run)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[f.Header.Nonce] {
		return nil, nil
	}
	s.seen[f.Header.Nonce] = true
	return &stop, nil
}

// RequestRunStop asks the controller of a run, wherever it is, to stop it.
func RequestRunStop(ctx context.Context, t wire.Transport, operator *wire.Identity, run string) error {
	var codec wire.Codec
	frame, err := codec.Pack(wire.Header{Kind: wire.KindStop, Run: run}, wire.Stop{Run: run}, wire.Packing{Sign: operator})
	if err != nil {
		return err
	}
	raw, err := t.Request(ctx, wire.RunStopSubject(operator.ID(), run), frame)
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return errors.New("its controller is not connected to the broker")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("its controller does not answer")
	case err != nil:
		return err
	}
	var answer wire.Ack
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("its controller's answer cannot be read: %v", err)
	}
	if answer.Err != "" {
		return fmt.Errorf("its controller refuses: %s", answer.Err)
	}
	return nil
}
