// Package httpx makes the HTTP requests of modules, with the arguments, the messages and the defaults of Ansible's.
package httpx

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/text/encoding/charmap"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Args are the arguments that every module with a URL has; argument structs embed it.
type Args struct {
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

// Request is one HTTP request as a module wants it.
type Request struct {
	Args
	User, Password string
	Method         string
	Headers        map[string]string
	Body           io.Reader
	Size           int64 // of Body, for a reader that does not tell itself; 0 sends it in chunks
	Timeout        time.Duration
	// Follow returns which redirects are followed: all, no, safe, or urllib2.
	Follow string
	// Socket is a Unix socket to connect to, CAPath a file or directory of authorities to trust.
	Socket, CAPath string
	// Since is sent as If-Modified-Since, unless Force is set.
	Since time.Time
}

// Response is what came back, or why nothing did.
type Response struct {
	Status  int // -1: no answer
	Msg     string
	URL     string
	Header  http.Header
	Body    io.ReadCloser // nil without an answer
	Cookies []*http.Cookie
	Elapsed int // seconds
}

// Send makes the request. An HTTP error is a response; the error is for what cannot be asked at all.
func (r Request) Send(ctx context.Context, env *modules.Env) (*Response, error) {
	start := time.Now()
	if r.UseGSSAPI {
		return nil, errors.New("use_gssapi is not supported")
	}
	if path, ok := strings.CutPrefix(r.URL, "file:"); ok {
		return localFile(strings.TrimPrefix(path, "//"), r.URL)
	}
	if why := unreadable(r.URL); why != "" {
		return nil, fsx.Failed(why, "status", -1, "url", r.URL)
	}
	client, err := r.client(env)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, r.Body)
	if err != nil {
		return &Response{Status: -1, Msg: "Request failed: " + err.Error(), URL: r.URL}, nil
	}
	if r.Size > 0 {
		req.ContentLength = r.Size
	}
	if u := req.URL; u.Scheme != "http" && u.Scheme != "https" {
		return &Response{Status: -1, Msg: fmt.Sprintf("Request failed: <urlopen error unknown url type: %s>", u.Scheme), URL: r.URL}, nil
	}
	r.dress(req, env)
	res, err := client.Do(req)
	elapsed := int(time.Since(start) / time.Second)
	if err != nil {
		return &Response{Status: -1, Msg: refused(err, req.URL.Scheme), URL: r.URL, Elapsed: elapsed}, nil
	}
	out := &Response{Status: res.StatusCode, URL: res.Request.URL.String(), Header: res.Header, Body: res.Body, Elapsed: elapsed}
	restore(res)
	if r.Decompress && strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		out.Body = &unpackedBody{packed: res.Body}
	}
	out.Cookies = client.Jar.Cookies(res.Request.URL)
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		reason := strings.TrimSpace(strings.TrimPrefix(res.Status, fmt.Sprint(res.StatusCode)))
		if r.follows(res.Request.Method) && res.StatusCode/100 == 3 && hops(res) >= maxHops {
			reason = "The HTTP server returned a redirect error that would lead to an infinite loop.\nThe last 30x error message was:\n" + reason
		}
		out.Msg = fmt.Sprintf("HTTP Error %d: %s", res.StatusCode, reason)
		return out, nil
	}
	length := "unknown"
	if n := res.Header.Get("Content-Length"); n != "" {
		length = n
	}
	out.Msg = "OK (" + length + " bytes)"
	return out, nil
}

// unreadable is what Python's urllib says of an address that it cannot take apart, "" of one that it can.
func unreadable(address string) string {
	kind, rest, hasKind := strings.Cut(address, ":")
	host, hasHost := strings.CutPrefix(rest, "//")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	switch {
	case hasHost && strings.Contains(host, "[") != strings.Contains(host, "]"):
		return "Invalid IPv6 URL"
	case !hasKind || kind == "" || strings.Contains(kind, "/"):
		return "unknown url type: " + value.ReprText(address)
	}
	return ""
}

// restore puts the headers back that net/http takes for itself: users see them.
func restore(res *http.Response) {
	if res.Close && res.ProtoAtLeast(1, 1) {
		res.Header.Set("Connection", "close")
	}
	if len(res.TransferEncoding) > 0 {
		res.Header.Set("Transfer-Encoding", strings.Join(res.TransferEncoding, ", "))
	}
}

// dress sets the headers and the password.
func (r Request) dress(req *http.Request, env *modules.Env) {
	req.Header.Set("User-Agent", r.Agent)
	if r.Force {
		req.Header.Set("Cache-Control", "no-cache")
	} else if !r.Since.IsZero() {
		req.Header.Set("If-Modified-Since", r.Since.UTC().Format(http.TimeFormat))
	}
	req.Header.Set("Accept-Encoding", "identity")
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, val := range r.Headers {
		if strings.EqualFold(name, "host") {
			req.Host = val
		}
		req.Header.Set(name, latin1(val))
	}
	user, password := r.User, r.Password
	if u := req.URL.User; u != nil && user == "" {
		user = u.Username()
		password, _ = u.Password()
		req.URL.User = nil
	}
	if user == "" && r.UseNetrc && req.Header.Get("Authorization") == "" {
		own := netrc(env, req.URL.Hostname())
		user, password = own.user, own.password
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
}

// latin1 is a header as Python sends it, if its characters allow that.
func latin1(text string) string {
	if out, err := charmap.ISO8859_1.NewEncoder().String(text); err == nil {
		return out
	}
	return text
}

// maxHops is how many answers may send on to elsewhere.
const maxHops = 10

// hops counts the answers up to this one.
func hops(res *http.Response) int {
	n := 1
	for before := res.Request.Response; before != nil; before = before.Request.Response {
		n++
	}
	return n
}

// follows reports whether a redirect is followed by a request of this method, as follow_redirects says: safe is from
// GET and HEAD alone, urllib2 also what becomes a GET.
func (r Request) follows(next string) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	return r.Follow == "all" || r.Follow != "no" && safe || r.Follow == "urllib2" && next == http.MethodGet
}

func (r Request) redirect(next *http.Request, via []*http.Request) error {
	if !r.follows(next.Method) || len(via) >= maxHops {
		return http.ErrUseLastResponse
	}
	for _, name := range r.Unredirected {
		next.Header.Del(name)
	}
	return nil
}

// refused words a failure to connect as Python's urllib does.
func refused(err error, scheme string) string {
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		if unknown.IsNotFound {
			return "Request failed: <urlopen error [Errno -2] Name or service not known>"
		}
		return "Request failed: <urlopen error [Errno -3] Temporary failure in name resolution>"
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		if scheme == "https" {
			return "Connection failure: The read operation timed out"
		}
		return "Connection failure: timed out"
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

func localFile(path, from string) (*Response, error) {
	f, err := os.Open(path)
	if err != nil {
		return &Response{Status: -1, Msg: fmt.Sprintf("Request failed: <urlopen error [Errno 2] No such file or directory: '%s'>", path), URL: from}, nil
	}
	length := "unknown"
	if info, err := f.Stat(); err == nil {
		length = fmt.Sprint(info.Size())
	}
	return &Response{Status: 200, Msg: "OK (" + length + " bytes)", URL: from, Header: http.Header{}, Body: f}, nil
}

// Text reads a body whole, at most limit bytes of it.
func (r *Response) Text(limit int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r.Body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("cannot hold an answer of more than %d bytes: use dest", limit)
	}
	return b.Bytes(), err
}

// maxFetched is the size in bytes up to which Fetch takes an answer.
const maxFetched = 64 << 20

// Fetch gets a small file whole, as modules do that need a key. msg says why there is none: an answer other than 200,
// or no answer.
func Fetch(ctx context.Context, env *modules.Env, address string, verify bool) (content []byte, msg string, err error) {
	body, msg, err := Open(ctx, env, address, verify)
	if body == nil {
		return nil, msg, err
	}
	content, err = (&Response{Body: body}).Text(maxFetched)
	return content, "", err
}

// Open begins to get a file, which the caller reads and closes. msg says why there is none: an answer other than 200,
// or no answer.
func Open(ctx context.Context, env *modules.Env, address string, verify bool) (body io.ReadCloser, msg string, err error) {
	r := Request{
		Args:   Args{URL: address, Agent: "ansible-httpget", UseProxy: true, Verify: verify, UseNetrc: true, Decompress: true},
		Method: http.MethodGet, Timeout: 10 * time.Second, Follow: "safe",
	}
	res, err := r.Send(ctx, env)
	if err != nil {
		return nil, "", err
	}
	if res.Status == http.StatusOK {
		return res.Body, "", nil
	}
	if res.Body != nil {
		res.Body.Close()
	}
	return nil, res.Msg, nil
}
