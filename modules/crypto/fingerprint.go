package crypto

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
)

// fingerprints are the sums of b by every algorithm that each Python has, those of any length with 32 bytes.
func fingerprints(b []byte) map[string]any {
	sum5, sum1 := md5.Sum(b), sha1.Sum(b)
	sum224, sum256, sum384, sum512 := sha256.Sum224(b), sha256.Sum256(b), sha512.Sum384(b), sha512.Sum512(b)
	three224, three256, three384, three512 := sha3.Sum224(b), sha3.Sum256(b), sha3.Sum384(b), sha3.Sum512(b)
	blakeB, blakeS := blake2b.Sum512(b), blake2s.Sum256(b)
	return map[string]any{
		"md5": colons(sum5[:]), "sha1": colons(sum1[:]),
		"sha224": colons(sum224[:]), "sha256": colons(sum256[:]), "sha384": colons(sum384[:]), "sha512": colons(sum512[:]),
		"sha3_224": colons(three224[:]), "sha3_256": colons(three256[:]), "sha3_384": colons(three384[:]), "sha3_512": colons(three512[:]),
		"shake_128": colons(sha3.SumSHAKE128(b, 32)), "shake_256": colons(sha3.SumSHAKE256(b, 32)),
		"blake2b": colons(blakeB[:]), "blake2s": colons(blakeS[:]),
	}
}

// colons is b in hexadecimal, ab:cd:ef.
func colons(b []byte) string {
	parts := make([]string, len(b))
	for i := range b {
		parts[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(parts, ":")
}
