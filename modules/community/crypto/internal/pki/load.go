package pki

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"slices"
)

const pemHelp = "Unable to load PEM file. See https://cryptography.io/en/latest/faq/#why-can-t-i-import-my-pem-file for more details. MalformedFraming"

// block is the first block of a kind in PEM text.
func block(raw []byte, hint string, kinds ...string) ([]byte, error) {
	some := false
	for {
		b, rest := pem.Decode(raw)
		switch {
		case b == nil && some:
			return nil, Error(hint)
		case b == nil:
			return nil, Error(pemHelp)
		case slices.Contains(kinds, b.Type):
			return b.Bytes, nil
		}
		some, raw = true, rest
	}
}

// LoadRequest reads a request in PEM form.
func LoadRequest(raw []byte) (*x509.CertificateRequest, error) {
	der, err := block(raw, "Valid PEM but no BEGIN CERTIFICATE REQUEST/END CERTIFICATE REQUEST delimiters. Are you sure this is a CSR?",
		"CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificateRequest(der)
}

// LoadCertificate reads a certificate in PEM form.
func LoadCertificate(raw []byte) (*x509.Certificate, error) {
	der, err := block(raw, "Valid PEM but no BEGIN CERTIFICATE/END CERTIFICATE delimiters. Are you sure this is a certificate?",
		"CERTIFICATE", "X509 CERTIFICATE")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// SameKey tells whether two public keys are equal.
func SameKey(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// SignedBy tells whether a certificate was signed with a key's private half.
func SignedBy(c *x509.Certificate, key any) bool {
	return (&x509.Certificate{PublicKey: key}).CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
