package console

import (
	"sync"
	"time"
)

// fresh is how old the broker's answer may be: the console asks no more often, however many pages are read.
const fresh = 3 * time.Second

// cached keeps a value for a moment. It is safe for concurrent use; one goroutine at a time makes the value.
type cached[T any] struct {
	mu   sync.Mutex
	at   time.Time // when it was made, zero if it was not; guarded by mu
	made T         // guarded by mu
}

// get returns the value, or makes it. It does not keep errors.
func (k *cached[T]) get(now func() time.Time, make func() (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at.IsZero() && now().Sub(k.at) < fresh {
		return k.made, nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	k.made, k.at = made, now()
	return made, nil
}
