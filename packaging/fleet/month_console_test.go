//go:build fleet

package fleet

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	stdnet "net"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"strings"
	"testing"
	"time"
)

// browser is anna's, signed in at the console.
type browser struct {
	client *http.Client
	base   string // the address of the console
	token  string // for its metrics
}

// openConsole installs the console as a service with TLS, and signs anna in.
func openConsole(t *testing.T, m *team) *browser {
	t.Helper()
	cert, key, pool := certify(t, address(m.hub))
	for name, text := range map[string][]byte{"console.pem": cert, "console.key": key} {
		if err := m.hub.put("/etc/hark/"+name, 0o600, text); err != nil {
			t.Fatal(err)
		}
	}
	m.anna.sh(t, fmt.Sprintf(`cd
		sudo hark console install --listen 0.0.0.0:8470 --tls-cert /etc/hark/console.pem --tls-key /etc/hark/console.key \
			--name hub --operator %s=anna >/dev/null
		sudo hark broker admit --read-only "$(sudo hark console key)" --name console >console.json
		sudo hark console use console.json`, m.anna.key))
	m.seal = m.anna.does(t, "sudo", "hark", "console", "key", "--seal")
	for _, p := range m.everybody() {
		m.befriendConsole(t, p)
	}
	m.asKeeper(t, "runs", "readers", "add", "console", m.seal)
	m.anna.does(t, "sudo", "hark", "console", "believe", m.keeper)
	m.anna.does(t, "sudo", "systemctl", "restart", "hark-console")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{base: "https://" + address(m.hub) + ":8470", client: &http.Client{Jar: jar, Timeout: 20 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}}
	b.signIn(t, m)
	return b
}

// signIn lets the browser in by anna's key.
func (b *browser) signIn(t *testing.T, m *team) {
	t.Helper()
	await(t, "anna signs in", func() bool {
		got := m.anna.hark(t, "console", "login", b.base)
		if got.code != 0 {
			return false
		}
		answer, err := b.client.Get(strings.TrimSpace(got.out))
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	b.token = m.hub.sh(t, "cat /var/lib/hark-console/metrics-token")
}

// befriendConsole has the console show what somebody does.
func (m *team) befriendConsole(t *testing.T, p *person) {
	t.Helper()
	m.must(t, p, "runs", "readers", "add", "console", m.seal)
	m.anna.does(t, "sudo", "hark", "console", "believe", p.key)
}

// certify makes a certificate for an address.
func certify(t *testing.T, ip string) (cert, key []byte, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		IPAddresses: []stdnet.IP{stdnet.ParseIP(ip)}, DNSNames: []string{"hub"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), pool
}

// get is a page as text.
func (b *browser) get(path, accept string) (string, error) {
	r, err := http.NewRequest(http.MethodGet, b.base+path, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", accept)
	if path == "/metrics" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, answer.Status, text)
	}
	return string(text), err
}

// showing is what a page of the console shows.
func showing[T any](b *browser, path string) (out T, err error) {
	text, err := b.get(path, "application/json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil {
		err = fmt.Errorf("the console's %s: %w", path, err)
	}
	return out, err
}

// metrics are the console's, by name and labels.
func (b *browser) metrics() (map[string]float64, error) {
	text, err := b.get("/metrics", "text/plain")
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, ok := cutLast(lines.Text(), " ")
		if strings.HasPrefix(name, "#") || !ok {
			continue
		}
		if all[name], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
