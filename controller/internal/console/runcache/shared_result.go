package runcache

import (
	"fmt"
	"sync"
)

// Memo keeps the last results for others that want the same: watchers of one run get the same events.
type Memo struct {
	mu   sync.Mutex
	kept map[string]made // guarded by mu
	keys []string        // the oldest first; guarded by mu
}

type made struct {
	data []byte
	to   int
}

// kept is how many results are kept.
const kept = 8

// Make returns the result for a state and a number, or makes it. One goroutine at a time makes results.
func (m *Memo) Make(state string, after int, make func() ([]byte, int, error)) ([]byte, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprintf("%s after %d", state, after)
	if x, ok := m.kept[key]; ok {
		return x.data, x.to, nil
	}
	data, to, err := make()
	if err != nil {
		return nil, 0, err
	}
	if m.kept == nil {
		m.kept = map[string]made{}
	}
	if len(m.keys) == kept {
		delete(m.kept, m.keys[0])
		m.keys = m.keys[1:]
	}
	m.kept[key] = made{data, to}
	m.keys = append(m.keys, key)
	return data, to, nil
}
