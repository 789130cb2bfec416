package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
)

func TestBrokerIsKnownByItsAuthority(t *testing.T) {
	data := t.TempDir()
	a, err := OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	certs, err := OpenCertificates(data, []string{"broker.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	print, err := nats.Fingerprint(certs.CA)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenCertificates(data, nil)
	if err != nil || string(again.CA) != string(certs.CA) {
		t.Errorf("the authority has changed (%v)", err)
	}
	other, err := OpenCertificates(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pinned := func(pem []byte) *tls.Config {
		c, err := nats.TLS(string(pem))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certs.CA)
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: data, Listen: "0.0.0.0:0", Advertise: "127.0.0.1", Authority: a, Certificates: certs, Logger: zerolog.Nop()},
			func(url string) { ready <- url })
	}()
	var url string
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	if !strings.HasPrefix(url, "tls://127.0.0.1:") {
		t.Errorf("URL %s", url)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	token, err := a.Agent(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tls *tls.Config
		ok  bool
	}{
		"the fingerprint":                {nats.FingerprintTLS(print), true},
		"the authority":                  {pinned(certs.CA), true},
		"the authority, and the address": {&tls.Config{RootCAs: pool}, true},
		"the system's authorities":       {&tls.Config{}, false},
		"another fingerprint":            {nats.FingerprintTLS(strings.Repeat("0", 64)), false},
		"another authority":              {pinned(other.CA), false},
	} {
		tr, err := nats.Dial(t.Context(), nats.Config{URL: url, ID: id.ID(), Identity: id, JWT: token, TLS: tt.tls, Logger: zerolog.Nop()})
		if (err == nil) != tt.ok {
			t.Errorf("by %s: %v", name, err)
		}
		if err == nil {
			_ = tr.Close()
		}
	}
}
