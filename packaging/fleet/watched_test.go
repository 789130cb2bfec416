//go:build fleet

package fleet

import (
	"strings"
	"sync"
)

// watched is the output of a process that still runs.
type watched struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
