package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/internal/store"
	"hark/agent/wire"
)

// pieceWait is how long the broker may take to give a piece of a file.
const pieceWait = 10 * time.Second

// distrust is how many pieces in a row may be missing at the broker, or wrong, before the agent pulls the file only
// from the controller.
const distrust = 8

// blobDownload pulls one blob: from the broker where the controller says that its pieces lie there, else from the
// controller. A piece that the broker does not have, or has altered, comes from the controller. Its methods are safe
// for concurrent use.
type blobDownload struct {
	line     *controllerLink
	base     wire.Ask // with the digest
	inFlight chan struct{}
	turn     chan struct{} // one slot, held by the goroutine that asks where pieces are

	mu       sync.Mutex
	location *wire.BlobLocation // the last known one; guarded by mu
	bad      int                // pieces in a row that the broker did not have; guarded by mu
}

// puller pulls a blob. base completes the asks.
func (l *controllerLink) puller(base wire.Ask, digest string) *blobDownload {
	base.Kind, base.Digest = wire.AskBlob, digest
	return &blobDownload{line: l, base: base, inFlight: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// alone makes the controller the only source from now on. It returns false if it was already.
func (p *blobDownload) alone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad = distrust
	return p.location != nil
}

// piece implements store.Pull.
func (p *blobDownload) piece(ctx context.Context, offset int64) (store.Piece, error) {
	s, trusted := p.at(offset)
	if s == nil {
		var got *store.Piece
		var err error
		if s, got, err = p.place(ctx, offset, trusted); err != nil {
			return store.Piece{}, err
		}
		if got != nil {
			return *got, nil
		}
	}
	if !s.Has(offset / s.Piece) {
		return store.Piece{Last: true}, nil // of those that are asked for ahead
	}
	piece, err := p.fetch(ctx, s, offset)
	p.note(err)
	if err == nil || ctx.Err() != nil {
		return piece, err
	}
	p.line.agent.cfg.Logger.Debug().Str("run", p.line.run).AnErr("cause", err).
		Msg("a piece of a file comes from the controller")
	piece, _, err = p.ask(ctx, offset, false)
	return piece, err
}

// place asks for a piece or its location. A location at the broker covers several pieces.
func (p *blobDownload) place(ctx context.Context, offset int64,
	trusted bool) (*wire.BlobLocation, *store.Piece, error) {
	p.mu.Lock()
	shelved := p.location != nil
	p.mu.Unlock()
	if shelved && trusted {
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		defer func() { <-p.turn }()
		if s, _ := p.at(offset); s != nil {
			return s, nil, nil
		}
	}
	got, s, err := p.ask(ctx, offset, trusted)
	if err != nil || s != nil {
		return s, nil, err
	}
	return nil, &got, nil
}

// at returns the location at the broker that has the piece at an offset, or has none that far; nil if none is known
// to. trusted says that the broker's pieces are still trusted.
func (p *blobDownload) at(offset int64) (s *wire.BlobLocation, trusted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	trusted = p.bad < distrust
	trusted = trusted && offset%wire.PieceSize == 0
	if !trusted || p.location == nil || !p.location.Whole && !p.location.Has(offset/p.location.Piece) {
		return nil, trusted
	}
	return p.location, trusted
}

// note records whether a piece arrived.
func (p *blobDownload) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad++; err == nil {
		p.bad = 0
	}
}

// ask asks the controller for a piece. The answer may be the location of the piece.
func (p *blobDownload) ask(ctx context.Context, offset int64, atBroker bool) (store.Piece, *wire.BlobLocation, error) {
	q := p.base
	q.Offset, q.AtBroker = offset, atBroker
	a, err := p.line.ask(ctx, q)
	if err == nil && a.Err != "" {
		err = errors.New(a.Err)
	}
	if err != nil {
		return store.Piece{}, nil, err
	}
	if s := a.Location; s != nil {
		if !atBroker || s.Piece != wire.PieceSize || !s.Has(offset/s.Piece) {
			return store.Piece{}, nil,
				fmt.Errorf("cannot pull a file: the controller names a place where its piece at %d is not", offset)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.location == nil {
			p.inFlight = make(chan struct{}, min(max(s.InFlight, 1), store.InFlight))
		}
		if p.location == nil || p.location.Ready <= s.Ready {
			p.location = s
		}
		return store.Piece{}, s, nil
	}
	return store.Piece{Data: a.Data, Last: a.EOF, Secret: a.Secret}, nil, nil
}

// fetch gets a piece from the broker.
func (p *blobDownload) fetch(ctx context.Context, s *wire.BlobLocation, offset int64) (store.Piece, error) {
	p.mu.Lock()
	flight := p.inFlight
	p.mu.Unlock()
	select {
	case flight <- struct{}{}:
	case <-ctx.Done():
		return store.Piece{}, context.Cause(ctx)
	}
	defer func() { <-flight }()
	n := offset / s.Piece
	limited, cancel := context.WithTimeout(ctx, pieceWait)
	defer cancel()
	message, err := p.line.agent.cfg.Transport.Request(limited, wire.ReadPiece(s.Subject(n)), nil)
	if err != nil {
		return store.Piece{}, err
	}
	data, err := s.Open(p.line.agent.codec, p.line.run, n, message)
	last := s.Last(n)
	if err == nil && !last && int64(len(data)) != s.Piece {
		err = fmt.Errorf("the piece has %d bytes and not %d", len(data), s.Piece)
	}
	return store.Piece{Data: data, Last: last}, err
}
