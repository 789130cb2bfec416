package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/agent/wire"
)

const (
	// manyAsk is how many must ask for a file until it is put at the broker: one may as well have it from here.
	manyAsk = 2
	// abreast is how many pieces are on their way to the broker at once.
	abreast = 8
	// stride is how many pieces an agent has before it, if there are so many, when it is told that there are some.
	stride = 16
	// wayAhead is how many pieces before the broker's last an agent may be that began alone; it then goes on alone.
	wayAhead = 64
	// brokerBlobWait is how long an agent waits for a piece to be at the broker. It asks again after longer than that.
	brokerBlobWait = 8 * time.Second
	// putTries is how often a piece is sent to a broker that does not answer.
	putTries = 5
)

// brokerBlobs are the files that a run puts at the broker.
type brokerBlobs struct {
	hub *Hub

	mu sync.Mutex
	by map[string]*brokerBlob // by the digest of the file; guarded by mu
}

// brokerBlob is a file whose pieces lie at the broker for the agents that want it, or are on their way there. Its
// fields are guarded by brokerBlobs.mu.
//
//	asked for by one --> asked for by several: filling --> whole
//	                                           |  ^  |
//	        who asked may have the file no more +--+  +--> failed: the broker takes no more, agents have the rest from here
type brokerBlob struct {
	wire.BlobLocation
	bus     *bus
	askers  map[string]bool // who may have it, see asker
	filling bool
	failed  bool
	grown   chan struct{} // closed and replaced when there is more of it
}

// answer answers a question. A piece of a file that several agents want is not given, but where it lies.
func (x *brokerBlobs) answer(p *peer, ask wire.Ask) wire.Answer {
	if ask.Kind != wire.AskBlob || !ask.AtBroker || p.local || ask.Offset%wire.PieceSize != 0 {
		return x.hub.cfg.Asks.Answer(x.hub.ctx, ask)
	}
	s := x.known(p, ask)
	if s == nil {
		a := x.hub.cfg.Asks.Answer(x.hub.ctx, ask)
		if small := a.EOF && ask.Offset == 0; a.Err != "" || a.Secret || small {
			return a
		}
		s = x.begin(p, ask)
	}
	if there := x.await(s, ask.Offset/wire.PieceSize); there != nil {
		return wire.Answer{Location: there}
	}
	return x.hub.cfg.Asks.Answer(x.hub.ctx, ask)
}

// await waits until a piece is at the broker, and some that come after it. It is nil if the piece does not come there.
func (x *brokerBlobs) await(s *brokerBlob, n int64) *wire.BlobLocation {
	late := time.NewTimer(brokerBlobWait)
	defer late.Stop()
	for over := false; ; {
		x.mu.Lock()
		there, filling, grown := s.BlobLocation, s.filling, s.grown
		x.mu.Unlock()
		switch {
		case there.Has(n + stride - 1), there.Has(n) && (!filling || over):
			return &there
		case !filling, over, n > there.Ready+wayAhead:
			return nil
		}
		select {
		case <-grown:
		case <-late.C:
			over = true
		case <-x.hub.ctx.Done():
			return nil
		}
	}
}

// asker names who asks: an agent may serve several hosts, and a file may be named to some of them.
func asker(p *peer, ask wire.Ask) string { return p.id + " " + ask.Host }

// known returns the brokerBlob of a file that was given to this host before, nil if there is none or somebody has to
// begin to fill it.
func (x *brokerBlobs) known(p *peer, ask wire.Ask) *brokerBlob {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.by[ask.Digest]
	if s == nil || !s.askers[asker(p, ask)] || !s.filling && !s.Whole {
		return nil
	}
	return s
}

// begin returns the brokerBlob of a file that an agent has asked for and may have. It begins to be filled with the
// second asker.
func (x *brokerBlobs) begin(p *peer, ask wire.Ask) *brokerBlob {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.by[ask.Digest]
	if s == nil {
		s = &brokerBlob{bus: p.bus, askers: map[string]bool{}, grown: make(chan struct{})}
		s.BlobLocation = wire.BlobLocation{
			Operator: p.bus.operator.ID(), Token: wire.NewNonce(), Key: wire.NewKey(), Piece: wire.PieceSize,
			InFlight: piecesInFlight(len(x.hub.members.allPeers())),
		}
		x.by[ask.Digest] = s
	}
	s.askers[asker(p, ask)] = true
	if len(s.askers) >= manyAsk && !s.filling && !s.failed && !s.Whole {
		s.filling = true
		ask.AtBroker = false
		x.hub.work.Go(func() { x.fill(s, ask) })
	}
	return s
}

// piecesInFlight returns how many pieces may be on their way to one of so many agents: the broker holds all of them
// in memory.
func piecesInFlight(agents int) int {
	switch {
	case agents <= 64:
		return 4
	case agents <= 256:
		return 2
	}
	return 1
}

// unservedError is why this side has no piece to put at the broker.
type unservedError struct{ text string }

func (e *unservedError) Error() string { return e.text }

// fill puts a file at the broker, or what is missing of it there. ask is an agent's question for a piece of it.
func (x *brokerBlobs) fill(s *brokerBlob, ask wire.Ask) {
	x.mu.Lock()
	n := s.Ready
	x.mu.Unlock()
	for on := true; on; n += abreast {
		put, whole, err := x.putPieces(s, ask, n)
		on = err == nil && !whole
		x.report(err)
		x.mu.Lock()
		if err == nil {
			s.Ready, s.Whole = s.Ready+put, whole
		}
		var unserved *unservedError
		s.filling, s.failed = on, err != nil && !errors.As(err, &unserved)
		close(s.grown)
		s.grown = make(chan struct{})
		x.mu.Unlock()
	}
}

// report says why a file is not at the broker: to the user if there is something that he can mend.
func (x *brokerBlobs) report(err error) {
	var full *fullError
	switch {
	case err == nil:
	case errors.As(err, &full):
		x.hub.requests.warn(fmt.Sprintf(
			"the broker does not take a file for its hosts: %s; each of them pulls it from this machine", full.text))
	default:
		x.hub.cfg.Logger.Debug().AnErr("cause", err).Msg("a file does not go to the broker")
	}
}

// putPieces puts the pieces of a file from n on at the broker, some at a time. whole says that the last is among them.
func (x *brokerBlobs) putPieces(s *brokerBlob, ask wire.Ask, n int64) (put int64, whole bool, err error) {
	errs := make([]error, abreast)
	var putting sync.WaitGroup
	defer putting.Wait()
	for put < abreast && !whole {
		at := n + put
		ask.Offset = at * wire.PieceSize
		a := x.hub.cfg.Asks.Answer(x.hub.ctx, ask)
		if a.Err != "" {
			return put, false, &unservedError{a.Err}
		}
		frame, err := s.Pack(x.hub.codec, x.hub.cfg.Run, at, a.Data)
		if err != nil {
			return put, false, err
		}
		putting.Go(func() { errs[at-n] = x.put(s.bus, s.Subject(at), frame, at > 0) })
		put, whole = put+1, a.EOF
	}
	putting.Wait()
	return put, whole, errors.Join(errs...)
}

// fullError is why the broker does not take a piece.
type fullError struct{ text string }

func (e *fullError) Error() string { return e.text }

// put puts a piece at the broker. known says that it took pieces before: it may be away for a while then.
func (x *brokerBlobs) put(b *bus, subject string, frame []byte, known bool) error {
	var err error
	for range putTries {
		var raw []byte
		ctx, cancel := context.WithTimeout(x.hub.ctx, x.hub.times.Ack)
		raw, err = b.transport.Request(ctx, subject, frame)
		cancel()
		absent := errors.Is(err, wire.ErrNoResponder)
		switch {
		case err == nil:
			return taken(raw)
		case absent && !known, errors.Is(err, wire.ErrDenied), errors.Is(err, wire.ErrTooLarge), x.hub.ctx.Err() != nil:
			return err
		}
		select {
		case <-time.After(x.hub.times.Back / 3):
		case <-x.hub.ctx.Done():
			return x.hub.ctx.Err()
		}
		if err := x.hub.requests.awaitBroker(x.hub.ctx, b.answers); err != nil {
			return err
		}
	}
	return err
}

// taken reads what JetStream answers to a message for a stream.
func taken(raw []byte) error {
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	err := json.Unmarshal(raw, &ack)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the broker's answer: %w", err)
	case ack.Error != nil:
		return &fullError{ack.Error.Description}
	case ack.Stream != wire.FilesStream:
		return fmt.Errorf("stream %q took what is for %s", ack.Stream, wire.FilesStream)
	}
	return nil
}

// clearLimit is how long the end of a run waits for the broker to have heard that its files may go.
const clearLimit = 2 * time.Second

// clear removes the files of the run from the broker: an empty message takes the place of each piece. It is called
// when nothing fills blobs any more.
func (x *brokerBlobs) clear() {
	x.mu.Lock()
	all := slices.Collect(maps.Values(x.by))
	x.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), clearLimit)
	defer cancel()
	for _, s := range all {
		if len(s.askers) < manyAsk {
			continue
		}
		for n := range s.Ready + abreast {
			_ = s.bus.transport.Publish(s.Subject(n), nil)
		}
		_ = s.bus.transport.Flush(ctx)
	}
}
