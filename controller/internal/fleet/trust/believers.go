package trust

import (
	"path/filepath"
	"slices"
	"sync"
)

// Believers are the operators whose word for a broker's agents, runs and duties is taken, as the record of brokers
// has them now: a process that stays takes up what is said meanwhile. It is safe for concurrent use.
type Believers struct {
	dir, url string

	mu        sync.Mutex
	stamp     stamp    // of the file that operators are of; guarded by mu
	operators []string // guarded by mu
}

// NewBelievers are those of a broker on record in dir, and at first those that are given.
func NewBelievers(dir, url string, operators []string) *Believers {
	b := &Believers{dir: dir, url: url, operators: operators}
	b.stamp, _ = stampOf(filepath.Join(dir, AccessFile)) // what cannot be looked at is as it was
	return b
}

// Knows reports whether an operator, by his public key, is one of them.
func (b *Believers) Knows(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now, err := stampOf(filepath.Join(b.dir, AccessFile)); err == nil && now != b.stamp {
		if all, err := OpenBrokers(b.dir); err == nil {
			b.stamp, b.operators = now, all.For(b.url).Operators
		}
	}
	return slices.Contains(b.operators, key)
}
