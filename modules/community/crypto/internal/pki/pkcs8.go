package pki

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
)

// The structures of encrypted private keys: RFC 5958 and, for PBES2, RFC 8018.
type encryptedKey struct {
	Algorithm struct {
		ID     asn1.ObjectIdentifier
		Params pbes2
	}
	Data []byte
}

type pbes2 struct {
	Derivation struct {
		ID     asn1.ObjectIdentifier
		Params pbkdf2Params
	}
	Cipher struct {
		ID asn1.ObjectIdentifier
		IV []byte
	}
}

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

func oidPBES2() asn1.ObjectIdentifier  { return asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13} }
func oidPBKDF2() asn1.ObjectIdentifier { return asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12} }

// oidHMAC is hmacWith and the number of a hash.
func oidHMAC(n int) asn1.ObjectIdentifier { return asn1.ObjectIdentifier{1, 2, 840, 113549, 2, n} }

const hmacSHA256 = 9

// hmacNamed returns the hash of an HMAC, nil if it is not known.
func hmacNamed(oid asn1.ObjectIdentifier) func() hash.Hash {
	for n, h := range map[int]func() hash.Hash{7: sha1.New, 8: sha256.New224, hmacSHA256: sha256.New, 10: sha512.New384,
		11: sha512.New} {
		if oid.Equal(oidHMAC(n)) {
			return h
		}
	}
	return nil
}

// maxIterations bounds the time that a file can make us spend.
const maxIterations = 10_000_000

func encryptPKCS8(der, passphrase []byte) ([]byte, error) {
	var e encryptedKey
	e.Algorithm.ID = oidPBES2()
	p := &e.Algorithm.Params
	p.Derivation.ID, p.Cipher.ID = oidPBKDF2(), asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
	random := make([]byte, 16+aes.BlockSize)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	p.Cipher.IV = random[16:]
	p.Derivation.Params = pbkdf2Params{Salt: random[:16], Iterations: 2048, PRF: pkix.AlgorithmIdentifier{
		Algorithm: oidHMAC(hmacSHA256), Parameters: asn1.NullRawValue}}
	block, err := p.block(passphrase)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(der)%aes.BlockSize
	e.Data = append(bytes.Clone(der), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, p.Cipher.IV).CryptBlocks(e.Data, e.Data)
	return asn1.Marshal(e)
}

// block returns the cipher with the key that the passphrase gives.
func (p *pbes2) block(passphrase []byte) (cipher.Block, error) {
	size := 0
	for last, n := range map[int]int{2: 16, 22: 24, 42: 32} {
		if p.Cipher.ID.Equal(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, last}) {
			size = n
		}
	}
	d := &p.Derivation.Params
	h := sha1.New // where the file names none
	if d.PRF.Algorithm != nil {
		h = hmacNamed(d.PRF.Algorithm)
	}
	if size == 0 || h == nil || !p.Derivation.ID.Equal(oidPBKDF2()) || len(p.Cipher.IV) != aes.BlockSize ||
		d.Iterations < 1 || d.Iterations > maxIterations {
		return nil, errors.New("unknown encryption of the key")
	}
	key, err := pbkdf2.Key(h, string(passphrase), d.Salt, d.Iterations, size)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(key)
}

func decryptPKCS8(der, passphrase []byte) ([]byte, error) {
	var e encryptedKey
	if _, err := asn1.Unmarshal(der, &e); err != nil {
		return nil, err
	}
	if !e.Algorithm.ID.Equal(oidPBES2()) || len(e.Data) == 0 || len(e.Data)%aes.BlockSize != 0 {
		return nil, errors.New("unknown encryption of the key")
	}
	block, err := e.Algorithm.Params.block(passphrase)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(e.Data))
	cipher.NewCBCDecrypter(block, e.Algorithm.Params.Cipher.IV).CryptBlocks(out, e.Data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.HasSuffix(out, bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errors.New("wrong passphrase")
	}
	return out[:len(out)-pad], nil
}
