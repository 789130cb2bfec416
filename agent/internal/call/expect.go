package call

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"hark/agent/wire"
)

// mostAtOnce is how many small files are asked for at once. The controller answers with as many as one message holds.
const mostAtOnce = 512

// expected are small files of the controller that a module has said it will open, in its order: those that come next
// come together and stay in memory until others do. It is safe for concurrent use.
type expected struct {
	ask  Ask
	turn chan struct{} // one slot, held by who uses the rest

	list []string          // not asked for yet
	held map[string][]byte // by digest
}

func newExpected(ask Ask) *expected {
	return &expected{ask: ask, turn: make(chan struct{}, 1), held: map[string][]byte{}}
}

// expect implements modules.Env.Expect.
func (e *expected) expect(ctx context.Context, digests []string) {
	select {
	case e.turn <- struct{}{}:
		e.list, e.held = slices.Clone(digests), map[string][]byte{}
		<-e.turn
	case <-ctx.Done():
	}
}

// open opens a file that is expected. It is false for others, and for all once the controller does not give what it
// should.
func (e *expected) open(ctx context.Context, digest string) (io.ReadCloser, bool) {
	if e == nil {
		return nil, false
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, false
	}
	defer func() { <-e.turn }()
	if _, ok := e.held[digest]; !ok {
		at := slices.Index(e.list, digest)
		if at < 0 {
			return nil, false
		}
		e.list = e.list[at:]
		if e.fetch(ctx) != nil {
			e.list = nil
			return nil, false
		}
	}
	content, ok := e.held[digest]
	return io.NopCloser(bytes.NewReader(content)), ok
}

// errContents says that the controller gave other contents than those that it was asked for, or is too old to be asked.
var errContents = errors.New("the controller does not give what was asked for")

// fetch asks for those that come next, in place of those that are held.
func (e *expected) fetch(ctx context.Context) error {
	wanted := e.list[:min(len(e.list), mostAtOnce)]
	a, err := e.ask(ctx, wire.Ask{Kind: wire.AskBlob, Digests: wanted})
	if err != nil {
		return err
	}
	if a.Err != "" || len(a.Contents) == 0 || len(a.Contents) > len(wanted) {
		return errContents
	}
	held := make(map[string][]byte, len(a.Contents))
	for i, content := range a.Contents {
		sum := sha256.Sum256(content)
		if hex.EncodeToString(sum[:]) != wanted[i] {
			return errContents
		}
		held[wanted[i]] = content
	}
	e.held, e.list = held, e.list[len(a.Contents):]
	return nil
}
