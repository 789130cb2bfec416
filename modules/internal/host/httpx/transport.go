package httpx

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/internal/oserr"
	"hark/modules/nss"
)

func (r Request) client(env *modules.Env) (*http.Client, error) {
	if r.heard == nil {
		r.heard = &heard{}
	}
	secure := &tls.Config{InsecureSkipVerify: !r.Verify} //nolint:gosec // validate_certs: no is the user's wish
	if r.CAPath != "" {
		pool, err := authorities(r.CAPath)
		if err != nil {
			return nil, err
		}
		secure.RootCAs = pool
	} else if r.Verify {
		secure.RootCAs = trusted(env)
	}
	if r.ClientCert != nil {
		key := r.ClientCert
		if r.ClientKey != nil {
			key = r.ClientKey
		}
		cert, err := tls.LoadX509KeyPair(*r.ClientCert, *key)
		if err != nil {
			return nil, fmt.Errorf("cannot load the client certificate: %s", bare(err))
		}
		secure.Certificates = []tls.Certificate{cert}
	}
	var err error
	if secure.CipherSuites, err = r.suites(); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: secure, DialContext: r.dialPlain, DialTLSContext: r.dialTLS(secure), DisableKeepAlives: true,
		DisableCompression: true, ForceAttemptHTTP2: false,
	}
	if r.UseProxy {
		transport.Proxy = proxies(env.Environ).of
		transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return fmt.Errorf("Tunnel connection failed: %s", res.Status) //nolint:staticcheck // Python's words
		}
		transport.GetProxyConnectHeader = func(context.Context, *url.URL, string) (http.Header, error) {
			return http.Header{"User-Agent": nil}, nil // Python names none there
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: lenient{transport}, Jar: &cookieJar{CookieJar: jar, off: r.names("cookie")},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // see follow
	}, nil
}

// suites returns the TLS cipher suites that the request may use, nil for Go's choice.
func (r Request) suites() ([]uint16, error) {
	var ids []uint16
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if slices.Contains(r.Ciphers, suite.Name) || slices.Contains(r.Ciphers, openSSLName(suite.Name)) {
			ids = append(ids, suite.ID)
		}
	}
	if len(r.Ciphers) > 0 && ids == nil {
		return nil, fmt.Errorf("cannot use the ciphers %s: none of them is known", strings.Join(r.Ciphers, ":"))
	}
	return ids, nil
}

// dial connects to the server, or to the socket that stands in for it.
func (r Request) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.Socket != "" {
		network, address = "unix", r.Socket
	}
	conn, err := (&nss.Dialer{Timeout: r.Timeout}).DialContext(ctx, network, address)
	if err != nil && r.Socket != "" {
		return nil, fmt.Errorf("Invalid Socket File (%s): %s", r.Socket, bare(err)) //nolint:staticcheck // Ansible's words
	}
	if err == nil && r.Timeout > 0 {
		conn = &patientConn{conn, r.Timeout}
	}
	return conn, err
}

// dialPlain is dial with answers that are read as Python reads them.
func (r Request) dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := r.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &lenientConn{Conn: conn, heard: r.heard}, nil
}

// dialTLS is dialPlain for a server of TLS without a proxy before it.
func (r Request) dialTLS(conf *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := r.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		own := conf.Clone()
		if own.ServerName == "" {
			own.ServerName, _, _ = net.SplitHostPort(address)
		}
		secure := tls.Client(conn, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return &lenientConn{Conn: secure, heard: r.heard}, nil
	}
}

// patientConn gives up when nothing comes or goes for a time, as Python's sockets do: a server may stop in the midst
// of an answer.
type patientConn struct {
	net.Conn
	patience time.Duration
}

func (c *patientConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write prolongs the time for the answer, too: that is waited for while a long body is on its way.
func (c *patientConn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// unpackedBody unpacks an answer that a server compressed although nobody asked for it.
type unpackedBody struct {
	packed io.ReadCloser
	reader *gzip.Reader
}

func (b *unpackedBody) Read(p []byte) (int, error) {
	if b.reader == nil {
		var err error
		if b.reader, err = gzip.NewReader(b.packed); err != nil {
			return 0, err
		}
	}
	return b.reader.Read(p)
}

func (b *unpackedBody) Close() error { return b.packed.Close() }

// openSSLName returns OpenSSL's name of a suite, for those that its rule covers.
func openSSLName(iana string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(iana, "TLS_"), "RSA_WITH_")
	name = strings.NewReplacer("_WITH_", "-", "AES_", "AES", "_CBC", "", "POLY1305_SHA256", "POLY1305").Replace(name)
	return strings.ReplaceAll(name, "_", "-")
}

// bare returns what the system says of an error, without the path that it concerns.
func bare(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return oserr.Bare(errno)
	}
	return err.Error()
}

func authorities(path string) (*x509.CertPool, error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*"))
	}
	pool, any := x509.NewCertPool(), false
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, errors.New(oserr.Bytes(err, file))
		}
		any = pool.AppendCertsFromPEM(pem) || any
	}
	if !any {
		return nil, fmt.Errorf("cannot find a certificate in %s", path)
	}
	return pool, nil
}
