package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// files moves the content of controller-side files.
type files struct {
	cache func(ctx context.Context, digest string) (io.ReadCloser, error)
	ask   Ask
	// together are those that come several at a time; nil has none.
	together *expected
}

// piece is how much of a file goes to the controller in one message.
const piece = 256 << 10

// Blob reads a blob of the controller, piece by piece and in order, through ask.
func Blob(ctx context.Context, ask Ask, digest string) io.ReadCloser {
	return io.NopCloser(&blobReader{ctx: ctx, ask: ask, digest: digest})
}

// open reads a blob from the agent's cache or, without one, from the controller.
func (f files) open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if r, ok := f.together.open(ctx, digest); ok {
		return r, nil
	}
	if f.cache != nil {
		return f.cache(ctx, digest)
	}
	return Blob(ctx, f.ask, digest), nil
}

// blobReader pulls a blob in order.
type blobReader struct {
	ctx    context.Context
	ask    Ask
	digest string
	at     int64
	rest   []byte
	eof    bool
}

func (b *blobReader) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.eof {
			return 0, io.EOF
		}
		a, err := b.ask(b.ctx, wire.Ask{Kind: wire.AskBlob, Digest: b.digest, Offset: b.at})
		if err != nil {
			return 0, err
		}
		if a.Err != "" {
			return 0, fmt.Errorf("cannot read a file of the controller: %s", a.Err)
		}
		b.rest, b.eof = a.Data, a.EOF || len(a.Data) == 0
		b.at += int64(len(a.Data))
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// upload sends a file to the controller, which keeps it when the last piece has come and the sum is right.
func (f files) upload(ctx context.Context, dest string, mode uint32, r io.Reader) error {
	sum := sha256.New()
	buf := make([]byte, piece)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return fmt.Errorf("cannot read the file to fetch: %w", err)
		}
		sum.Write(buf[:n])
		up := &wire.Upload{Dest: wire.Escaped(dest), Offset: at, Data: buf[:n], Mode: mode, Last: last}
		if last {
			up.Digest = hex.EncodeToString(sum.Sum(nil))
		}
		a, err := f.ask(ctx, wire.Ask{Kind: wire.AskUpload, Upload: up})
		if err != nil {
			return err
		}
		if a.Err != "" {
			return errors.New(a.Err)
		}
		if last {
			return nil
		}
		at += int64(n)
	}
}

// remoteSum returns the sha1 of a file on the controller.
func (f files) remoteSum(ctx context.Context, dest string) (string, error) {
	a, err := f.ask(ctx, wire.Ask{Kind: wire.AskUpload, Upload: &wire.Upload{Dest: wire.Escaped(dest), Stat: true}})
	if err != nil {
		return "", err
	}
	if a.Err != "" {
		return "", errors.New(a.Err)
	}
	text, _ := value.Text(a.Value.V)
	return text, nil
}
