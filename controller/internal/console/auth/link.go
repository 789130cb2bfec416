package auth

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"hark/modules/nss"
)

// Signer is an operator who signs.
type Signer struct {
	Key  string // public
	Sign func(statement []byte) ([]byte, error)
}

// Link asks the console at an address for a challenge, has it signed, and returns the address that admits a browser,
// once. The key is never sent, and a server in between cannot use the signature, which is bound to the certificate that
// it showed.
func Link(ctx context.Context, address string, by Signer) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("%q is not the address of a console: give it as https://HOST:PORT", address)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return "", fmt.Errorf("cannot sign in at %s without TLS: give its https address", address)
	}
	u.Path, u.RawQuery, u.Fragment = ChallengePath, "", ""
	nonce, digest, err := ask(ctx, u.String())
	if err != nil {
		return "", fmt.Errorf("cannot sign in at %s: %w", address, err)
	}
	sig, err := by.Sign(Statement(nonce, digest))
	if err != nil {
		return "", fmt.Errorf("cannot sign the challenge: %w", err)
	}
	u.Path = LoginPath
	u.RawQuery = url.Values{"nonce": {nonce}, "key": {by.Key}, "sig": {base64.RawURLEncoding.EncodeToString(sig)}}.Encode()
	return u.String(), nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// askLimit is how long a console may take to send a challenge.
const askLimit = 15 * time.Second

// ask returns a challenge, and the digest of the server's certificate. The browser checks the certificate: with another
// one the signature is worth nothing.
func ask(ctx context.Context, address string) (nonce string, digest [sha256.Size]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var names nss.Dialer
	transport := &http.Transport{DialContext: names.DialContext, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // see above
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) == 0 {
				return errors.New("the server shows no certificate")
			}
			digest = sha256.Sum256(raw[0])
			return nil
		},
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", digest, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", digest, err
	}
	defer resp.Body.Close()
	var c Challenge
	if resp.StatusCode == http.StatusNotFound {
		return "", digest, errors.New("nobody signs in there with an operator's key (hark console --operator)")
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 4096)).Decode(&c) != nil || c.Nonce == "" {
		return "", digest, fmt.Errorf("it does not answer as a console does (%s)", resp.Status)
	}
	return c.Nonce, digest, nil
}
