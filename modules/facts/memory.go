package facts

import (
	"os"
	"sync"
)

// memory keeps what slow tools answered, for as long as the files that the answer depends on stay as they are.
type memory struct {
	mu      sync.Mutex
	answers map[string]answer // guarded by mu
}

type answer struct {
	stamp string
	value any
}

func newMemory() *memory { return &memory{answers: map[string]answer{}} }

// recall gives the remembered value under key, or learns it. files are what the value depends on.
func (m *memory) recall(key string, files []string, learn func() any) any {
	stamp := ""
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			stamp += f + info.ModTime().String()
		}
	}
	m.mu.Lock()
	known, ok := m.answers[key]
	m.mu.Unlock()
	if ok && known.stamp == stamp {
		return known.value
	}
	v := learn()
	m.mu.Lock()
	m.answers[key] = answer{stamp, v}
	m.mu.Unlock()
	return v
}
