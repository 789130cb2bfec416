package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"
)

// Identity signs messages, for an agent or an operator. It is an ed25519 pair that signs, and a curve pair with which
// others seal what only the owner may read. The signing key is a user key of NATS, so it can also open the connection
// to the broker.
type Identity struct {
	Key  string // public signing key, U...
	XKey string // public curve key, X...

	sign, curve nkeys.KeyPair
	private     ed25519.PrivateKey // of sign, which would derive it again for each signature
	pairs       sharedKeys
}

// NewIdentity makes a new pair of keys.
func NewIdentity() (*Identity, error) {
	sign, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a signing key: %v", err)
	}
	curve, err := nkeys.CreateCurveKeys()
	if err != nil {
		return nil, fmt.Errorf("cannot make a curve key: %v", err)
	}
	return newIdentity(sign, curve)
}

func newIdentity(sign, curve nkeys.KeyPair) (*Identity, error) {
	id := &Identity{sign: sign, curve: curve}
	seed, err := sign.Seed()
	if err != nil {
		return nil, fmt.Errorf("cannot read the signing key: %v", err)
	}
	_, raw, err := nkeys.DecodeSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("cannot read the signing key: %v", err)
	}
	id.private = ed25519.NewKeyFromSeed(raw)
	if id.Key, err = sign.PublicKey(); err != nil {
		return nil, fmt.Errorf("cannot read the signing key: %v", err)
	}
	if id.XKey, err = curve.PublicKey(); err != nil {
		return nil, fmt.Errorf("cannot read the curve key: %v", err)
	}
	return id, nil
}

// ParseIdentity reads what Text wrote.
func ParseIdentity(text []byte) (*Identity, error) {
	var sign, curve nkeys.KeyPair
	for _, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "SU"):
			sign, err = nkeys.FromSeed([]byte(line))
		case strings.HasPrefix(line, "SX"):
			curve, err = nkeys.FromCurveSeed([]byte(line))
		default:
			err = fmt.Errorf("neither a user seed (SU...) nor a curve seed (SX...)")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read a line of the key file: %v", err)
		}
	}
	if sign == nil || curve == nil {
		return nil, fmt.Errorf("cannot read the key file: it must hold a user seed (SU...) and a curve seed (SX...)")
	}
	return newIdentity(sign, curve)
}

// Text returns the identity with its secrets, for a file that only its owner can read.
func (id *Identity) Text() ([]byte, error) {
	sign, err := id.sign.Seed()
	if err != nil {
		return nil, err
	}
	curve, err := id.curve.Seed()
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "# hark identity %s: keep secret\n%s\n%s\n", id.ID(), sign, curve), nil
}

// ID returns the id of the identity in subjects.
func (id *Identity) ID() string { return IDOf(id.Key) }

// Sign signs data.
func (id *Identity) Sign(data []byte) ([]byte, error) { return ed25519.Sign(id.private, data), nil }

// IDOf returns the id of a public key: 26 base32 characters of its sha256. It is never a host name: dots would split
// tokens, and names change.
func IDOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
}

// ValidKey reports whether text is a public signing key.
func ValidKey(text string) bool { return nkeys.IsValidPublicUserKey(text) }

// verify checks a signature by the owner of a public key.
func verify(key string, data, sig []byte) bool {
	if !ValidKey(key) {
		return false
	}
	pub, err := nkeys.FromPublicKey(key)
	return err == nil && pub.Verify(data, sig) == nil
}
