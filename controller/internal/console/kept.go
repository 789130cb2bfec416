package console

import (
	"sync"
	"time"
)

// fresh is how old what the broker said may be: it is asked no more often, however many pages are looked at.
const fresh = 3 * time.Second

// kept keeps something for a moment. It is safe for concurrent use; it is made once at a time.
type kept[T any] struct {
	mu   sync.Mutex
	at   time.Time // when it was made, zero if it was not; guarded by mu
	made T         // guarded by mu
}

// get gives what is kept, or makes it. An error is kept by nobody.
func (k *kept[T]) get(now func() time.Time, make func() (T, error)) (T, error) {
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
