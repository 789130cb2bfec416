package answer

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"hark/playbook/vault"
)

// sums remember what files hold, so that a file is read once for all hosts and steps of a run as long as it is not
// changed. The zero value is ready; it is safe for concurrent use.
type sums struct {
	now func() time.Time // nil is time.Now

	mu sync.Mutex
	by map[look]func() (*sum, error) // guarded by mu
}

// look is what distinguishes a file from what it was before.
type look struct {
	path                 string
	dev, ino             uint64
	size                 int64
	modification, change syscall.Timespec
}

// sum is what a file holds.
type sum struct {
	sha256, sha1 string
	vault        bool // it begins as a vault does
}

// settled reports whether the next change of a file will bear another time than its last: then it is known by that.
// File systems that count in seconds take longer.
func settled(change, now time.Time) bool {
	tick := 20 * time.Millisecond
	if change.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	return now.Sub(change) > tick
}

// of returns the sums of a file; st is how it stands.
func (s *sums) of(path string, st fs.FileInfo) (*sum, error) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return sumOf(path)
	}
	modification, change := times(sys)
	now := time.Now
	if s.now != nil {
		now = s.now
	}
	if !settled(time.Unix(change.Unix()), now()) {
		return sumOf(path)
	}
	key := look{path, uint64(sys.Dev), sys.Ino, st.Size(), modification, change}
	s.mu.Lock()
	if s.by == nil {
		s.by = map[look]func() (*sum, error){}
	}
	once := s.by[key]
	if once == nil {
		once = sync.OnceValues(func() (*sum, error) { return sumOf(path) })
		s.by[key] = once
	}
	s.mu.Unlock()
	got, err := once()
	if err != nil { // it may be mended without being changed
		s.mu.Lock()
		delete(s.by, key)
		s.mu.Unlock()
	}
	return got, err
}

// sumOf reads a file.
func sumOf(path string) (*sum, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("an error occurred while trying to read the file '%s': %w", path, err)
	}
	defer r.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(r, head)
	sum256, sum1 := sha256.New(), sha1.New()
	both := io.MultiWriter(sum256, sum1)
	both.Write(head[:n])
	if _, err := io.Copy(both, r); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return &sum{hex.EncodeToString(sum256.Sum(nil)), hex.EncodeToString(sum1.Sum(nil)), vault.IsEncrypted(head[:n])}, nil
}
