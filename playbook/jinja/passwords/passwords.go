// Package passwords hashes passwords the way crypt(3) stores them, for the filter password_hash and the lookup password.
// It makes hashes and does not check them.
package passwords

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"

	"hark/playbook/jinja/value"
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
	// rounds are what is taken without any; a scheme whose rounds are 0 has none to choose.
	rounds, least, most int
	hash                func(ctx context.Context, password []byte, o Options) (string, error)
}

// schemes are the ways of hashing by the names of passlib, which are Ansible's.
func schemes() map[string]scheme {
	sha := scheme{saltSize: 16, least: 1000, most: maxShaRounds}
	sha256, sha512 := sha, sha
	sha256.hash, sha256.rounds = sha256Crypt, 535000
	sha512.hash, sha512.rounds = sha512Crypt, 656000
	return map[string]scheme{
		"md5_crypt":     {saltSize: 8, hash: md5Crypt("$1$")},
		"apr_md5_crypt": {saltSize: 8, hash: md5Crypt("$apr1$")},
		"sha256_crypt":  sha256,
		"sha512_crypt":  sha512,
		"bcrypt":        {saltSize: 22, saltExact: true, rounds: 12, least: 4, most: 31, hash: bcrypt},
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
		return "", Error(fmt.Sprintf("passlib does not support '%s' algorithm", name))
	}
	var err error
	if o.Rounds, err = s.cost(name, o.Rounds); err != nil {
		return "", err
	}
	if err := s.checkSalt(name, o); err != nil {
		return "", err
	}
	if o.Salt == "" {
		if o.SaltSize == 0 {
			o.SaltSize = s.saltSize
		}
		if o.Salt, err = newSalt(o.SaltSize); err != nil {
			return "", err
		}
	}
	return s.hash(ctx, []byte(password), o)
}

// refuse is the error of a hash that its scheme does not take.
func refuse(format string, args ...any) error {
	return Error("Could not hash the secret.. " + fmt.Sprintf(format, args...))
}

// cost are the rounds that are wanted, or the usual ones.
func (s scheme) cost(name string, wanted int) (int, error) {
	switch {
	case wanted == 0:
		return s.rounds, nil
	case s.rounds == 0:
		return 0, value.TypeErrorf("MinimalHandler.using() got an unexpected keyword argument 'rounds'")
	case wanted < s.least:
		return 0, refuse("%s: min_desired_rounds (%d) is too low, must be at least %d", name, wanted, s.least)
	case wanted > s.most:
		return 0, refuse("%s: min_desired_rounds (%d) is too large, cannot be more than %d", name, wanted, s.most)
	}
	return wanted, nil
}

func (s scheme) checkSalt(name string, o Options) error {
	switch n := len(o.Salt); {
	case o.SaltSize != 0 && s.saltExact && o.SaltSize != s.saltSize:
		return refuse("%s: salt_size (%d) must be exactly %d", name, o.SaltSize, s.saltSize)
	case o.SaltSize < 0:
		return refuse("%s: salt_size (%d) below min_salt_size (0)", name, o.SaltSize)
	case o.SaltSize > s.saltSize:
		return refuse("%s: salt_size (%d) above max_salt_size (%d)", name, o.SaltSize, s.saltSize)
	case notSalt.MatchString(o.Salt):
		return refuse("invalid characters in %s salt", name)
	case n > s.saltSize && s.saltExact:
		return refuse("salt too large (%s requires exactly %d chars)", name, s.saltSize)
	case n > s.saltSize:
		return refuse("salt too large (%s requires <= %d chars)", name, s.saltSize)
	case n > 0 && n < s.saltSize && s.saltExact:
		return refuse("salt too small (%s requires exactly %d chars)", name, s.saltSize)
	}
	return nil
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
