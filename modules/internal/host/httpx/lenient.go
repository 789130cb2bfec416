package httpx

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Headers in which an answer keeps what net/http would take otherwise than Python, or refuse. restore puts them back.
const (
	keptLocation   = "Hark-Location"
	keptLength     = "Hark-Content-Length"
	keptConnection = "Hark-Connection"
)

// mostHead is the size in bytes up to which the head of an answer is made readable.
const mostHead = 1 << 20

// heard is the first line of the last answer, which Python shows if it is no status.
type heard struct {
	mu   sync.Mutex
	line string // guarded by mu
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.line
}

func (h *heard) note(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line = line
}

// lenientConn is a connection whose answers have heads that net/http reads as Python's http.client does: a line that is
// no header ends the head, a length that is no number is none, of two lengths the first counts, and the end of the
// connection ends a head. What is no answer of HTTP, such as TLS, passes as it is.
type lenientConn struct {
	net.Conn
	heard *heard

	ready  []byte // what is to be read next
	passes bool   // the head is over
	err    error  // of the connection, behind ready
}

func (c *lenientConn) Read(b []byte) (int, error) {
	for len(c.ready) == 0 && !c.passes {
		c.readHead()
	}
	if len(c.ready) > 0 {
		n := copy(b, c.ready)
		c.ready = c.ready[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(b)
}

// readHead reads until the head is over, and makes it ready.
func (c *lenientConn) readHead() {
	var head []byte
	chunk := make([]byte, 4096)
	for {
		n, err := c.Conn.Read(chunk)
		head, c.err = append(head, chunk[:n]...), err
		isHTTP := bytes.HasPrefix(head, []byte("HTTP/")) || len(head) < 5 && strings.HasPrefix("HTTP/", string(head))
		end := headEnd(head)
		switch {
		case err == nil && end < 0 && isHTTP && len(head) < mostHead:
			continue
		case !isHTTP || end < 0 && (!errors.Is(err, io.EOF) || len(head) == 0):
			line, _, _ := strings.Cut(string(head[:min(len(head), 200)]), "\n")
			if len(line) < min(len(head), 200) {
				line += "\n"
			}
			c.heard.note(line)
			c.ready, c.passes = head, true
			return
		case end < 0:
			end = len(head)
		}
		line, _, _ := strings.Cut(string(head), "\n")
		c.heard.note(line + "\n")
		c.ready = append(readable(string(head[:end])), head[end:]...)
		c.passes = !strings.HasPrefix(line, "HTTP/1.1 100") // the head of the answer follows
		return
	}
}

// headEnd returns where a head ends, behind its empty line; -1 if that has not come.
func headEnd(head []byte) int {
	end := -1
	for _, empty := range []string{"\r\n\r\n", "\n\n", "\n\r\n"} {
		if i := bytes.Index(head, []byte(empty)); i >= 0 && (end < 0 || i+len(empty) < end) {
			end = i + len(empty)
		}
	}
	return end
}

// readable rewrites a head.
func readable(head string) []byte {
	var out, lengths []string
	for i, line := range strings.Split(strings.ReplaceAll(head, "\r\n", "\n"), "\n") {
		if i == 0 {
			out = append(out, line)
			continue
		}
		if line == "" {
			break
		}
		name, val, isHeader := strings.Cut(line, ":")
		folded := line[0] == ' ' || line[0] == '\t'
		if !folded && (!isHeader || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f })) {
			break
		}
		if !folded && strings.EqualFold(name, "Content-Length") {
			lengths = append(lengths, strings.TrimSpace(val))
			continue
		}
		if strings.EqualFold(name, "Connection") {
			out = append(out, keptConnection+":"+val)
		}
		out = append(out, line)
	}
	if len(lengths) > 0 {
		if n, err := strconv.Atoi(lengths[0]); err == nil && n >= 0 {
			out = append(out, "Content-Length: "+lengths[0])
		}
		out = append(out, keptLength+": "+strings.Join(lengths, ", "))
	}
	return []byte(strings.Join(out, "\r\n") + "\r\n\r\n")
}

// lenient passes answers on without their Location, which http.Client would read: it refuses addresses that Python
// takes. The jar's cookies are not sent where the user names some.
type lenient struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l lenient) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(req)
	if err == nil {
		if where, ok := res.Header["Location"]; ok {
			res.Header[keptLocation] = where
			delete(res.Header, "Location")
		}
	}
	return res, err
}

// givenBack puts the kept headers where they belong.
func givenBack(h http.Header) {
	for name, kept := range map[string]string{
		"Location": keptLocation, "Content-Length": keptLength, "Connection": keptConnection,
	} {
		if vals, ok := h[kept]; ok {
			h[name] = slices.Clone(vals)
			delete(h, kept)
		}
	}
}
