package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// cacheSize is how many bytes of files are kept for the next play.
const cacheSize = 1 << 30

// inFlight is how many pieces of a file are on their way at once.
const inFlight = 4

// Blobs caches files by their sha256. It is safe for concurrent use.
type Blobs struct {
	dir string

	mu    sync.Mutex
	pulls map[string]chan struct{} // digests that are being pulled, closed when done; guarded by mu
}

// OpenBlobs opens a cache and drops what was left half done.
func OpenBlobs(dir string) (*Blobs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the cache of files: %v", err)
	}
	b := &Blobs{dir: dir, pulls: map[string]chan struct{}{}}
	for _, e := range b.entries() {
		if strings.HasPrefix(e.name, ".") && time.Since(e.used) > time.Hour {
			os.Remove(filepath.Join(dir, e.name))
		}
	}
	return b, nil
}

// Piece is a part of a file.
type Piece struct {
	Data []byte
	// Last says that the file ends with it.
	Last bool
	// Secret says that the file came out of a vault: it is not kept, and not written to a disk.
	Secret bool
}

// Pull asks for the part of a file that begins at offset.
type Pull func(ctx context.Context, offset int64) (Piece, error)

// Open opens the file of a digest, from the cache or pulled in pieces, several at a time. All pieces but the last have one size. Nothing
// is in the cache that does not match its digest.
func (b *Blobs) Open(ctx context.Context, digest string, ask Pull) (io.ReadCloser, error) {
	if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("cannot open a file by %q: that is not a sha256", digest)
	}
	path := filepath.Join(b.dir, strings.ToLower(digest))
	for {
		f, err := os.Open(path)
		if err == nil {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // the oldest go first when the cache is full
			return f, nil
		}
		b.mu.Lock()
		other := b.pulls[digest]
		if other == nil {
			other = make(chan struct{})
			b.pulls[digest] = other
			b.mu.Unlock()
			return b.pullOnce(ctx, digest, path, ask, other)
		}
		b.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pullOnce pulls a file that nobody else pulls, and then wakes those who wait for it.
func (b *Blobs) pullOnce(ctx context.Context, digest, path string, ask Pull, done chan struct{}) (io.ReadCloser, error) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.pulls, digest)
		close(done)
	}()
	first, err := ask(ctx, 0)
	if err != nil {
		return nil, err
	}
	f, err := b.temporary(first.Secret)
	if err != nil {
		return nil, fmt.Errorf("cannot cache a file: %v", err)
	}
	defer os.Remove(f.Name()) // in vain once it is renamed
	err = pull(ctx, f, first, ask)
	if err == nil {
		err = check(f, digest)
	}
	if err == nil && !first.Secret {
		err = settle(f, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	b.trim(path)
	return f, nil
}

// temporary is a file to pull into: in the cache, or in memory alone.
func (b *Blobs) temporary(secret bool) (*os.File, error) {
	if !secret {
		return os.CreateTemp(b.dir, ".pull-")
	}
	return nameless(filepath.Join(b.dir, ".secret"))
}

// check checks the digest of a pulled file; f is then at its beginning.
func check(f *os.File, digest string) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("cannot read a file back: %v", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != strings.ToLower(digest) {
		return fmt.Errorf("cannot use a file of the controller: its sha256 is %s and should be %s", got, digest)
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// settle gives a pulled file its name in the cache.
func settle(f *os.File, path string) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("cannot cache a file: %v", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("cannot cache a file: %v", err)
	}
	return nil
}

// pull writes a file from its pieces. The first tells the size of all others.
func pull(ctx context.Context, f *os.File, first Piece, ask Pull) error {
	if _, err := f.WriteAt(first.Data, 0); err != nil || first.Last {
		return err
	}
	if len(first.Data) == 0 {
		return fmt.Errorf("cannot pull a file: its first piece is empty")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := puller{f: f, ask: ask, size: int64(len(first.Data)), next: int64(len(first.Data)), fail: cancel}
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() { p.run(ctx) })
	}
	wg.Wait()
	return context.Cause(ctx)
}

// puller is what the goroutines that pull one file share.
type puller struct {
	f    *os.File
	ask  Pull
	size int64
	fail context.CancelCauseFunc

	mu   sync.Mutex
	next int64 // offset of the next piece to ask for; guarded by mu
	end  bool  // the last piece was seen: guarded by mu
}

func (p *puller) run(ctx context.Context) {
	for {
		p.mu.Lock()
		offset, end := p.next, p.end
		p.next += p.size
		p.mu.Unlock()
		if end || ctx.Err() != nil {
			return
		}
		piece, err := p.ask(ctx, offset)
		if err == nil && !piece.Last && int64(len(piece.Data)) != p.size {
			err = fmt.Errorf("cannot pull a file: a piece has %d bytes and not %d", len(piece.Data), p.size)
		}
		if err == nil {
			_, err = p.f.WriteAt(piece.Data, offset)
		}
		if err != nil {
			p.fail(err)
			return
		}
		if piece.Last {
			p.mu.Lock()
			p.end = true
			p.mu.Unlock()
		}
	}
}

type entry struct {
	name string
	size int64
	used time.Time
}

func (b *Blobs) entries() []entry {
	list, err := os.ReadDir(b.dir)
	if err != nil {
		return nil
	}
	var out []entry
	for _, d := range list {
		if st, err := d.Info(); err == nil {
			out = append(out, entry{d.Name(), st.Size(), st.ModTime()})
		}
	}
	return out
}

// trim drops the files that were not used for longest until the cache has its size again; keep stays.
func (b *Blobs) trim(keep string) {
	list := b.entries()
	var total int64
	for _, e := range list {
		total += e.size
	}
	slices.SortFunc(list, func(x, y entry) int { return x.used.Compare(y.used) })
	for _, e := range list {
		if total <= cacheSize {
			return
		}
		path := filepath.Join(b.dir, e.name)
		if path == keep || strings.HasPrefix(e.name, ".") {
			continue
		}
		if os.Remove(path) == nil {
			total -= e.size
		}
	}
}
