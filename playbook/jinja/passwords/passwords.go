// Package passwords is what passlib is to Ansible: the names, defaults and limits of the schemes of crypt(3), for the
// filter password_hash and the lookup password. The schemes themselves are in modules/py/crypt.
package passwords

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/crypt"
	"hark/modules/py/value"
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

// schemes returns the ways of hashing by the names of passlib, which are Ansible's.
func schemes() map[string]scheme {
	sha := scheme{saltSize: 16, least: 1000, most: crypt.MaxRounds}
	sha256, sha512 := sha, sha
	sha256.hash, sha256.rounds = shaCrypt(crypt.SHA256), 535000
	sha512.hash, sha512.rounds = shaCrypt(crypt.SHA512), 656000
	return map[string]scheme{
		"md5_crypt":     {saltSize: 8, hash: md5Crypt(crypt.FreeBSD)},
		"apr_md5_crypt": {saltSize: 8, hash: md5Crypt(crypt.Apache)},
		"sha256_crypt":  sha256,
		"sha512_crypt":  sha512,
		"bcrypt":        {saltSize: 22, saltExact: true, rounds: 12, least: 4, most: 31, hash: bcrypt},
	}
}

func md5Crypt(id string) func(context.Context, []byte, Options) (string, error) {
	return func(_ context.Context, password []byte, o Options) (string, error) {
		return crypt.MD5(id, password, o.Salt), nil
	}
}

func shaCrypt(hash func(ctx context.Context, password []byte, rounds int, salt string) (string, error)) func(
	context.Context, []byte, Options) (string, error) {
	return func(ctx context.Context, password []byte, o Options) (string, error) {
		return hash(ctx, password, o.Rounds, o.Salt)
	}
}

func bcrypt(ctx context.Context, password []byte, o Options) (string, error) {
	if o.Ident == "" {
		o.Ident = "2b"
	}
	if !strings.Contains(" 2 2a 2b 2y ", " "+o.Ident+" ") {
		return "", refuse("invalid ident: '%s'", o.Ident)
	}
	hash, err := crypt.Bcrypt(ctx, password, o.Ident, o.Rounds, o.Salt)
	if err != nil && ctx.Err() == nil {
		return "", Error("Could not hash the secret.")
	}
	return hash, err
}

// Scheme returns the full name of a scheme that Ansible knows by a short one.
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

var notSalt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^./0-9A-Za-z]`) })

// Hash returns the password as it would stand in /etc/shadow. A high cost takes long: it ends early with ctx.
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
		if o.Salt, err = crypt.NewSalt(o.SaltSize); err != nil {
			return "", err
		}
	}
	return s.hash(ctx, []byte(password), o)
}

// refuse is the error of a hash that its scheme does not take.
func refuse(format string, args ...any) error {
	return Error("Could not hash the secret.. " + fmt.Sprintf(format, args...))
}

// cost returns the rounds that are wanted, or the usual ones.
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
	case notSalt().MatchString(o.Salt):
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
