package crypto

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
)

// privateKey is a *rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey or *ecdh.PrivateKey (X25519).
type privateKey interface {
	Public() crypto.PublicKey
}

// errPassphrase means that a key is encrypted and no passphrase was given, or the reverse.
var errPassphrase = errors.New("Wrong or empty passphrase provided for private key") //lint:ignore ST1005 the words that users see

// loadPEM reads a private key in any PEM form. A passphrase given must be needed.
func loadPEM(raw []byte, passphrase *string) (privateKey, error) {
	for {
		block, rest := pem.Decode(raw)
		if block == nil {
			return nil, errors.New("there is no private key")
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return loadBlock(block, passphrase)
		}
		raw = rest
	}
}

func loadBlock(block *pem.Block, passphrase *string) (privateKey, error) {
	der := block.Bytes
	legacy := strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED")
	if (legacy || block.Type == "ENCRYPTED PRIVATE KEY") != (passphrase != nil) {
		return nil, errPassphrase
	}
	var err error
	if legacy {
		//lint:ignore SA1019 the form is old, but it is what OpenSSL and Ansible write
		der, err = x509.DecryptPEMBlock(block, []byte(*passphrase))
	}
	if err != nil {
		return nil, err
	}
	switch block.Type {
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(der)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(der)
	case "ENCRYPTED PRIVATE KEY":
		if der, err = decryptPKCS8(der, []byte(*passphrase)); err != nil {
			return nil, err
		}
	case "PRIVATE KEY":
	default:
		return nil, errors.New("unknown kind of key: " + block.Type)
	}
	k, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	key, ok := k.(privateKey)
	if !ok {
		return nil, errors.New("unknown kind of key")
	}
	return key, nil
}

// keyForm is pkcs1, pkcs8, unknown-pem or raw.
func keyForm(raw []byte) string {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\r"), "-----BEGIN ")
	name, end := strings.CutSuffix(name, "-----")
	switch {
	case !ok || !end || name == "":
		return "raw"
	case name == "PRIVATE KEY" || name == "ENCRYPTED PRIVATE KEY":
		return "pkcs8"
	case strings.HasSuffix(name, " PRIVATE KEY"):
		return "pkcs1"
	}
	return "unknown-pem"
}

// loadRaw reads the bare bytes of an Ed25519 or X25519 key: nothing tells which, so the type wanted decides.
func loadRaw(raw []byte, kind string) (privateKey, error) {
	if len(raw) != 32 {
		return nil, errors.New("a raw key has 32 bytes")
	}
	if kind == "Ed25519" {
		return ed25519.NewKeyFromSeed(raw), nil
	}
	return ecdh.X25519().NewPrivateKey(raw)
}

// kindOf is the type as users write it, and the bits of the key.
func kindOf(key crypto.PublicKey) (kind string, size int) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return "RSA", k.N.BitLen()
	case *ecdsa.PublicKey:
		return "ECC", k.Curve.Params().BitSize
	case ed25519.PublicKey:
		return "Ed25519", 256
	case *ecdh.PublicKey:
		return "X25519", 256
	}
	return "unknown", 0
}

// curveName is a curve's name in the registry of TLS.
func curveName(c elliptic.Curve) string {
	switch c {
	case elliptic.P224():
		return "secp224r1"
	case elliptic.P256():
		return "secp256r1"
	case elliptic.P384():
		return "secp384r1"
	case elliptic.P521():
		return "secp521r1"
	}
	return c.Params().Name
}

func curveNamed(name string) elliptic.Curve {
	for _, c := range []elliptic.Curve{elliptic.P224(), elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		if curveName(c) == name {
			return c
		}
	}
	return nil
}

// errUnknown means an algorithm that Go's library has not.
var errUnknown = errors.New("the algorithm is not supported")

func newKey(kind string, size int, curve string) (privateKey, error) {
	switch kind {
	case "RSA":
		return rsa.GenerateKey(rand.Reader, size)
	case "ECC":
		if c := curveNamed(curve); c != nil {
			return ecdsa.GenerateKey(c, rand.Reader)
		}
	case "Ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case "X25519":
		return ecdh.X25519().GenerateKey(rand.Reader)
	}
	return nil, errUnknown
}

// errForm means that a key has no such form.
var errForm = errors.New("the key cannot have this form")

// saveKey writes a key as pkcs1, pkcs8 or raw, encrypted if there is a passphrase.
func saveKey(key privateKey, form, passphrase string) ([]byte, error) {
	block := &pem.Block{}
	var err error
	switch form {
	case "raw":
		if passphrase != "" {
			return nil, errForm
		}
		switch k := key.(type) {
		case ed25519.PrivateKey:
			return k.Seed(), nil
		case *ecdh.PrivateKey:
			return k.Bytes(), nil
		}
		return nil, errForm
	case "pkcs1":
		switch k := key.(type) {
		case *rsa.PrivateKey:
			block.Type, block.Bytes = "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)
		case *ecdsa.PrivateKey:
			block.Type = "EC PRIVATE KEY"
			block.Bytes, err = x509.MarshalECPrivateKey(k)
		default:
			return nil, errForm
		}
		if passphrase != "" && err == nil {
			//lint:ignore SA1019 the form is old, but it is what OpenSSL and Ansible write
			block, err = x509.EncryptPEMBlock(rand.Reader, block.Type, block.Bytes, []byte(passphrase), x509.PEMCipherAES256)
		}
	default:
		block.Type = "PRIVATE KEY"
		block.Bytes, err = x509.MarshalPKCS8PrivateKey(key)
		if passphrase != "" && err == nil {
			block.Type = "ENCRYPTED PRIVATE KEY"
			block.Bytes, err = encryptPKCS8(block.Bytes, []byte(passphrase))
		}
	}
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(block), nil
}

// publicInfo is what a diff tells of a key.
func publicInfo(key privateKey) map[string]any {
	info := map[string]any{"can_parse_key": true, "key_is_consistent": nil}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return map[string]any{"can_parse_key": false, "key_is_consistent": nil}
	}
	kind, size := kindOf(key.Public())
	public := map[string]any{}
	switch k := key.Public().(type) {
	case *rsa.PublicKey:
		public["size"], public["modulus"], public["exponent"] = int64(size), k.N, int64(k.E)
	case *ecdsa.PublicKey:
		public["curve"], public["exponent_size"] = curveName(k.Curve), int64(size)
		if point, err := k.Bytes(); err == nil {
			half := len(point) / 2
			public["x"], public["y"] = new(big.Int).SetBytes(point[1:1+half]), new(big.Int).SetBytes(point[1+half:])
		}
	}
	info["type"], info["public_data"] = kind, public
	info["public_key"] = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	info["public_key_fingerprints"] = map[string]any{"sha256": fingerprints(der)["sha256"]}
	return info
}
