package galaxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"hark/modules/nss"
)

// limits of what a server may send.
const (
	maxAnswer  = 64 << 20
	maxArchive = 4 << 30
	maxMembers = 200_000
	patience   = 60 * time.Second
)

// request is one of HTTP.
type request struct {
	method, url string
	header      http.Header
	body        io.Reader
	insecure    bool
	timeout     time.Duration
}

// statusError is an answer that is no success.
type statusError struct {
	code   int
	reason string
	url    string
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP Error %d: %s", e.code, e.reason) }

// do sends the request. What comes back has a body to close, and is a success. Credentials go to no other host that
// an answer sends to: net/http sees to that.
func (r request) do(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, r.body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("User-Agent", "ansible-galaxy/2.14.18 (hark)")
	resp, err := r.client().Do(req)
	if err != nil {
		return nil, &networkError{urlWords(err), errors.Is(err, os.ErrDeadlineExceeded) || isTimeout(err), err}
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_, reason, _ := strings.Cut(resp.Status, " ")
	return nil, &statusError{code: resp.StatusCode, reason: reason, url: resp.Request.URL.String(), body: body}
}

func (r request) client() *http.Client {
	d := nss.Dialer{Timeout: r.timeout}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second, ResponseHeaderTimeout: r.timeout,
	}
	if r.insecure {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	t.RegisterProtocol("file", http.NewFileTransport(http.Dir("/"))) // as urllib does
	return &http.Client{Transport: t, CheckRedirect: r.follows}
}

// follows reports whether a redirection is followed: a server sends to other servers, and to no file of this machine.
func (r request) follows(to *http.Request, via []*http.Request) error {
	const most = 10
	switch {
	case len(via) >= most:
		return errors.New("stopped after 10 redirects")
	case to.URL.Scheme != "http" && to.URL.Scheme != "https":
		return fmt.Errorf("%s redirects to %s, which is no web server's", via[len(via)-1].URL, to.URL)
	}
	return nil
}

// networkError is a request that got no answer.
type networkError struct {
	text    string
	timeout bool
	cause   error
}

func (e *networkError) Error() string { return e.text }
func (e *networkError) Unwrap() error { return e.cause }

// twice returns a failure as Ansible prints one that has another for its cause.
func twice(err error) string { return err.Error() + ". " + err.Error() }

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// urlWords returns the words of Python's urllib.
func urlWords(err error) string {
	var (
		errno syscall.Errno
		dns   *net.DNSError
		where *url.Error
	)
	switch {
	case errors.As(err, &errno):
		words := errno.Error()
		return fmt.Sprintf("<urlopen error [Errno %d] %s>", int(errno), strings.ToUpper(words[:1])+words[1:])
	case errors.As(err, &dns):
		return "<urlopen error [Errno -2] Name or service not known>"
	case isTimeout(err):
		return "The read operation timed out"
	case errors.As(err, &where) && !strings.Contains(where.URL, "://"):
		return fmt.Sprintf("unknown url type: '%s'", where.URL)
	}
	return "<urlopen error " + err.Error() + ">"
}

// again reports whether a failure may pass by itself: the server is busy, or slow.
func again(err error) bool {
	var (
		status *statusError
		net    *networkError
	)
	if errors.As(err, &status) {
		return status.code == http.StatusTooManyRequests || status.code == 520 || status.code == http.StatusBadGateway
	}
	return errors.As(err, &net) && net.timeout
}

// patiently calls f until it succeeds, fails for good or has failed seven times, with longer and longer pauses.
func patiently[T any](ctx context.Context, pause func(context.Context, time.Duration) error,
	f func() (T, error)) (T, error) {
	for try := 0; ; try++ {
		v, err := f()
		if err == nil || try == 6 || !again(err) {
			return v, err
		}
		most := min(2<<try, 40)
		if err := pause(ctx, time.Duration(rand.IntN(most+1))*time.Second); err != nil {
			var none T
			return none, err
		}
	}
}

// read returns the whole answer to a request that asks for data.
func (r request) read(ctx context.Context) (data []byte, url string, err error) {
	resp, err := r.do(ctx)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return data, resp.Request.URL.String(), err
}
