// Package crypt hashes passwords the way crypt(3), Apache and LDAP store them, and checks them against such hashes.
// It knows no defaults: rounds and salts come from the caller.
package crypt

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the scheme that was asked for
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// alphabet is the order of crypt(3)'s 64 digits.
const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewSalt returns a salt of size digits.
func NewSalt(size int) (string, error) {
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

// LDAP returns the scheme {SHA}, which has no salt.
func LDAP(password []byte) string {
	sum := sha1.Sum(password)
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

// Scheme names the scheme of a hash as passlib does, "" if it is none of this package's.
func Scheme(hash string) string {
	for prefix, name := range map[string]string{
		FreeBSD: "md5_crypt", Apache: "apr_md5_crypt", "$5$": "sha256_crypt", "$6$": "sha512_crypt", "{SHA}": "ldap_sha1",
		"$2$": "bcrypt", "$2a$": "bcrypt", "$2b$": "bcrypt", "$2y$": "bcrypt",
	} {
		if strings.HasPrefix(hash, prefix) {
			return name
		}
	}
	return ""
}

// Verify reports whether a hash of one of the schemes is that of a password. It takes as long as making the hash did,
// and ends early with ctx.
func Verify(ctx context.Context, password []byte, hash string) (bool, error) {
	again, err := rehash(ctx, password, hash)
	return err == nil && again != "" && subtle.ConstantTimeCompare([]byte(again), []byte(hash)) == 1, ctx.Err()
}

// rehash hashes a password with the salt and the rounds of a hash; "" if it is no hash.
func rehash(ctx context.Context, password []byte, hash string) (string, error) {
	f := strings.Split(hash, "$")
	switch Scheme(hash) {
	case "ldap_sha1":
		return LDAP(password), nil
	case "md5_crypt", "apr_md5_crypt":
		if len(f) == 4 {
			return MD5("$"+f[1]+"$", password, f[2]), nil
		}
	case "sha256_crypt", "sha512_crypt":
		return rehashSHA(ctx, password, f)
	case "bcrypt":
		const salt = 22
		if len(f) == 4 && len(f[3]) > salt {
			if cost, err := strconv.Atoi(f[2]); err == nil && cost >= 4 && cost <= 31 {
				return Bcrypt(ctx, password, f[1], cost, f[3][:salt])
			}
		}
	}
	return "", nil
}

func rehashSHA(ctx context.Context, password []byte, f []string) (string, error) {
	rounds := usualRounds
	if len(f) == 5 {
		text, ok := strings.CutPrefix(f[2], "rounds=")
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 1000 || n > MaxRounds {
			return "", nil
		}
		rounds, f = n, append(f[:2:2], f[3:]...)
	}
	if len(f) != 4 {
		return "", nil
	}
	if f[1] == "5" {
		return SHA256(ctx, password, rounds, f[2])
	}
	return SHA512(ctx, password, rounds, f[2])
}

// repeat is sum over and over, n bytes long.
func repeat(sum []byte, n int) []byte {
	return bytes.Repeat(sum, n/len(sum)+1)[:n]
}

func either(first bool, a, b []byte) []byte {
	if first {
		return a
	}
	return b
}
