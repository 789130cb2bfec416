package trust

import (
	"path/filepath"
	"slices"
	"sync"
)

// TrustedOperators are the operators whose word for a broker's agents, runs and duties is taken, as a file has them
// now: a
// process that stays takes up what is said meanwhile. They are safe for concurrent use.
type TrustedOperators struct {
	path string
	read func() ([]string, error)

	mu        sync.Mutex
	stamp     stamp    // of the file that operators are of; guarded by mu
	operators []string // guarded by mu
}

// NewTrustedOperators returns those of a broker on record in dir, and at first those that are given.
func NewTrustedOperators(dir, url string, operators []string) *TrustedOperators {
	return TrustedOperatorsOf(filepath.Join(dir, AccessFile), operators, func() ([]string, error) {
		all, err := OpenBrokers(dir)
		if err != nil {
			return nil, err
		}
		return all.For(url).Operators, nil
	})
}

// TrustedOperatorsOf returns those of a file, which read reads when it has changed, and at first those that are
// given.
func TrustedOperatorsOf(path string, operators []string, read func() ([]string, error)) *TrustedOperators {
	b := &TrustedOperators{path: path, read: read, operators: operators}
	b.stamp, _ = stampOf(path) // what cannot be looked at is as it was
	return b
}

// Knows reports whether an operator, by the public key, is one of them.
func (b *TrustedOperators) Knows(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now, err := stampOf(b.path); err == nil && now != b.stamp {
		if all, err := b.read(); err == nil {
			b.stamp, b.operators = now, all
		}
	}
	return slices.Contains(b.operators, key)
}
