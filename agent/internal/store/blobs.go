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

// cacheSize is how many bytes of files the cache keeps.
const cacheSize = 1 << 30

// InFlight is how many pieces of a file are requested at once.
const InFlight = 4

// Blobs caches files by their sha256. It is safe for concurrent use.
type Blobs struct {
	dir string

	mu    sync.Mutex
	pulls map[string]chan struct{} // digests that are being pulled, closed when done; guarded by mu
	held  int64                    // bytes of files, as far as known; guarded by mu
}

// OpenBlobs opens a cache and removes unfinished files.
func OpenBlobs(dir string) (*Blobs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the cache of files: %v", err)
	}
	b := &Blobs{dir: dir, pulls: map[string]chan struct{}{}}
	for _, e := range b.entries() {
		if e.forgotten() {
			os.Remove(filepath.Join(dir, e.name))
			continue
		}
		b.held += e.size
	}
	return b, nil
}

// Piece is a part of a file.
type Piece struct {
	Data []byte
	// Last says that the file ends with this piece.
	Last bool
	// Secret says that the file came out of a vault: it is neither cached nor written to a disk.
	Secret bool
}

// Pull asks for the piece of a file that begins at offset.
type Pull func(ctx context.Context, offset int64) (Piece, error)

// Open opens the file with a digest, from the cache or by pulling it in pieces, several at a time. All pieces but the
// last have one size. The cache holds nothing that does not match its digest.
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

// pullOnce pulls a file that no other goroutine pulls, and then wakes those that wait for it.
func (b *Blobs) pullOnce(ctx context.Context, digest, path string, ask Pull,
	done chan struct{}) (io.ReadCloser, error) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.pulls, digest)
		close(done)
	}()
	p, err := b.pull(ctx, digest, ask)
	if err != nil {
		return nil, err
	}
	if p.secret {
		_, err = p.f.Seek(0, io.SeekStart)
		return p.f, err
	}
	defer p.f.Close()
	var f *os.File
	if err = p.commit(path); err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		p.drop()
		return nil, fmt.Errorf("cannot cache a file: %w", err)
	}
	b.grown(path, p.at)
	return f, nil
}

// grown notes that a file was added, and makes room if the cache has become too large.
func (b *Blobs) grown(path string, size int64) {
	b.mu.Lock()
	b.held += size
	full := b.held > cacheSize
	b.mu.Unlock()
	if full {
		held := b.trim(path)
		b.mu.Lock()
		b.held = held
		b.mu.Unlock()
	}
}

// pull pulls a whole file. It goes on where an earlier pull has stopped, and starts again if that was not of this file.
func (b *Blobs) pull(ctx context.Context, digest string, ask Pull) (*partial, error) {
	for {
		p, err := b.partial(ctx, digest, ask)
		if err != nil {
			return nil, err
		}
		began := p.at
		if err = p.fill(ctx, ask); err != nil {
			p.leave()
			return nil, err
		}
		if err = p.check(digest); err == nil {
			return p, nil
		}
		p.drop()
		if began == 0 {
			return nil, err
		}
	}
}

type entry struct {
	name string
	size int64
	used time.Time
}

// forgotten reports whether a file is the rest of a pull that nobody has continued for an hour.
func (e entry) forgotten() bool {
	return strings.HasPrefix(e.name, ".") && time.Since(e.used) > time.Hour
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

// trim removes the files that were unused for longest until the cache has its size again; it keeps the file keep. It
// returns how many bytes are left.
func (b *Blobs) trim(keep string) int64 {
	list := b.entries()
	var total int64
	for _, e := range list {
		total += e.size
	}
	slices.SortFunc(list, func(x, y entry) int { return x.used.Compare(y.used) })
	for _, e := range list {
		if total <= cacheSize {
			break
		}
		path := filepath.Join(b.dir, e.name)
		if path == keep || strings.HasPrefix(e.name, ".") && !e.forgotten() {
			continue
		}
		if os.Remove(path) == nil {
			total -= e.size
		}
	}
	return total
}
