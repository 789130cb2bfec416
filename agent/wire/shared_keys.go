package wire

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/nacl/box"
)

// sharedKeys are the keys that the owner of a curve key shares with the owners of others. Computing one takes most of
// the time of sealing, and the result is the same each time, so they are kept. The zero value is ready, and safe for
// concurrent use.
type sharedKeys struct {
	mu   sync.Mutex
	keys map[curveKey]*curveKey // by public key; guarded by mu
	news bool                   // there are some that Pairs has not returned; guarded by mu
}

type curveKey [32]byte

// mostPairs is how many are kept: more than a fleet has agents.
const mostPairs = 1 << 17

// pairsPurpose is the purpose of the key that seals Pairs.
const pairsPurpose = "pairs 1"

// boxMagic begins what nkeys seals.
const boxMagic = nkeys.XKeyVersionV1

var errBox = errors.New("it is not sealed for this side")

// shared returns the key that this identity shares with the owner of a public curve key.
func (id *Identity) shared(xkey string) (*curveKey, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteCurve, []byte(xkey))
	if err != nil || len(raw) != len(curveKey{}) {
		return nil, fmt.Errorf("%.80q is no curve key", xkey)
	}
	public := curveKey(raw)
	p := &id.pairs
	p.mu.Lock()
	had := p.keys[public]
	p.mu.Unlock()
	if had != nil {
		return had, nil
	}
	own, err := id.seed()
	if err != nil {
		return nil, err
	}
	var key curveKey
	box.Precompute((*[32]byte)(&key), (*[32]byte)(&public), (*[32]byte)(own))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(public, &key)
	p.news = true
	return &key, nil
}

// keep assumes mu held.
func (p *sharedKeys) keep(public curveKey, key *curveKey) {
	if p.keys == nil || len(p.keys) >= mostPairs {
		p.keys = map[curveKey]*curveKey{}
	}
	p.keys[public] = key
}

// seed returns the secret curve key.
func (id *Identity) seed() (*curveKey, error) {
	text, err := id.curve.Seed()
	if err != nil {
		return nil, err
	}
	_, raw, err := nkeys.DecodeSeed(text)
	if err != nil || len(raw) != len(curveKey{}) {
		return nil, errors.New("the curve key cannot be read")
	}
	own := curveKey(raw)
	return &own, nil
}

// box seals text for the owner of a public curve key, as nkeys does.
func (id *Identity) box(text []byte, to string) ([]byte, error) {
	key, err := id.shared(to)
	if err != nil {
		return nil, err
	}
	var nonce [24]byte
	_, _ = rand.Read(nonce[:]) // never fails
	out := make([]byte, 0, len(boxMagic)+len(nonce)+box.Overhead+len(text))
	out = append(append(out, boxMagic...), nonce[:]...)
	return box.SealAfterPrecomputation(out, text, &nonce, (*[32]byte)(key)), nil
}

// unbox opens what the owner of a public curve key has sealed for this identity.
func (id *Identity) unbox(closed []byte, from string) ([]byte, error) {
	rest, ok := bytes.CutPrefix(closed, []byte(boxMagic))
	if !ok || len(rest) < 24 {
		return nil, errBox
	}
	key, err := id.shared(from)
	if err != nil {
		return nil, err
	}
	text, ok := box.OpenAfterPrecomputation(nil, rest[24:], (*[24]byte)(rest[:24]), (*[32]byte)(key))
	if !ok {
		return nil, errBox
	}
	return text, nil
}

// Pairs returns the keys that the identity shares with others, sealed so that only it can open them, for KeepPairs of a
// later process. It returns nil if there is none that the last call did not return.
func (id *Identity) Pairs() ([]byte, error) {
	p := &id.pairs
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.news {
		return nil, nil
	}
	var text []byte
	for public, key := range p.keys {
		text = append(append(text, public[:]...), key[:]...)
	}
	p.news = false
	return id.Shut(pairsPurpose, text)
}

// KeepPairs takes the result of Pairs. It returns an error for what another identity sealed or somebody altered.
func (id *Identity) KeepPairs(closed []byte) error {
	text, err := id.Reopen(pairsPurpose, closed)
	if err != nil || len(text)%64 != 0 {
		return errBox
	}
	p := &id.pairs
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; len(text) > 0; text = text[64:] {
		shared := curveKey(text[32:64])
		p.keep(curveKey(text[:32]), &shared)
	}
	return nil
}
