// Package httpx makes the HTTP requests of modules, with the arguments, the messages and the defaults of Ansible's.
package httpx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
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
	Force        bool     `arg:"force,default=no" doc:"Do not trust caches, fetch again."`
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
	HasPassword    bool // it was given, though it may be empty
	Method         string
	Headers        map[string]string
	Body           io.Reader
	Size           int64 // of Body, for a reader that does not tell itself; 0 sends it in chunks
	Timeout        time.Duration
	// Follow returns which redirects are followed: all, no, safe, or urllib2.
	Follow string
	// Socket is a Unix socket to connect to, CAPath a file or directory of authorities to trust.
	Socket, CAPath string
	// heard is what the server says first; Send makes it.
	heard *heard
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
	Cookies []Cookie
	Elapsed int // seconds
}

// Send makes the request. An HTTP error is a response; the error is for what cannot be asked at all.
func (r Request) Send(ctx context.Context, env *modules.Env) (*Response, error) {
	start := time.Now()
	if r.UseGSSAPI {
		return nil, errors.New("use_gssapi is not supported")
	}
	if path, ok := strings.CutPrefix(r.URL, "file:"); ok {
		return localFile(path, r.URL)
	}
	for _, why := range []string{unreadable(r.URL), r.unsendable()} {
		if why != "" {
			return nil, fsx.Failed(why, "status", -1, "url", r.URL)
		}
	}
	r.URL = strings.TrimSpace(r.URL)
	if why := controls(r.URL); why != "" {
		return &Response{Status: -1, Msg: "An unknown error occurred: " + why, URL: r.URL}, nil
	}
	r.heard = &heard{}
	client, err := r.client(env)
	if err != nil {
		return &Response{Status: -1, Msg: "Connection failure: " + err.Error(), URL: r.URL}, nil
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, r.Body)
	if err != nil {
		return &Response{Status: -1, Msg: "Request failed: " + err.Error(), URL: r.URL}, nil
	}
	if r.Size > 0 {
		req.ContentLength = r.Size
	}
	if u := req.URL; u.Scheme != "http" && u.Scheme != "https" {
		return &Response{Status: -1, Msg: fmt.Sprintf("Request failed: <urlopen error unknown url type: %s>", u.Scheme),
			URL: r.URL}, nil
	}
	if req.URL.Host == "" {
		return &Response{Status: -1, Msg: "Request failed: <urlopen error no host given>", URL: r.URL}, nil
	}
	r.dress(req, env)
	r.login(client, req, env)
	asked := req.URL.String()
	res, more, err := r.follow(client, req)
	elapsed := int(time.Since(start) / time.Second)
	if err != nil {
		var broken *addressError
		if errors.As(err, &broken) {
			return nil, fsx.Failed(broken.Error(), "status", -1, "url", r.URL)
		}
		return &Response{Status: -1, Msg: refused(err, req.URL.Scheme), URL: r.URL, Elapsed: elapsed}, nil
	}
	out := &Response{Status: res.StatusCode, URL: res.Request.URL.String(), Header: res.Header, Body: res.Body,
		Elapsed: elapsed}
	if _, secret := userOf(r.URL); res.Request.URL.String() == asked && !secret {
		out.URL = r.URL // as it was written
	}
	restore(res)
	if r.Decompress && strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		out.Body = &unpackedBody{packed: res.Body}
	}
	if jar, ok := client.Jar.(*cookieJar); ok {
		out.Cookies = jar.all()
	}
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		out.URL = r.URL
		out.Msg = fmt.Sprintf("HTTP Error %d: %s", res.StatusCode, more.around(reason(res))+unsupported(res))
		return out, nil
	}
	length := "unknown"
	if n := res.Header.Get("Content-Length"); n != "" {
		length, _, _ = strings.Cut(n, ", ")
	}
	out.Msg = "OK (" + length + " bytes)"
	return out, nil
}

// userOf returns the user of an address, and whether it has a password.
func userOf(address string) (name string, secret bool) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return "", false
	}
	_, secret = u.User.Password()
	return u.User.Username(), secret
}

// names reports whether the user gives a header.
func (r Request) names(header string) bool {
	for name := range r.Headers {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// reason returns the words of an answer behind its code.
func reason(res *http.Response) string {
	return fromLatin1(strings.TrimSpace(strings.TrimPrefix(res.Status, fmt.Sprint(res.StatusCode))))
}

// unreadable returns what Python's urllib says of an address that it cannot take apart, "" of one that it can.
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
	givenBack(res.Header)
	if len(res.TransferEncoding) > 0 {
		res.Header.Set("Transfer-Encoding", strings.Join(res.TransferEncoding, ", "))
	}
	for _, vals := range res.Header {
		for i, v := range vals {
			vals[i] = fromLatin1(v)
		}
	}
}

// fromLatin1 reads a header as Python does, whatever the server meant.
func fromLatin1(text string) string {
	if out, err := charmap.ISO8859_1.NewDecoder().String(text); err == nil {
		return out
	}
	return text
}

// dress sets the headers.
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
		switch strings.ToLower(name) {
		case "connection": // each connection has one request
		case "content-length":
			if n, err := strconv.ParseInt(val, 10, 64); err == nil && req.Body != nil && n < req.ContentLength {
				req.ContentLength, req.GetBody = n, nil
				req.Body = io.NopCloser(io.LimitReader(r.Body, n))
			}
		case "transfer-encoding":
			if strings.EqualFold(val, "chunked") {
				req.ContentLength = -1
			}
		default:
			req.Header.Set(name, latin1(val))
		}
	}
}

// unsendable returns what Python says of headers that it does not send, "" if there is none.
func (r Request) unsendable() string {
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if name == "" || strings.ContainsAny(name, ":\r\n") || strings.TrimSpace(name[:1]) == "" {
			return "Invalid header name b" + value.ReprText(name)
		}
		val := r.Headers[name]
		if at := strings.IndexFunc(val, func(c rune) bool { return c > 255 }); at >= 0 {
			return notLatin1(val)
		}
		if i := strings.IndexAny(val, "\r\n"); i >= 0 && !strings.HasPrefix(val[i+1:], " ") &&
			!strings.HasPrefix(val[i+1:], "\t") {
			return "Invalid header value b" + value.ReprText(val)
		}
	}
	return ""
}

// notLatin1 names the characters of a text that Latin-1 does not have, as Python's codec does.
func notLatin1(text string) string {
	letters := []rune(text)
	from := slices.IndexFunc(letters, func(c rune) bool { return c > 255 })
	to := from
	for to < len(letters) && letters[to] > 255 {
		to++
	}
	what := fmt.Sprintf("characters in position %d-%d", from, to-1)
	if to == from+1 {
		what = fmt.Sprintf("character '%s' in position %d", pythonEscape(letters[from]), from)
	}
	return "'latin-1' codec can't encode " + what + ": ordinal not in range(256)"
}

// pythonEscape writes a character as Python's \u escape.
func pythonEscape(c rune) string {
	if c > 0xffff {
		return fmt.Sprintf("\\U%08x", c)
	}
	return fmt.Sprintf("\\u%04x", c)
}

// controls returns what Python says of an address with control characters, "" of one without. A blank is encoded.
func controls(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	at := strings.IndexFunc(address, func(c rune) bool { return c < ' ' || c == 0x7f })
	if !ok || at < 0 {
		return ""
	}
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut("/"+path, "#")
	return fmt.Sprintf("URL can't contain control characters. %s (found at least %s)",
		value.ReprText(path), value.ReprText(address[at:at+1]))
}

// login sets the password, or has it sent when it is asked for.
func (r Request) login(client *http.Client, req *http.Request, env *modules.Env) {
	user, password, atOnce := r.User, r.Password, r.BasicAuth
	if u := req.URL.User; u != nil && user == "" {
		user = u.Username()
		password, _ = u.Password()
		r.HasPassword = true
		req.URL.User = nil
	}
	if user == "" && r.UseNetrc {
		own := netrc(env, req.URL.Hostname())
		if own.user != "" && own.password != "" {
			user, password, atOnce = own.user, own.password, true
		}
	}
	switch {
	case user == "":
	case atOnce:
		req.SetBasicAuth(user, password)
	case password != "" || r.HasPassword:
		client.Transport = &onDemand{client.Transport, addressOf(req.URL), user, password}
	}
}

// latin1 returns a header as Python sends it, if its characters allow that.
func latin1(text string) string {
	if out, err := charmap.ISO8859_1.NewEncoder().String(text); err == nil {
		return out
	}
	return text
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
	if why := distrusted(err); why != "" {
		return "Request failed: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: " + why + ">"
	}
	var odd *oddAnswerError
	if errors.As(err, &odd) {
		return odd.Error()
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

// localFile answers with a file of the host; path is what stands in the URL after "file:".
func localFile(path, from string) (*Response, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		name, _, _ := strings.Cut(rest, "/")
		if name != "" && name != "localhost" {
			return &Response{Status: -1, Msg: "Request failed: <urlopen error file not on local host>", URL: from}, nil
		}
		path = strings.TrimPrefix(rest, name)
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	f, err := os.Open(path)
	var info os.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err == nil && info.IsDir() {
		f.Close()
		err = syscall.EISDIR
	}
	if err != nil {
		return &Response{Status: -1, Msg: "Request failed: <urlopen error " + oserr.Path(err, path) + ">", URL: from}, nil
	}
	length := fmt.Sprint(info.Size())
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
func Open(ctx context.Context, env *modules.Env, address string,
	verify bool) (body io.ReadCloser, msg string, err error) {
	r := Request{
		Args: Args{URL: address, Agent: "ansible-httpget", UseProxy: true, Verify: verify, UseNetrc: true,
			Decompress: true},
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
