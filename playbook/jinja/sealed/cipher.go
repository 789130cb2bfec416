package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

const (
	keyLength  = 32
	saltLength = 32
	iterations = 10000
)

// body is the inside of a vault: AES-CTR over padded text, with an HMAC over the ciphertext.
type body struct{ salt, mac, cipher []byte }

// keys are derived from the password: for the cipher, for the HMAC, and the first counter.
type keys struct{ cipher, mac, counter []byte }

func deriveKeys(password, salt []byte) (keys, error) {
	raw, err := pbkdf2.Key(sha256.New, string(password), salt, iterations, 2*keyLength+aes.BlockSize)
	if err != nil {
		return keys{}, fmt.Errorf("cannot derive a key: %w", err)
	}
	return keys{raw[:keyLength], raw[keyLength : 2*keyLength], raw[2*keyLength:]}, nil
}

func (k keys) stream(in []byte) ([]byte, error) {
	block, err := aes.NewCipher(k.cipher)
	if err != nil {
		return nil, fmt.Errorf("cannot set up the cipher: %w", err)
	}
	out := make([]byte, len(in))
	cipher.NewCTR(block, k.counter).XORKeyStream(out, in)
	return out, nil
}

func (k keys) sum(ciphertext []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	h.Write(ciphertext)
	return h.Sum(nil)
}

// open is false when the password is not the right one, or the data was changed.
func (s *body) open(password []byte) ([]byte, bool) {
	k, err := deriveKeys(password, s.salt)
	if err != nil || !hmac.Equal(k.sum(s.cipher), s.mac) {
		return nil, false
	}
	padded, err := k.stream(s.cipher)
	if err != nil {
		return nil, false
	}
	return unpad(padded)
}

// encrypt returns the body's text: hex of the three parts in hex. A nil salt is made at random.
func encrypt(plain, password, salt []byte) ([]byte, error) {
	if salt == nil {
		salt = make([]byte, saltLength)
		if _, err := rand.Read(salt); err != nil {
			return nil, fmt.Errorf("cannot make a salt: %w", err)
		}
	}
	k, err := deriveKeys(password, salt)
	if err != nil {
		return nil, err
	}
	ciphertext, err := k.stream(pad(plain))
	if err != nil {
		return nil, err
	}
	inner := bytes.Join([][]byte{hexOf(salt), hexOf(k.sum(ciphertext)), hexOf(ciphertext)}, []byte("\n"))
	return hexOf(inner), nil
}

func hexOf(b []byte) []byte { return []byte(hex.EncodeToString(b)) }

// pad is PKCS7: always at least one byte, each telling how many there are.
func pad(b []byte) []byte {
	n := aes.BlockSize - len(b)%aes.BlockSize
	return append(b[:len(b):len(b)], bytes.Repeat([]byte{byte(n)}, n)...)
}

func unpad(b []byte) ([]byte, bool) {
	if len(b) == 0 || len(b)%aes.BlockSize != 0 {
		return nil, false
	}
	n := int(b[len(b)-1])
	if n == 0 || n > aes.BlockSize {
		return nil, false
	}
	for _, p := range b[len(b)-n:] {
		if int(p) != n {
			return nil, false
		}
	}
	return b[:len(b)-n], true
}
