package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/wire/nats"
)

// The lives of certificates. A clock may be off by a day when they are made or checked.
const (
	authorityLife = 20 * 365 * 24 * time.Hour
	serverLife    = 10 * 365 * 24 * time.Hour
	clockSlack    = 24 * time.Hour
)

// Certificates are the broker's own authority and the certificate that it gave itself. Agents and controllers trust
// the authority, by its certificate or its fingerprint, so that the certificate may change.
type Certificates struct {
	// CA is the authority's certificate in PEM.
	CA []byte

	tls *tls.Config
}

// OpenCertificates reads the authority below data, or makes it, and gives the server a certificate for the names of
// this machine and the given ones.
func OpenCertificates(data string, names []string) (*Certificates, error) {
	dir := filepath.Join(data, "tls")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep the broker's certificates: %v", err)
	}
	ca, err := openCA(dir)
	if err != nil {
		return nil, err
	}
	server, err := issue(ca, names)
	if err != nil {
		return nil, fmt.Errorf("cannot make the broker's certificate: %v", err)
	}
	return &Certificates{
		CA:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Leaf.Raw}),
		tls: &tls.Config{Certificates: []tls.Certificate{*server}, MinVersion: tls.VersionTLS12},
	}, nil
}

func openCA(dir string) (*tls.Certificate, error) {
	certFile, keyFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key")
	_, err := os.Stat(certFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = createCA(certFile, keyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep the broker's certificate authority: %v", err)
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority in %s: %v", dir, err)
	}
	return &pair, nil
}

// createCA writes the key first: without the certificate it is made again.
func createCA(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	t, err := template(nats.OwnAuthority, authorityLife)
	if err != nil {
		return err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return err
	}
	return atomicfile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func template(name string, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-clockSlack), NotAfter: now.Add(life),
	}, nil
}

// issue makes a certificate for this machine. The authority's own comes with it, for those who know only its
// fingerprint.
func issue(ca *tls.Certificate, names []string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t, err := template("hark broker", serverLife)
	if err != nil {
		return nil, err
	}
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range append(ownNames(), names...) {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, ca.Leaf, key.Public(), ca.PrivateKey)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, ca.Leaf.Raw}, PrivateKey: key}, nil
}

// ownNames returns the names and addresses of this machine.
func ownNames() []string {
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil && host != "localhost" {
		names = append(names, host)
	}
	addrs, _ := net.InterfaceAddrs() // without them there are names
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			names = append(names, n.IP.String())
		}
	}
	return names
}
