package pki

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
	"strings"
)

// PrivateKey is a *rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey or *ecdh.PrivateKey (X25519).
type PrivateKey interface {
	Public() crypto.PublicKey
}

// ErrPassphrase means that a key is encrypted and no passphrase was given, or the reverse.
const ErrPassphrase = Error("Wrong or empty passphrase provided for private key")

// LoadKey reads a private key in any PEM form. A passphrase given must be needed.
func LoadKey(raw []byte, passphrase *string) (PrivateKey, error) {
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

func loadBlock(block *pem.Block, passphrase *string) (PrivateKey, error) {
	der := block.Bytes
	legacy := strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED")
	if (legacy || block.Type == "ENCRYPTED PRIVATE KEY") != (passphrase != nil) {
		return nil, ErrPassphrase
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
	key, ok := k.(PrivateKey)
	if !ok {
		return nil, errors.New("unknown kind of key")
	}
	return key, nil
}

// KeyForm is pkcs1, pkcs8, unknown-pem or raw.
func KeyForm(raw []byte) string {
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

// LoadRawKey reads the bare bytes of an Ed25519 or X25519 key: nothing tells which, so the type wanted decides.
func LoadRawKey(raw []byte, kind string) (PrivateKey, error) {
	if len(raw) != 32 {
		return nil, errors.New("a raw key has 32 bytes")
	}
	if kind == "Ed25519" {
		return ed25519.NewKeyFromSeed(raw), nil
	}
	return ecdh.X25519().NewPrivateKey(raw)
}

// KindOf returns the type as users write it, and the bits of the key.
func KindOf(key crypto.PublicKey) (kind string, size int) {
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

// CurveName returns a curve's name in the registry of TLS.
func CurveName(c elliptic.Curve) string {
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

// curveNamed returns the reverse, nil for one that Go's library has not.
func curveNamed(name string) elliptic.Curve {
	for _, c := range []elliptic.Curve{elliptic.P224(), elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		if CurveName(c) == name {
			return c
		}
	}
	return nil
}

// ErrUnknown means an algorithm that Go's library has not.
var ErrUnknown = errors.New("the algorithm is not supported")

// NewKey makes a key: size are the bits of RSA, curve is for ECC.
func NewKey(kind string, size int, curve string) (PrivateKey, error) {
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
	return nil, ErrUnknown
}

// ErrForm means that a key has no such form.
var ErrForm = errors.New("the key cannot have this form")

// SaveKey writes a key as pkcs1, pkcs8 or raw, encrypted if there is a passphrase.
func SaveKey(key PrivateKey, form, passphrase string) ([]byte, error) {
	block := &pem.Block{}
	var err error
	switch form {
	case "raw":
		if passphrase != "" {
			return nil, ErrForm
		}
		switch k := key.(type) {
		case ed25519.PrivateKey:
			return k.Seed(), nil
		case *ecdh.PrivateKey:
			return k.Bytes(), nil
		}
		return nil, ErrForm
	case "pkcs1":
		switch k := key.(type) {
		case *rsa.PrivateKey:
			block.Type, block.Bytes = "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)
		case *ecdsa.PrivateKey:
			block.Type = "EC PRIVATE KEY"
			block.Bytes, err = x509.MarshalECPrivateKey(k)
		default:
			return nil, ErrForm
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
