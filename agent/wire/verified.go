package wire

import (
	"crypto/sha256"
	"sync"
)

// Verified remembers the frames whose signatures were found good, by the digests of their bytes, so that the same
// bytes are not verified again: a controller reads what every agent has said last each time that it begins. The zero
// value is ready, and safe for concurrent use.
type Verified struct {
	mu     sync.Mutex
	frames map[[sha256.Size]byte]bool // guarded by mu
	news   bool                       // there are some that Kept has not given; guarded by mu
}

// mostVerified is how many are remembered: more than a fleet has agents.
const mostVerified = 1 << 16

// verifiedPurpose is what Kept closes.
const verifiedPurpose = "verified 1"

// Parse is Parse, with a signature that is verified once.
func (v *Verified) Parse(data []byte) (*Frame, error) {
	sum := sha256.Sum256(data)
	v.mu.Lock()
	had := v.frames[sum]
	v.mu.Unlock()
	if had {
		return parse(data, func(string, []byte, []byte) bool { return true })
	}
	f, err := Parse(data)
	if err == nil && f.Signed {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.add(sum)
		v.news = true
	}
	return f, err
}

// add assumes mu held.
func (v *Verified) add(sum [sha256.Size]byte) {
	if v.frames == nil || len(v.frames) >= mostVerified {
		v.frames = map[[sha256.Size]byte]bool{}
	}
	v.frames[sum] = true
}

// Kept is what is remembered, closed by an identity for Keep of a later process of its own: what others could alter
// would be believed without a signature. It is nil if there is nothing that the last call did not give.
func (v *Verified) Kept(id *Identity) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.news {
		return nil, nil
	}
	text := make([]byte, 0, len(v.frames)*sha256.Size)
	for sum := range v.frames {
		text = append(text, sum[:]...)
	}
	v.news = false
	return id.shut(verifiedPurpose, text)
}

// Keep takes what Kept has given. What it cannot open was of another identity, or was altered, and is of no use.
func (v *Verified) Keep(id *Identity, closed []byte) error {
	text, err := id.reopen(verifiedPurpose, closed)
	if err != nil || len(text)%sha256.Size != 0 {
		return errBox
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for ; len(text) > 0; text = text[sha256.Size:] {
		v.add([sha256.Size]byte(text[:sha256.Size]))
	}
	return nil
}
