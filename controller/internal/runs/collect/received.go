package collect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/controller/internal/play/link"
)

// mostReceived is how many bytes of batches one of the two files holds. The record is seconds behind the run, and views
// hold results back until their turn: the last 64 MB are more than that.
const mostReceived = 64 << 20

// received stores the batches of agents, still sealed, before they are acknowledged. When its file is full, it becomes
// the older one, and the one before it goes: what was in there is on record.
type received struct {
	path  string // of the session keys
	limit int64

	mu     sync.Mutex
	f      *os.File // nil before the first batch; guarded by mu
	size   int64    // guarded by mu
	failed bool     // guarded by mu
}

func (r *received) keep(agent string, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed {
		return
	}
	text := binary.AppendUvarint(nil, uint64(len(agent)))
	text = append(text, agent...)
	text = binary.AppendUvarint(text, uint64(len(frame)))
	text = append(text, frame...)
	if err := r.write(text); err != nil {
		r.failed = true // a hole is told, but events after one would hide it
		_ = r.discard()
	}
}

// write adds a batch. It assumes mu held.
func (r *received) write(text []byte) (err error) {
	if r.f != nil && r.size+int64(len(text)) > r.limit {
		err = errors.Join(r.f.Close(), os.Rename(r.path+receivedExt, r.path+olderExt))
		r.f, r.size = nil, 0
	}
	if err == nil && r.f == nil {
		r.f, err = create(r.path + receivedExt)
	}
	if err != nil {
		return err
	}
	n, err := r.f.Write(text)
	r.size += int64(n)
	return err
}

// remove deletes the files, since the run has ended.
func (r *received) remove() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	return r.discard()
}

// discard is remove with mu held.
func (r *received) discard() error {
	if r.f == nil {
		return nil
	}
	err := r.f.Close()
	r.f = nil
	for _, name := range []string{r.path + receivedExt, r.path + olderExt} {
		if gone := os.Remove(name); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// readReceived returns the events that the controller had taken from the agents of a run, of each host in their order.
func readReceived(home, run string, sessions []link.SessionKeys) ([]wire.Event, error) {
	var out []wire.Event
	for _, ext := range []string{olderExt, receivedExt} {
		path := sessionKeysPath(home, run) + ext
		text, err := securefile.Read(path, securefile.Secret)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			continue // the controller was killed before it had written anything
		}
		var f form
		if err := json.Unmarshal(line, &f); err != nil || f.Version < 1 {
			return nil, fmt.Errorf("%s cannot be read: it has no version", path)
		}
		if f.Version > sessionsVersion {
			return nil, fmt.Errorf("%s has version %d, this hark knows %d", path, f.Version, sessionsVersion)
		}
		for {
			agent, frame, after, ok := nextBatch(rest)
			if !ok {
				break
			}
			rest = after
			events, err := link.ReadBatch(run, sessions, agent, frame)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", path, err)
			}
			for i := range events {
				if o := events[i].Outcome; o != nil {
					o.Effects = nil // nobody may read them
				}
			}
			out = append(out, events...)
		}
	}
	return out, nil
}

// nextBatch reads a batch. A last one that was cut off when the controller was killed is none: it was not acknowledged.
func nextBatch(text []byte) (agent string, frame, rest []byte, ok bool) {
	name, rest, ok := nextPiece(text)
	if !ok {
		return "", nil, nil, false
	}
	frame, rest, ok = nextPiece(rest)
	return string(name), frame, rest, ok
}

func nextPiece(text []byte) (piece, rest []byte, ok bool) {
	n, size := binary.Uvarint(text)
	if size <= 0 || n > uint64(len(text)-size) {
		return nil, nil, false
	}
	return text[size : size+int(n)], text[size+int(n):], true
}
