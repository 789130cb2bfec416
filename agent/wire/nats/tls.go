package nats

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// OwnAuthority is the common name of the authority that hark's broker makes for itself.
const OwnAuthority = "hark broker authority"

// TLS trusts an authority: its certificate in PEM, or the fingerprint of hark's own; "" is nil, the system's. The
// authority that hark's broker made signs for nothing but that broker, so a certificate of it is good whatever the
// broker is reached by, and whatever the time is here; those of other authorities must be for the host that is
// dialled, and of today.
func TLS(authority string) (*tls.Config, error) {
	if authority == "" {
		return nil, nil
	}
	block, _ := pem.Decode([]byte(authority))
	if block == nil {
		fingerprint := strings.TrimSpace(authority)
		if raw, err := hex.DecodeString(fingerprint); err != nil || len(raw) != sha256.Size {
			return nil, errors.New("it is neither a certificate in PEM nor the sha256 of one in hex")
		}
		return FingerprintTLS(strings.ToLower(fingerprint)), nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(authority)) {
		return nil, errors.New("there is no certificate in it")
	}
	if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.Subject.CommonName == OwnAuthority {
		return verifying(func(chain []*x509.Certificate) error { return verifyChain(chain, pool) }), nil
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// FingerprintTLS trusts what the authority with the given fingerprint (see Fingerprint) has signed. The server must
// send its authority's certificate along, as hark's broker does.
func FingerprintTLS(fingerprint string) *tls.Config {
	return verifying(func(chain []*x509.Certificate) error {
		for _, c := range chain {
			if c.IsCA && digest(c) == fingerprint {
				roots := x509.NewCertPool()
				roots.AddCert(c)
				return verifyChain(chain, roots)
			}
		}
		return errors.New("the broker shows another certificate authority than the one that is expected")
	})
}

// Short returns what a join token says of an authority (PEM): the fingerprint if it is hark's own, whose broker sends
// the certificate, else the certificate.
func Short(authority string) (string, error) {
	block, _ := pem.Decode([]byte(authority))
	if block != nil {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.Subject.CommonName == OwnAuthority {
			return digest(c), nil
		}
		return authority, nil
	}
	return "", errors.New("there is no certificate in it")
}

// Fingerprint returns the sha256 of the first certificate of a PEM text, in hex.
func Fingerprint(text []byte) (string, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errors.New("there is no certificate in it")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("its certificate cannot be read: %v", err)
	}
	return digest(c), nil
}

func digest(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// verifying checks the server's certificates by check in place of the usual rules, which want the host's name.
func verifying(check func([]*x509.Certificate) error) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection below does it
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the broker shows no certificate")
			}
			return check(s.PeerCertificates)
		},
	}
}

// verifyChain holds a chain against an authority that is known by its key. Everything is checked but today's date: a
// host without a clock of its own would lock itself out with it, and who has the key of the authority, or of the
// broker, is not told by the date. The certificates must have been good at one time all of them, so an authority that
// was at its end signs nothing.
func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, c := range chain {
		if c.NotBefore.After(o.CurrentTime) {
			o.CurrentTime = c.NotBefore
		}
	}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	return err
}
