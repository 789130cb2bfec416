package wire

import (
	"crypto/rand"
	"crypto/sha256"

	"golang.org/x/crypto/chacha20poly1305"
)

// ownKey derives a key with which an identity seals what it keeps for itself, for one purpose. Without the curve key
// nobody can read or change it.
func (id *Identity) ownKey(purpose string) (Key, error) {
	own, err := id.seed()
	if err != nil {
		return Key{}, err
	}
	return Key(sha256.Sum256(append([]byte("hark "+purpose+"\x00"), own[:]...))), nil
}

// OwnKey returns the key with which an identity seals something for a purpose. Each process of the identity has the
// same one.
func (id *Identity) OwnKey(purpose string) (Key, error) { return id.ownKey("own " + purpose) }

// Shut seals text for this identity in a later process. Each purpose has a key of its own.
func (id *Identity) Shut(purpose string, text []byte) ([]byte, error) {
	key, err := id.ownKey(purpose)
	if err != nil {
		return nil, err
	}
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, text, nil), nil
}

// Reopen opens what Shut has sealed for the purpose. It returns an error for anything else.
func (id *Identity) Reopen(purpose string, closed []byte) ([]byte, error) {
	key, err := id.ownKey(purpose)
	if err != nil {
		return nil, err
	}
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return nil, err
	}
	if len(closed) < aead.NonceSize() {
		return nil, errBox
	}
	return aead.Open(nil, closed[:aead.NonceSize()], closed[aead.NonceSize():], nil)
}
