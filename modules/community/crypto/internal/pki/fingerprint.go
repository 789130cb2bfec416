package pki

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"

	"hark/modules/py/value"
)

// Fingerprints returns the sums of b by every algorithm that each Python has, those of any length with 32 bytes.
func Fingerprints(b []byte) *value.Dict {
	sum5, sum1 := md5.Sum(b), sha1.Sum(b)
	sum224, sum256, sum384, sum512 := sha256.Sum224(b), sha256.Sum256(b), sha512.Sum384(b), sha512.Sum512(b)
	three224, three256, three384, three512 := sha3.Sum224(b), sha3.Sum256(b), sha3.Sum384(b), sha3.Sum512(b)
	blakeB, blakeS := blake2b.Sum512(b), blake2s.Sum256(b)
	return value.DictOf(
		"md5", Colons(sum5[:]), "sha1", Colons(sum1[:]),
		"sha224", Colons(sum224[:]), "sha256", Colons(sum256[:]), "sha384", Colons(sum384[:]), "sha512", Colons(sum512[:]),
		"sha3_224", Colons(three224[:]), "sha3_256", Colons(three256[:]), "sha3_384", Colons(three384[:]), "sha3_512",
		Colons(three512[:]),
		"shake_128", Colons(sha3.SumSHAKE128(b, 32)), "shake_256", Colons(sha3.SumSHAKE256(b, 32)),
		"blake2b", Colons(blakeB[:]), "blake2s", Colons(blakeS[:]),
	)
}

// Colons is b in hexadecimal, ab:cd:ef.
func Colons(b []byte) string {
	parts := make([]string, len(b))
	for i := range b {
		parts[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(parts, ":")
}
