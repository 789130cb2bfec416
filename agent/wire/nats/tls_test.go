package nats_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"hark/agent/wire/nats"
)

// span is from when until when a certificate is good, in days from today.
type span struct{ from, until int }

// signed makes a certificate, signed by another one or by itself.
func signed(t *testing.T, name string, life span, by *tls.Certificate, usage x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().AddDate(0, 0, life.from), NotAfter: time.Now().AddDate(0, 0, life.until),
	}
	parent, signer := c, key
	if by == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	} else {
		c.DNSNames, c.ExtKeyUsage = []string{"broker"}, []x509.ExtKeyUsage{usage}
		parent, signer = by.Leaf, by.PrivateKey.(*ecdsa.PrivateKey)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func pemOf(c *tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
}

// TestClockDoesNotKeepAgentsOut: what is known by its key is good on any day, which stands for any clock of this
// side; nothing else is let off.
func TestClockDoesNotKeepAgentsOut(t *testing.T) {
	const server, client = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	for name, tt := range map[string]struct {
		authority   string
		ca, leaf    span
		usage       x509.ExtKeyUsage
		otherSigner bool
		good        bool
	}{
		"today":                          {nats.OwnAuthority, span{-1, 7000}, span{-1, 3000}, server, false, true},
		"this clock ten years behind":    {nats.OwnAuthority, span{3650, 9000}, span{3650, 7000}, server, false, true},
		"this clock ten years ahead":     {nats.OwnAuthority, span{-9000, -3650}, span{-8000, -5000}, server, false, true},
		"made after the authority's end": {nats.OwnAuthority, span{-9000, -3650}, span{-100, 100}, server, false, false},
		"another signer":                 {nats.OwnAuthority, span{-1, 7000}, span{-1, 3000}, server, true, false},
		"not a server's":                 {nats.OwnAuthority, span{-1, 7000}, span{-1, 3000}, client, false, false},
		"another's authority, expired":   {"somebody", span{-9000, -3650}, span{-8000, -5000}, server, false, false},
		"another's authority, today":     {"somebody", span{-1, 7000}, span{-1, 3000}, server, false, true},
	} {
		ca := signed(t, tt.authority, tt.ca, nil, 0)
		by := ca
		if tt.otherSigner {
			by = signed(t, tt.authority, tt.ca, nil, 0)
		}
		leaf := signed(t, "hark broker", tt.leaf, by, tt.usage)
		leaf.Certificate = append(leaf.Certificate, ca.Certificate[0])
		pinned, err := nats.TLS(string(pemOf(ca)))
		if err != nil {
			t.Fatal(err)
		}
		tries := []*tls.Config{pinned}
		if tt.authority == nats.OwnAuthority {
			print, err := nats.Fingerprint(pemOf(ca))
			if err != nil {
				t.Fatal(err)
			}
			tries = append(tries, nats.FingerprintTLS(print))
		}
		for _, try := range tries {
			if err := shake(t, try, leaf); (err == nil) != tt.good {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// shake is what a client says of a server's certificates.
func shake(t *testing.T, client *tls.Config, server *tls.Certificate) error {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{*server}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := l.Accept(); err == nil {
			_ = c.(*tls.Conn).Handshake() // the client's view counts
			c.Close()
		}
	}()
	client = client.Clone()
	client.ServerName = "broker"
	c, err := tls.Dial("tcp", l.Addr().String(), client)
	if err == nil {
		c.Close()
	}
	<-done
	l.Close()
	return err
}
