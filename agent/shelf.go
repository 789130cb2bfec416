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

// distrust is how many pieces in a row may be missing at the broker, or not be what they should, until a file is
// pulled from the controller alone.
const distrust = 8

// pull pulls one blob: from the broker where the controller says that its pieces lie there, else from the controller.
// A piece that the broker does not have, or has altered, comes from the controller. Its methods are safe for
// concurrent use.
type pull struct {
	line   *line
	base   wire.Ask // with the digest
	flight chan struct{}
	turn   chan struct{} // one slot, held by who asks where pieces lie

	mu    sync.Mutex
	shelf *wire.Shelf // the last that was told of; guarded by mu
	bad   int         // pieces in a row that the shelf did not give; guarded by mu
}

// puller pulls a blob. base completes the asks.
func (l *line) puller(base wire.Ask, digest string) *pull {
	base.Kind, base.Digest = wire.AskBlob, digest
	return &pull{line: l, base: base, flight: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// alone has everything come from the controller from now on. It is false if it did anyway.
func (p *pull) alone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad = distrust
	return p.shelf != nil
}

// piece implements store.Pull.
func (p *pull) piece(ctx context.Context, offset int64) (store.Piece, error) {
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
	p.line.agent.cfg.Logger.Debug().Str("run", p.line.run).AnErr("cause", err).Msg("a piece of a file comes from the controller")
	piece, _, err = p.ask(ctx, offset, false)
	return piece, err
}

// place asks where a piece is, or for the piece. Where pieces lie at the broker one question tells of several.
func (p *pull) place(ctx context.Context, offset int64, trusted bool) (*wire.Shelf, *store.Piece, error) {
	p.mu.Lock()
	shelved := p.shelf != nil
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

// at is the shelf that has the piece at an offset, or has none that far; nil if none is known to. It tells too
// whether shelves are trusted still.
func (p *pull) at(offset int64) (s *wire.Shelf, trusted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	trusted = p.bad < distrust
	trusted = trusted && offset%wire.PieceSize == 0
	if !trusted || p.shelf == nil || !p.shelf.Whole && !p.shelf.Has(offset/p.shelf.Piece) {
		return nil, trusted
	}
	return p.shelf, trusted
}

// note takes what came of a piece.
func (p *pull) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad++; err == nil {
		p.bad = 0
	}
}

// ask asks the controller for a piece, which may answer with where it lies.
func (p *pull) ask(ctx context.Context, offset int64, shelves bool) (store.Piece, *wire.Shelf, error) {
	q := p.base
	q.Offset, q.Shelves = offset, shelves
	a, err := p.line.ask(ctx, q)
	if err == nil && a.Err != "" {
		err = errors.New(a.Err)
	}
	if err != nil {
		return store.Piece{}, nil, err
	}
	if s := a.Shelf; s != nil {
		if !shelves || s.Piece != wire.PieceSize || !s.Has(offset/s.Piece) {
			return store.Piece{}, nil, fmt.Errorf("cannot pull a file: the controller names a place where its piece at %d is not", offset)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.shelf == nil {
			p.flight = make(chan struct{}, min(max(s.Flight, 1), store.InFlight))
		}
		if p.shelf == nil || p.shelf.Ready <= s.Ready {
			p.shelf = s
		}
		return store.Piece{}, s, nil
	}
	return store.Piece{Data: a.Data, Last: a.EOF, Secret: a.Secret}, nil, nil
}

// fetch gets a piece from the broker.
func (p *pull) fetch(ctx context.Context, s *wire.Shelf, offset int64) (store.Piece, error) {
	p.mu.Lock()
	flight := p.flight
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
	data, err := s.Open(&p.line.agent.codec, p.line.run, n, message)
	last := s.Last(n)
	if err == nil && !last && int64(len(data)) != s.Piece {
		err = fmt.Errorf("the piece has %d bytes and not %d", len(data), s.Piece)
	}
	return store.Piece{Data: data, Last: last}, err
}
