package nats

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// AuthorityTLS trusts the certificates that an authority (PEM) has given to the host that is dialled.
func AuthorityTLS(text []byte) (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("there is no certificate in it")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// PinnedTLS trusts what an authority (PEM) has signed, whatever name it is reached by: for the authority of a broker that signs
// for nothing but the broker, which agents may reach through other addresses than it knows of itself.
func PinnedTLS(text []byte) (*tls.Config, error) {
	c, err := AuthorityTLS(text)
	if err != nil {
		return nil, err
	}
	roots := c.RootCAs
	return verifying(func(chain []*x509.Certificate) error { return verifyChain(chain, roots) }), nil
}

// FingerprintTLS trusts what the authority with the given fingerprint (see Fingerprint) has signed. The server must send
// its authority's certificate along, as hark's broker does.
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

// Fingerprint is the sha256 of the first certificate of a PEM text, in hex.
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

func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	return err
}
