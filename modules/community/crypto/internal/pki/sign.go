package pki

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"time"
)

// ErrDigest means a sum that certificates are not signed with.
var ErrDigest = errors.New("the digest is not supported")

// algorithm is how a key signs. Ed25519 has its own digest.
func algorithm(key PrivateKey, digest string) (x509.SignatureAlgorithm, error) {
	i := slices.Index([]string{"sha1", "sha256", "sha384", "sha512"}, digest)
	switch key.(type) {
	case ed25519.PrivateKey:
		return x509.PureEd25519, nil
	case *rsa.PrivateKey:
		if i >= 0 {
			return []x509.SignatureAlgorithm{x509.SHA1WithRSA, x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA}[i], nil
		}
	case *ecdsa.PrivateKey:
		if i >= 0 {
			return []x509.SignatureAlgorithm{x509.ECDSAWithSHA1, x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512}[i], nil
		}
	default:
		return 0, Error("Key must be an rsa, dsa, ec, ed25519 or ed448 private key.")
	}
	return 0, ErrDigest
}

// CanSign tells whether a key can sign with a digest; the error is ErrDigest if only the digest is in the way.
func CanSign(key PrivateKey, digest string) error {
	_, err := algorithm(key, digest)
	return err
}

// Subject is a name with what is certified or to be certified of it.
type Subject struct {
	Name       []byte // DER
	Extensions []pkix.Extension
}

// Request makes a request, in PEM form.
func Request(s Subject, key PrivateKey, digest string) ([]byte, error) {
	how, err := algorithm(key, digest)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		RawSubject: s.Name, ExtraExtensions: s.Extensions, SignatureAlgorithm: how,
	}, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), err
}

// Certificate is what goes into a certificate beside its subject.
type Certificate struct {
	Subject
	PublicKey           any
	Issuer              []byte // DER of the name
	Serial              *big.Int
	NotBefore, NotAfter time.Time
}

// Sign makes the certificate, in PEM form.
func (c Certificate) Sign(key PrivateKey, digest string) ([]byte, error) {
	how, err := algorithm(key, digest)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		RawSubject: c.Name, ExtraExtensions: c.Extensions, SerialNumber: c.Serial, NotBefore: c.NotBefore, NotAfter: c.NotAfter,
		SignatureAlgorithm: how,
	}, &x509.Certificate{RawSubject: c.Issuer}, c.PublicKey, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

// NewSerial is a serial number of 159 bits.
func NewSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 159))
}
