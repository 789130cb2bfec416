// Package passwords hashes passwords the way crypt(3) stores them, for the filter password_hash and the lookup password.
// It makes hashes and does not check them.
package passwords

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"
)

// Options are what may be chosen about a hash. The zero value takes a new salt and the usual cost.
type Options struct {
	Salt     string // "" is a new one
	SaltSize int    // of a new salt; 0 is the scheme's own
	Rounds   int    // the cost; 0 is the scheme's own
	Ident    string // bcrypt's variant; "" is 2b
}

// Error is a hash that cannot be made as asked, in the words Ansible has for it.
type Error string

func (e Error) Error() string { return string(e) }

// scheme is one way of hashing.
type scheme struct {
	saltSize  int
	saltExact bool
	hash      func(ctx context.Context, password []byte, o Options) (string, error)
}

// schemes are the ways of hashing by the names of passlib, which are Ansible's.
func schemes() map[string]scheme {
	return map[string]scheme{
		"md5_crypt":    {saltSize: 8, hash: md5Crypt},
		"sha256_crypt": {saltSize: 16, hash: sha256Crypt},
		"sha512_crypt": {saltSize: 16, hash: sha512Crypt},
		"bcrypt":       {saltSize: 22, saltExact: true, hash: bcrypt},
	}
}

// Scheme is the full name of a scheme that Ansible knows by a short one.
func Scheme(name string) string {
	switch name {
	case "md5":
		return "md5_crypt"
	case "sha256":
		return "sha256_crypt"
	case "sha512":
		return "sha512_crypt"
	case "blowfish":
		return "bcrypt"
	}
	return name
}

var notSalt = regexp.MustCompile(`[^./0-9A-Za-z]`)

// Hash is the password as it would stand in /etc/shadow. A high cost takes long: it ends early with ctx.
func Hash(ctx context.Context, password, schemeName string, o Options) (string, error) {
	name := Scheme(schemeName)
	s, ok := schemes()[name]
	if !ok {
		return "", Error(fmt.Sprintf("crypt.crypt does not support '%s' algorithm", name))
	}
	if o.SaltSize == 0 {
		o.SaltSize = s.saltSize
	}
	if o.Salt == "" {
		salt, err := newSalt(min(max(o.SaltSize, 0), s.saltSize+1))
		if err != nil {
			return "", err
		}
		o.Salt = salt
	}
	if notSalt.MatchString(o.Salt) {
		return "", Error("invalid characters in salt")
	}
	if len(o.Salt) > s.saltSize || s.saltExact && len(o.Salt) != s.saltSize {
		return "", Error("invalid salt size")
	}
	return s.hash(ctx, []byte(password), o)
}

// alphabet is the order of crypt(3)'s 64 digits.
const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func newSalt(size int) (string, error) {
	salt := make([]byte, size)
	for i := range salt {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("cannot make a salt: %w", err)
		}
		salt[i] = alphabet[n.Int64()]
	}
	return string(salt), nil
}

// digits appends n digits of the 24 bits that three bytes of a sum are, the lowest first.
func digits(out []byte, a, b, c byte, n int) []byte {
	bits := uint(a)<<16 | uint(b)<<8 | uint(c)
	for range n {
		out = append(out, alphabet[bits&63])
		bits >>= 6
	}
	return out
}
