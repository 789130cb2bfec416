package runcache

import (
	"fmt"
	"sync"
)

// Memo keeps what was made last, for others who want the same: those who watch one run get the same events.
type Memo struct {
	mu   sync.Mutex
	kept map[string]made // guarded by mu
	keys []string        // the oldest first; guarded by mu
}

type made struct {
	data []byte
	to   int
}

// kept is how many things are kept.
const kept = 8

// Make gives what was made for a state and a number, or makes it. It is made once at a time.
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
