package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"math/big"

	"hark/modules/py/value"
)

// KeyInfo describes a public key: public_key, public_key_fingerprints, type and public_data. Of the fingerprints it
// has sha256 only, as Ansible's diffs do.
func KeyInfo(key crypto.PublicKey) (*value.Dict, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	kind, size := KindOf(key)
	data := value.NewDict()
	switch k := key.(type) {
	case *rsa.PublicKey:
		data.Put("size", int64(size))
		data.Put("modulus", k.N)
		data.Put("exponent", int64(k.E))
	case *ecdsa.PublicKey:
		data.Put("curve", CurveName(k.Curve))
		if point, err := k.Bytes(); err == nil {
			half := len(point) / 2
			data.Put("x", new(big.Int).SetBytes(point[1:1+half]))
			data.Put("y", new(big.Int).SetBytes(point[1+half:]))
		}
		data.Put("exponent_size", int64(size))
	}
	sum := sha256.Sum256(der)
	return value.DictOf(
		"public_key", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"public_key_fingerprints", value.DictOf("sha256", Colons(sum[:])), "type", kind, "public_data", data,
	), nil
}
