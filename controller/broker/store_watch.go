package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"hark/agent/atomicfile"
)

// storeWatch knows whether the store of a server has failed. A file store of NATS that could not write once, as on a
// full disk, takes nothing any more until its server is started again: the server says so in its log only.
type storeWatch struct {
	data string
	srv  *server.Server

	mu     sync.Mutex
	failed string        // what the server said first; guarded by mu
	heard  chan struct{} // closed when it has failed; guarded by mu
}

func newStoreWatch(data string, srv *server.Server) *storeWatch {
	return &storeWatch{data: data, srv: srv, heard: make(chan struct{})}
}

// hear takes a line of the server's log.
func (w *storeWatch) hear(text string) {
	if w == nil || !strings.Contains(text, "critical write error") &&
		!strings.Contains(text, "JetStream failed to store a msg") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == "" {
		w.failed = text
		close(w.heard)
	}
}

// roomPause is how often a full disk is looked at.
const roomPause = 2 * time.Second

// failedWithRoom waits until the store has failed and there is room again, and reports whether ctx was not over before.
func (w *storeWatch) failedWithRoom(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.heard:
	}
	for atomicfile.Room(w.data) != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(roomPause):
		}
	}
	return ctx.Err() == nil
}

// trouble returns what keeps the store from taking anything, "" for nothing.
func (w *storeWatch) trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// check is nil while the server takes connections and its store takes messages. That the disk is full is no reason to
// start the program again: it goes on without its store.
func (w *storeWatch) check(context.Context) error {
	if !w.srv.Running() {
		return errors.New("the server has ended")
	}
	conn, err := w.srv.InProcessConn()
	if err != nil {
		return fmt.Errorf("the server takes no connections: %w", err)
	}
	_ = conn.Close()
	if text := w.trouble(); text != "" {
		return &StoreError{text}
	}
	return nil
}

// StoreError says that the store takes nothing, though the server works.
type StoreError struct{ Text string }

func (e *StoreError) Error() string { return "the store takes nothing: " + e.Text }
