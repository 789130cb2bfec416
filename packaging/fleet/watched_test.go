//go:build fleet

package fleet

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// watched is output that somebody waits for.
type watched struct {
	mu   sync.Mutex
	more chan struct{} // closed and made anew at each write; guarded by mu
	text strings.Builder
}

func newWatched() *watched { return &watched{more: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await returns when text was written.
func (w *watched) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for {
		w.mu.Lock()
		have, more := strings.Contains(w.text.String(), text), w.more
		w.mu.Unlock()
		if have {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("%q was not written in %s", text, patience)
		}
	}
}
