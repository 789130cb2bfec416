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

// pairs are the keys that the owner of a curve key shares with the owners of others. To make one takes most of the
// time that sealing takes, and it is the same each time, so they are kept. The zero value is ready, and safe for
// concurrent use.
type pairs struct {
	mu   sync.Mutex
	keys map[curveKey]*curveKey // by public key; guarded by mu
	news bool                   // there are some that Pairs has not given; guarded by mu
}

type curveKey [32]byte

// mostPairs is how many are kept: more than a fleet has agents.
const mostPairs = 1 << 17

// pairsPurpose is what Pairs closes.
const pairsPurpose = "pairs 1"

// boxMagic is how what nkeys seals begins.
const boxMagic = nkeys.XKeyVersionV1

var errBox = errors.New("it is not sealed for this side")

// shared is the key that this identity shares with the owner of a public curve key.
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
func (p *pairs) keep(public curveKey, key *curveKey) {
	if p.keys == nil || len(p.keys) >= mostPairs {
		p.keys = map[curveKey]*curveKey{}
	}
	p.keys[public] = key
}

// seed is the secret curve key.
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

// box closes text for the owner of a public curve key, as nkeys does.
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

// unbox opens what the owner of a public curve key has closed for this identity.
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

// Pairs are the keys that the identity shares with others, closed so that only it can open them, for KeepPairs of a
// later process; nil if there is none that the last call did not give.
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
	return id.shut(pairsPurpose, text)
}

// KeepPairs takes what Pairs has given. What it cannot open was of another identity, or was altered, and is of no use.
func (id *Identity) KeepPairs(closed []byte) error {
	text, err := id.reopen(pairsPurpose, closed)
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
