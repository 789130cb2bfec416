package wire

import (
	"crypto/sha256"
	"sync"
)

// Verified remembers the frames with good signatures by the digests of their bytes, and does not verify the same bytes
// again: a controller reads every agent's last message each time that it starts. The zero value is ready, and safe for
// concurrent use.
type Verified struct {
	mu     sync.Mutex
	frames map[[sha256.Size]byte]bool // guarded by mu
	news   bool                       // there are some that Kept has not returned; guarded by mu
}

// mostVerified is how many are remembered: more than a fleet has agents.
const mostVerified = 1 << 16

// verifiedPurpose is the purpose of the key that seals Kept.
const verifiedPurpose = "verified 1"

// Parse returns the function Parse, but verifies a signature only once.
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

// Kept returns what is remembered, sealed by an identity for Keep of a later process of its own: whatever others could
// alter would be believed without a signature. It returns nil if there is nothing that the last call did not return.
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
	return id.Shut(verifiedPurpose, text)
}

// Keep takes the result of Kept. It returns an error for what another identity sealed or somebody altered.
func (v *Verified) Keep(id *Identity, closed []byte) error {
	text, err := id.Reopen(verifiedPurpose, closed)
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
