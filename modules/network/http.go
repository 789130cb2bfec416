package network

import (
	"bytes"
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
)

// urlArgs are the arguments that every module with a URL has; argument structs embed it.
type urlArgs struct {
	URL          string   `arg:"url,required" doc:"What to fetch."`
	Force        bool     `arg:"force,default=no" doc:"Do not trust caches, fetch anew."`
	Agent        string   `arg:"http_agent,default=ansible-httpget" doc:"The User-Agent header."`
	UseProxy     bool     `arg:"use_proxy,default=yes" doc:"Honour the environment's proxy variables."`
	Verify       bool     `arg:"validate_certs,default=yes" doc:"Check TLS certificates."`
	BasicAuth    bool     `arg:"force_basic_auth,default=no" doc:"Send the password before it is asked for."`
	ClientCert   *string  `arg:"client_cert,type=path" doc:"PEM file with the client's certificate, and maybe its key."`
	ClientKey    *string  `arg:"client_key,type=path" doc:"PEM file with the client's key."`
	UseGSSAPI    bool     `arg:"use_gssapi,default=no" doc:"Kerberos; not supported."`
	Unredirected []string `arg:"unredirected_headers,default=" doc:"Headers that a redirect does not get."`
	Decompress   bool     `arg:"decompress,default=yes" doc:"Unpack compressed answers."`
	Ciphers      []string `arg:"ciphers" doc:"TLS cipher suites to allow, by their OpenSSL or IANA names."`
	UseNetrc     bool     `arg:"use_netrc,default=yes" doc:"Take passwords from ~/.netrc."`
}

// request is one HTTP request as a module wants it.
type request struct {
	urlArgs
	user, password string
	method         string
	headers        map[string]string
	body           io.Reader
	timeout        time.Duration
	follow         string // all, no, safe
	socket, caPath string
	since          time.Time // If-Modified-Since, unless forced
}

// response is what came back, or why nothing did.
type response struct {
	status  int // -1: no answer
	msg     string
	url     string
	header  http.Header
	body    io.ReadCloser // nil without an answer
	cookies []*http.Cookie
	elapsed int // seconds
}

// send makes the request. An HTTP error is a response; the error is for what cannot be asked at all.
func (r request) send(ctx context.Context, env *modules.Env) (*response, error) {
	start := time.Now()
	if r.UseGSSAPI {
		return nil, errors.New("use_gssapi is not supported")
	}
	if path, ok := strings.CutPrefix(r.URL, "file:"); ok {
		return localFile(strings.TrimPrefix(path, "//"), r.URL)
	}
	client, err := r.client(env)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.URL, r.body)
	if err != nil {
		return &response{status: -1, msg: "Request failed: " + err.Error(), url: r.URL}, nil
	}
	if u := req.URL; u.Scheme != "http" && u.Scheme != "https" {
		return &response{status: -1, msg: fmt.Sprintf("Request failed: <urlopen error unknown url type: %s>", u.Scheme), url: r.URL}, nil
	}
	r.dress(req, env)
	res, err := client.Do(req)
	elapsed := int(time.Since(start) / time.Second)
	if err != nil {
		return &response{status: -1, msg: refused(err), url: r.URL, elapsed: elapsed}, nil
	}
	out := &response{status: res.StatusCode, url: res.Request.URL.String(), header: res.Header, body: res.Body, elapsed: elapsed}
	out.cookies = client.Jar.Cookies(res.Request.URL)
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		reason := strings.TrimSpace(strings.TrimPrefix(res.Status, fmt.Sprint(res.StatusCode)))
		out.msg = fmt.Sprintf("HTTP Error %d: %s", res.StatusCode, reason)
		return out, nil
	}
	length := "unknown"
	if n := res.Header.Get("Content-Length"); n != "" {
		length = n
	}
	out.msg = "OK (" + length + " bytes)"
	return out, nil
}

// dress sets the headers and the password.
func (r request) dress(req *http.Request, env *modules.Env) {
	req.Header.Set("User-Agent", r.Agent)
	if r.Force {
		req.Header.Set("Cache-Control", "no-cache")
	} else if !r.since.IsZero() {
		req.Header.Set("If-Modified-Since", r.since.UTC().Format(http.TimeFormat))
	}
	if !r.Decompress {
		req.Header.Set("Accept-Encoding", "identity")
	}
	for name, val := range r.headers {
		if strings.EqualFold(name, "host") {
			req.Host = val
		}
		req.Header.Set(name, val)
	}
	user, password := r.user, r.password
	if u := req.URL.User; u != nil && user == "" {
		user = u.Username()
		password, _ = u.Password()
		req.URL.User = nil
	}
	if user == "" && r.UseNetrc && req.Header.Get("Authorization") == "" {
		user, password = netrc(env, req.URL.Hostname())
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
}

func (r request) client(env *modules.Env) (*http.Client, error) {
	secure := &tls.Config{InsecureSkipVerify: !r.Verify} //nolint:gosec // validate_certs: no is the user's wish
	if r.caPath != "" {
		pool, err := authorities(r.caPath)
		if err != nil {
			return nil, err
		}
		secure.RootCAs = pool
	}
	if r.ClientCert != nil {
		key := r.ClientCert
		if r.ClientKey != nil {
			key = r.ClientKey
		}
		cert, err := tls.LoadX509KeyPair(*r.ClientCert, *key)
		if err != nil {
			return nil, fmt.Errorf("cannot load the client certificate: %w", err)
		}
		secure.Certificates = []tls.Certificate{cert}
	}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if slices.Contains(r.Ciphers, suite.Name) || slices.Contains(r.Ciphers, openSSLName(suite.Name)) {
			secure.CipherSuites = append(secure.CipherSuites, suite.ID)
		}
	}
	dialer := &net.Dialer{Timeout: r.timeout}
	transport := &http.Transport{
		TLSClientConfig: secure, DialContext: dialer.DialContext, TLSHandshakeTimeout: r.timeout, ResponseHeaderTimeout: r.timeout,
		DisableKeepAlives: true, DisableCompression: !r.Decompress, ForceAttemptHTTP2: false,
	}
	if r.UseProxy {
		transport.Proxy = proxyOf(env)
	}
	if r.socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", r.socket)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport, Jar: jar, CheckRedirect: r.redirect}, nil
}

// openSSLName is the name by which OpenSSL knows a suite, for those that its rule covers.
func openSSLName(iana string) string {
	name := strings.TrimPrefix(iana, "TLS_")
	name = strings.Replace(name, "_WITH_", "-", 1)
	return strings.NewReplacer("_", "-", "AES-128", "AES128", "AES-256", "AES256").Replace(name)
}

func authorities(path string) (*x509.CertPool, error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*"))
	}
	pool := x509.NewCertPool()
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read ca_path: %w", err)
		}
		pool.AppendCertsFromPEM(pem)
	}
	return pool, nil
}

// redirect follows as follow_redirects says: safe is GET and HEAD alone.
func (r request) redirect(next *http.Request, via []*http.Request) error {
	safe := r.method == http.MethodGet || r.method == http.MethodHead
	if r.follow == "no" || r.follow != "all" && !safe {
		return http.ErrUseLastResponse
	}
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	for _, name := range r.Unredirected {
		next.Header.Del(name)
	}
	return nil
}

// proxyOf reads the proxy variables of the task's environment, not of this process.
func proxyOf(env *modules.Env) func(*http.Request) (*url.URL, error) {
	get := func(name string) string {
		if v := env.Getenv(strings.ToLower(name)); v != "" {
			return v
		}
		return env.Getenv(name)
	}
	return func(req *http.Request) (*url.URL, error) {
		for _, skip := range strings.Split(get("NO_PROXY"), ",") {
			skip = strings.TrimPrefix(strings.TrimSpace(skip), ".")
			if host := req.URL.Hostname(); skip != "" && (skip == "*" || host == skip || strings.HasSuffix(host, "."+skip)) {
				return nil, nil
			}
		}
		proxy := get(strings.ToUpper(req.URL.Scheme) + "_PROXY")
		if proxy == "" {
			return nil, nil
		}
		if !strings.Contains(proxy, "://") {
			proxy = "http://" + proxy
		}
		return url.Parse(proxy)
	}
}

// netrc finds a host's login in the netrc file of the user.
func netrc(env *modules.Env, host string) (user, password string) {
	path := env.Getenv("NETRC")
	if path == "" {
		path = filepath.Join(env.Getenv("HOME"), ".netrc")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", ""
	}
	words, ours := strings.Fields(string(text)), false
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "machine":
			ours = words[i+1] == host
		case "login":
			if ours {
				user = words[i+1]
			}
		case "password":
			if ours {
				password = words[i+1]
			}
		default:
			continue
		}
		i++
	}
	return user, password
}

// refused words a failure to connect as Python's urllib does.
func refused(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "Connection failure: The read operation timed out"
	}
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		return "Request failed: <urlopen error [Errno -2] Name or service not known>"
	}
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		return "Failed to validate the SSL certificate for this host: " + bad.Err.Error()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "Request failed: <urlopen error " + oserr.Bare(errno) + ">"
	}
	var refused *url.Error
	if errors.As(err, &refused) {
		err = refused.Err
	}
	return "Request failed: <urlopen error " + err.Error() + ">"
}

func localFile(path, from string) (*response, error) {
	f, err := os.Open(path)
	if err != nil {
		return &response{status: -1, msg: fmt.Sprintf("Request failed: <urlopen error [Errno 2] No such file or directory: '%s'>", path), url: from}, nil
	}
	return &response{status: 200, msg: "OK", url: from, header: http.Header{}, body: f}, nil
}

// text reads a body whole, at most limit bytes of it.
func (r *response) text(limit int64) ([]byte, error) {
	if r.body == nil {
		return nil, nil
	}
	defer r.body.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r.body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("cannot hold an answer of more than %d bytes: use dest", limit)
	}
	return b.Bytes(), err
}
