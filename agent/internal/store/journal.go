package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/agent/atomicfile"
)

// Journal remembers the nonces of messages that must not be obeyed twice, until they expire. The zero value keeps them
// in memory.
type Journal struct {
	mu   sync.Mutex
	file *os.File         // nil in memory; guarded by mu
	had  map[string]int64 // nonce to expiry in ms; guarded by mu
	// limit is the number of nonces at which to look for expired ones; guarded by mu
	limit int
}

// openJournal reads the journal and rewrites it without expired nonces.
func openJournal(path string) (*Journal, error) {
	had, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	j := &Journal{had: had}
	j.forget(time.Now())
	if err := j.rewrite(path); err != nil {
		return nil, err
	}
	return j, nil
}

// readJournal reads the nonces of a journal with their expiry; a journal that is not there has none.
func readJournal(path string) (map[string]int64, error) {
	had := map[string]int64{}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the journal: %v", err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		at, nonce, ok := strings.Cut(line, " ")
		expires, err := strconv.ParseInt(at, 10, 64)
		if ok && err == nil { // the last line may be cut off: its message was not obeyed
			had[nonce] = expires
		}
	}
	return had, nil
}

// move has the journal go on in another file. The one before stays as it is.
func (j *Journal) move(path string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rewrite(path)
}

// Had reports whether a nonce was taken.
func (j *Journal) Had(nonce string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.had[nonce]
	return ok
}

// forget drops expired nonces and sets when to look again. It assumes mu held.
func (j *Journal) forget(now time.Time) {
	for nonce, expires := range j.had {
		if expires < now.UnixMilli() {
			delete(j.had, nonce)
		}
	}
	j.limit = 2*len(j.had) + 1000
}

// rewrite replaces the file by one with the remembered nonces. It assumes mu held.
func (j *Journal) rewrite(path string) error {
	var b strings.Builder
	for nonce, expires := range j.had {
		fmt.Fprintf(&b, "%d %s\n", expires, nonce)
	}
	if err := atomicfile.Write(path, []byte(b.String())); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file = f
	return nil
}

// Take records a nonce that expires at the given time (milliseconds since 1970) and syncs it before it returns. It
// returns false if the nonce was there already.
func (j *Journal) Take(nonce string, expires int64) (bool, error) {
	fresh, err := j.TakeBriefly(nonce, expires)
	if fresh && err == nil {
		err = j.sync()
	}
	return fresh, err
}

// sync syncs what was recorded.
func (j *Journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return syncContent(j.file)
}

// TakeBriefly is Take without a sync: a power cut may lose the nonce.
func (j *Journal) TakeBriefly(nonce string, expires int64) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.had[nonce]; ok {
		return false, nil
	}
	if j.had == nil {
		j.had = map[string]int64{}
	}
	j.had[nonce] = expires
	if len(j.had) >= j.limit {
		j.forget(time.Now())
		if j.file != nil {
			return true, j.rewrite(j.file.Name())
		}
	}
	if j.file == nil {
		return true, nil
	}
	if _, err := fmt.Fprintf(j.file, "%d %s\n", expires, nonce); err != nil {
		delete(j.had, nonce)
		return false, fmt.Errorf("cannot write the journal: %w", err)
	}
	return true, nil
}

func (j *Journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		j.file.Close()
	}
}
