package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hark/agent/wire"
)

// partial is a file that is being pulled. Pieces are written in order, so if the pull ends early the file holds its
// beginning, and the next pull goes on there.
type partial struct {
	f      *os.File
	secret bool // it has no name and is only in memory
	at     int64
	sum    hash.Hash // of the content so far
	first  Piece     // the piece at at
	broken bool      // it could not be written: remove it
}

// partial opens what an earlier pull has left of a file, or creates a new one, and asks for its next piece.
func (b *Blobs) partial(ctx context.Context, digest string, ask Pull) (*partial, error) {
	path := filepath.Join(b.dir, ".part-"+strings.ToLower(digest))
	p := &partial{sum: sha256.New()}
	if st, err := os.Stat(path); err == nil {
		p.at = st.Size() - st.Size()%wire.PieceSize
	}
	var err error
	if p.first, err = ask(ctx, p.at); err != nil {
		return nil, err
	}
	p.secret = p.first.Secret
	switch {
	case p.secret && p.at > 0: // it was no secret when it was begun
		if err = os.Remove(path); err == nil {
			return b.partial(ctx, digest, ask)
		}
	case p.secret:
		p.f, err = nameless(filepath.Join(b.dir, ".secret"))
	default:
		p.f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err == nil && !p.secret {
		err = p.f.Truncate(p.at)
	}
	if err == nil {
		_, err = io.Copy(p.sum, p.f)
	}
	if err != nil {
		p.drop()
		return nil, fmt.Errorf("cannot cache a file: %w", err)
	}
	return p, nil
}

// fill pulls the missing pieces, several at a time. The size of the first is that of all others.
func (p *partial) fill(ctx context.Context, ask Pull) error {
	if err := p.write(p.first); err != nil || p.first.Last {
		return err
	}
	size := int64(len(p.first.Data))
	if size == 0 {
		return fmt.Errorf("cannot pull a file: its first piece is empty")
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	slots := ahead(ctx, &asking, p.at, size, ask)
	for {
		var a answered
		select {
		case slot := <-slots:
			a = <-slot
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err := a.err
		if err == nil && !a.Last && int64(len(a.Data)) != size {
			err = fmt.Errorf("cannot pull a file: a piece has %d bytes and not %d", len(a.Data), size)
		}
		if err == nil {
			err = p.write(a.Piece)
		}
		if err != nil || a.Last {
			return err
		}
	}
}

// answered is the answer to a request for a piece.
type answered struct {
	Piece
	err error
}

// ahead requests the pieces from an offset on, InFlight at a time, until the last has arrived or ctx is done. Its
// channel has a place for each of them, in order.
func ahead(ctx context.Context, asking *sync.WaitGroup, offset, size int64, ask Pull) <-chan chan answered {
	slots := make(chan chan answered, InFlight)
	free := make(chan struct{}, InFlight)
	more, end := context.WithCancel(ctx)
	asking.Go(func() {
		defer end()
		for ; ; offset += size {
			select {
			case free <- struct{}{}:
			case <-more.Done():
				return
			}
			slot, at := make(chan answered, 1), offset
			asking.Go(func() {
				piece, err := ask(ctx, at)
				if err != nil || piece.Last {
					end()
				}
				<-free
				slot <- answered{piece, err}
			})
			select {
			case slots <- slot:
			case <-ctx.Done():
				return
			}
		}
	})
	return slots
}

func (p *partial) write(piece Piece) error {
	if _, err := p.f.Write(piece.Data); err != nil {
		p.broken = true
		return fmt.Errorf("cannot cache a file: %w", err)
	}
	p.sum.Write(piece.Data)
	p.at += int64(len(piece.Data))
	return nil
}

// OtherError says that the pulled file is not the requested one.
type OtherError struct{ Got, Want string }

func (e *OtherError) Error() string {
	return fmt.Sprintf("cannot use a file of the controller: its sha256 is %s and should be %s", e.Got, e.Want)
}

// check returns an *OtherError unless the file has the digest.
func (p *partial) check(digest string) error {
	if got := hex.EncodeToString(p.sum.Sum(nil)); got != strings.ToLower(digest) {
		return &OtherError{got, digest}
	}
	return nil
}

// commit gives the file its name in the cache.
func (p *partial) commit(path string) error {
	if err := p.f.Sync(); err != nil {
		return err
	}
	return os.Rename(p.f.Name(), path)
}

// leave closes the file for the next pull to go on with.
func (p *partial) leave() {
	if p.secret || p.broken || p.at < wire.PieceSize {
		p.drop()
		return
	}
	p.f.Close()
}

// drop removes the file.
func (p *partial) drop() {
	if p.f == nil {
		return
	}
	p.f.Close()
	if !p.secret {
		os.Remove(p.f.Name())
	}
}
