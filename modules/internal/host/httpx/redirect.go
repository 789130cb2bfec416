package httpx

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// What Python's urllib allows: so many addresses, each so often.
const (
	maxHops    = 10
	maxRepeats = 4
)

// addressError says that an address cannot be read, in Python's words.
type addressError struct{ string }

func (e *addressError) Error() string { return e.string }

// remark is the message about a redirect that is not followed.
type remark struct{ before, after string }

func (m remark) around(reason string) string { return m.before + reason + m.after }

// follow sends a request, and follows redirects as RedirectHandler of Ansible's urls.py and HTTPRedirectHandler of
// Python do. It returns the last answer, and what there is to say of it if that is a redirect.
func (r Request) follow(client *http.Client, req *http.Request) (*http.Response, remark, error) {
	visited := map[string]int{}
	for {
		res, err := client.Do(req)
		if err != nil {
			return nil, remark{}, r.heard.worded(err)
		}
		if jar, ok := client.Jar.(*cookieJar); ok {
			jar.take(req.URL, res.Header)
		}
		to, said, err := target(req, res)
		if err != nil {
			res.Body.Close()
			return nil, remark{}, err
		}
		if to == nil || said != (remark{}) {
			return res, said, nil
		}
		next, err := r.next(req, res.StatusCode, to)
		if next == nil {
			return res, remark{}, err
		}
		if visited[to.String()] >= maxRepeats || len(visited) >= maxHops {
			return res, remark{before: "The HTTP server returned a redirect error that would lead to an infinite loop.\n" +
				"The last 30x error message was:\n"}, nil
		}
		visited[to.String()]++
		res.Body.Close()
		req = next
	}
}

// target returns where an answer sends on to, nil if it does not.
func target(req *http.Request, res *http.Response) (*url.URL, remark, error) {
	if !slices.Contains([]int{301, 302, 303, 307, 308}, res.StatusCode) {
		return nil, remark{}, nil
	}
	where, ok := res.Header[keptLocation]
	if !ok {
		if where, ok = res.Header["Uri"]; !ok {
			return nil, remark{}, nil
		}
	}
	text := strings.TrimSpace(where[0])
	if kind, _, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(kind, "/?#") &&
		!slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(kind)) {
		return nil, remark{after: fmt.Sprintf(" - Redirection to url '%s' is not allowed", fromLatin1(text))}, nil
	}
	if why := unreadable("http:" + text[max(0, strings.Index(text, "//")):]); strings.Contains(text, "//") && why != "" {
		return nil, remark{}, &addressError{why}
	}
	to, err := req.URL.Parse(quoted(text))
	if err != nil {
		return nil, remark{}, &addressError{err.Error()}
	}
	if to.Path == "" {
		to.Path = "/"
	}
	return to, remark{}, nil
}

// quoted writes the bytes of an address that are no ASCII letters, digits or signs as %XX.
func quoted(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// next returns the request that follows a redirect, nil if none does.
func (r Request) next(req *http.Request, code int, to *url.URL) (*http.Request, error) {
	method, keep := req.Method, code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case r.Follow == "urllib2" && (reads || method == http.MethodPost && !keep):
		method, keep = http.MethodGet, false
	case r.Follow == "urllib2", r.Follow == "no", r.Follow != "all" && !reads:
		return nil, nil
	case keep, method == http.MethodHead:
	case code == http.StatusSeeOther, code == http.StatusFound,
		code == http.StatusMovedPermanently && method == http.MethodPost:
		method = http.MethodGet
	}
	if to.Scheme == "ftp" {
		return nil, errors.New("unknown url type: ftp")
	}
	next, err := http.NewRequestWithContext(req.Context(), method, to.String(), nil)
	if err != nil {
		return nil, &addressError{err.Error()}
	}
	next.Header = req.Header.Clone()
	if req.Host != req.URL.Host {
		next.Host = req.Host // a header of the user
	}
	if keep && req.GetBody != nil {
		if next.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
		next.ContentLength, next.GetBody = req.ContentLength, req.GetBody
	}
	if !keep {
		next.Header.Del("Content-Type")
		next.Header.Del("Content-Length")
		next.Header.Del("Transfer-Encoding")
	}
	if !r.names("cookie") {
		next.Header.Del("Cookie") // the jar's are put in anew
	}
	if addressOf(to) != addressOf(req.URL) { // Ansible sends them on; they are for the host that was named
		next.Header.Del("Authorization")
		next.Header.Del("Cookie")
	}
	for _, name := range r.Unredirected {
		next.Header.Del(name)
	}
	return next, nil
}
