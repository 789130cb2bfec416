package builtin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostileServer answers byte by byte as a case wants, on several listeners, and notes what it was asked.
type hostileServer struct {
	// names are the words of cases, in braces, and what stands for them: {http} is http://127.0.0.1:PORT.
	names map[string]string

	mu   sync.Mutex
	seen []string // requests since the last look; guarded by mu
}

// asked is a request as it came.
type asked struct {
	*http.Request
	body []byte
}

func startHostile(t *testing.T, dir string) *hostileServer {
	t.Helper()
	s := &hostileServer{names: map[string]string{"dir": dir, "closed": "127.0.0.1:1"}}
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	port := func(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }
	pki := newPKI(t, dir)
	plain := listen("tcp", "127.0.0.1:0")
	s.names["http"], s.names["port"] = "http://127.0.0.1:"+port(plain), port(plain)
	go s.serve(plain, "", nil)
	six, err := net.Listen("tcp", "[::1]:0")
	if err == nil {
		t.Cleanup(func() { six.Close() })
		s.names["http6"] = "http://[::1]:" + port(six)
		s.names["port6"] = port(six)
		go s.serve(six, "six ", nil)
	}
	sock := listen("unix", filepath.Join(dir, "sock"))
	s.names["sock"] = filepath.Join(dir, "sock")
	go s.serve(sock, "unix ", nil)
	for name, conf := range map[string]*tls.Config{
		"https":   {Certificates: []tls.Certificate{pki.good}},
		"expired": {Certificates: []tls.Certificate{pki.expired}},
		"other":   {Certificates: []tls.Certificate{pki.other}},
		"mutual":  {Certificates: []tls.Certificate{pki.good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pki.pool, MaxVersion: tls.VersionTLS12},
	} {
		l := listen("tcp", "127.0.0.1:0")
		s.names[name], s.names[name+"port"] = "https://127.0.0.1:"+port(l), port(l)
		go s.serve(l, name+" ", conf)
	}
	for _, name := range []string{"proxy", "askingproxy"} {
		l := listen("tcp", "127.0.0.1:0")
		s.names[name] = "127.0.0.1:" + port(l)
		go s.proxy(l, name)
	}
	return s
}

// fill puts what stands for the words into a text; empty takes it out again.
func (s *hostileServer) fill(text string) string {
	for name, val := range s.names {
		text = strings.ReplaceAll(text, "{"+name+"}", val)
	}
	return text
}

func (s *hostileServer) empty(text string) string {
	names := make([]string, 0, len(s.names))
	for name := range s.names {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(s.names[b])*100 + len(b) - len(s.names[a])*100 - len(a) })
	for _, name := range names {
		// A port is a whole number: its digits may also be in a longer one, such as the random number of a file's name.
		if _, err := strconv.Atoi(s.names[name]); err != nil {
			text = strings.ReplaceAll(text, s.names[name], "{"+name+"}")
			continue
		}
		whole := regexp.MustCompile(`(^|\D)` + s.names[name] + `(\D|$)`)
		for range 2 { // the second time for those that share the character between them
			text = whole.ReplaceAllString(text, "${1}{"+name+"}${2}")
		}
	}
	return text
}

func TestPortsAreWholeNumbers(t *testing.T) {
	s := hostileServer{names: map[string]string{"port6": "35911", "http6": "http://[::1]:35911"}}
	const text = ".hark-1561235911-1 135911 35911 35911 http://[::1]:35911/x"
	const want = ".hark-1561235911-1 135911 {port6} {port6} {http6}/x"
	if got := s.empty(text); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// requests returns what was asked since the last time, a line each: what and which headers, sorted.
func (s *hostileServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

func (s *hostileServer) note(where, line string, header http.Header, body []byte) {
	var heads []string
	for name, vals := range header {
		heads = append(heads, strings.ToLower(name)+": "+strings.Trim(fmt.Sprintf("%q", strings.Join(vals, ", ")), `"`))
	}
	slices.Sort(heads)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprintf("%s%s | %s | %q", where, line, strings.Join(heads, " | "), body))
}

func (s *hostileServer) serve(l net.Listener, where string, conf *tls.Config) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if conf != nil {
			conn = tls.Server(conn, conf)
		}
		go s.answer(conn, where)
	}
}

func (s *hostileServer) answer(conn net.Conn, where string) {
	defer conn.Close()
	req, line, err := readRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	s.note(where, line, req.Header, req.body)
	raw, stall := s.reply(req)
	_, _ = conn.Write([]byte(s.fill(raw)))
	if stall > 0 {
		time.Sleep(stall)
	}
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // so that what was not read resets nothing
	}
}

var httpVersion = regexp.MustCompile(`HTTP/1\.[01]\s*$`)

func readRequest(r *bufio.Reader) (*asked, string, error) {
	first, err := r.Peek(1)
	if err != nil || len(first) == 0 {
		return nil, "", io.EOF
	}
	var head bytes.Buffer
	line, _ := r.ReadString('\n')
	head.WriteString(line)
	req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(&head, r)))
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(req.Body)
	if len(req.TransferEncoding) > 0 {
		req.Header.Set("Transfer-Encoding", req.TransferEncoding[0])
	}
	if req.ContentLength > 0 {
		req.Header.Set("Content-Length", fmt.Sprint(req.ContentLength))
	}
	req.Header.Set("Host", req.Host)
	return &asked{req, body}, strings.TrimSpace(httpVersion.ReplaceAllString(line, "")), err
}

// page is an answer of 200 with some headers and a body of the right length.
func page(head, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"), len(body), body)
}

func (s *hostileServer) reply(req *asked) (raw string, stall time.Duration) {
	words := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	query := req.URL.Query()
	switch words[0] {
	case "to": // /to/CODE?where
		where, _ := url.QueryUnescape(req.URL.RawQuery)
		return fmt.Sprintf("HTTP/1.1 %s Moved\r\nLocation: %s\r\nSet-Cookie: hop=1\r\nContent-Length: 4\r\n\r\nhop\n", words[1], where), 0
	case "hops": // /hops/N
		if n, _ := strconv.Atoi(words[1]); n > 0 {
			return fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: /hops/%d\r\nContent-Length: 0\r\n\r\n", n-1), 0
		}
		return page("", "there"), 0
	case "want": // /want/SCHEME: needs me:sesame
		if user, password, ok := req.BasicAuth(); ok && user == "me" && password == "sesame" {
			return page("", "in"), 0
		}
		return "HTTP/1.1 401 Unauthorized\r\n" + strings.ReplaceAll(query.Get("h"), "~", "\r\n") + "\r\nContent-Length: 2\r\n\r\nno", 0
	case "echo":
		return page("Content-Type: text/plain\n", req.Method+" "+string(req.body)), 0
	case "stall":
		return page("", "half")[:40], 3 * time.Second
	case "slow":
		all := page("", "slow body")
		return all[:len(all)-4], 3 * time.Second
	case "since":
		if req.Header.Get("If-Modified-Since") != "" {
			return "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", 0
		}
		return page("", "new"), 0
	}
	if raw, ok := rawAnswers()[words[0]]; ok {
		return raw, 0
	}
	return "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nContent-Type: application/json\r\n\r\n{\"a\"", 0
}

func packed(kind, text string) string {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == "deflate" {
		w = zlib.NewWriter(&b)
	}
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// proxy passes on what it is asked, or opens tunnels; the one that asks wants me:sesame.
func (s *hostileServer) proxy(l net.Listener, name string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			r := bufio.NewReader(conn)
			req, line, err := readRequest(r)
			if err != nil {
				return
			}
			s.note(name+" ", line, req.Header, req.body)
			if name == "askingproxy" && req.Header.Get("Proxy-Authorization") != "Basic bWU6c2VzYW1l" {
				fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 2\r\n\r\nno")
				return
			}
			if req.Method != http.MethodConnect {
				raw, _ := s.reply(req)
				_, _ = io.WriteString(conn, s.fill(raw))
				return
			}
			if strings.HasPrefix(req.Host, "forbidden") {
				fmt.Fprint(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
				return
			}
			up, err := net.Dial("tcp", req.Host)
			if err != nil {
				fmt.Fprint(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno")
				return
			}
			defer up.Close()
			fmt.Fprint(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
			go func() { _, _ = io.Copy(up, r); up.(*net.TCPConn).CloseWrite() }()
			_, _ = io.Copy(conn, up)
		}()
	}
}

// pki are certificates of an authority of the test: for 127.0.0.1, for another name, and one that is over.
type pki struct {
	good, other, expired tls.Certificate
	pool                 *x509.CertPool
}

// newPKI makes them, and writes ca.pem, client.pem, client.key and both.pem into a directory.
func newPKI(t *testing.T, dir string) *pki {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(err)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	fatal(err)
	ca, err = x509.ParseCertificate(der)
	fatal(err)
	p := &pki{pool: x509.NewCertPool()}
	p.pool.AddCert(ca)
	write := func(name string, blocks ...*pem.Block) {
		var text []byte
		for _, b := range blocks {
			text = append(text, pem.EncodeToMemory(b)...)
		}
		fatal(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("ca.pem", &pem.Block{Type: "CERTIFICATE", Bytes: der})
	issue := func(leaf *x509.Certificate) (tls.Certificate, *pem.Block, *pem.Block) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		fatal(err)
		leaf.SerialNumber, leaf.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour)
		if leaf.NotAfter.IsZero() {
			leaf.NotAfter = time.Now().Add(time.Hour)
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
		fatal(err)
		raw, err := x509.MarshalPKCS8PrivateKey(key)
		fatal(err)
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
			&pem.Block{Type: "CERTIFICATE", Bytes: der}, &pem.Block{Type: "PRIVATE KEY", Bytes: raw}
	}
	here := []net.IP{net.IPv4(127, 0, 0, 1)}
	p.good, _, _ = issue(&x509.Certificate{Subject: pkix.Name{CommonName: "here"}, IPAddresses: here, DNSNames: []string{"localhost"}})
	p.other, _, _ = issue(&x509.Certificate{Subject: pkix.Name{CommonName: "there"}, DNSNames: []string{"there.example"}})
	p.expired, _, _ = issue(&x509.Certificate{Subject: pkix.Name{CommonName: "here"}, IPAddresses: here, NotAfter: time.Now().Add(-time.Minute)})
	_, cert, key := issue(&x509.Certificate{Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	write("client.pem", cert)
	write("client.key", key)
	write("both.pem", cert, key)
	return p
}
