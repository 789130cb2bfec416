package httpx

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// onDemand sends a password to those who ask for it, and to nobody else: the server that the request is for, when it
// answers 401. Python's urllib does so unless force_basic_auth is set.
type onDemand struct {
	next           http.RoundTripper
	server         string // host:port
	user, password string
}

// RoundTrip implements http.RoundTripper.
func (d *onDemand) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := d.next.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusUnauthorized || req.Header.Get("Authorization") != "" ||
		addressOf(req.URL) != d.server || !wantsPassword(res.Header) {
		return res, err
	}
	again := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return res, nil // it cannot be sent twice
		}
		if again.Body, err = req.GetBody(); err != nil {
			return res, nil
		}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	res.Body.Close()
	again.SetBasicAuth(d.user, d.password)
	return d.next.RoundTrip(again)
}

// addressOf returns the host and port of a URL.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

// challenge matches a scheme of WWW-Authenticate with its realm.
var challenge = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|,)[ \t]*([^ \t,]+)[ \t]+realm=`)
})

// schemes returns the ways to log in that an answer offers, in lower case.
func schemes(h http.Header) []string {
	var out []string
	for _, text := range h.Values("Www-Authenticate") {
		for _, m := range challenge().FindAllStringSubmatch(text, -1) {
			out = append(out, strings.ToLower(m[1]))
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); len(out) == 0 && first != "" {
			out = append(out, strings.ToLower(first)+" without a realm")
		}
	}
	return out
}

func wantsPassword(h http.Header) bool {
	for _, s := range schemes(h) {
		if s == "basic" {
			return true
		}
	}
	return false
}

// unsupported says that a server wants a login that there is not, "" if it does not.
func unsupported(res *http.Response) string {
	if res.StatusCode != http.StatusUnauthorized || wantsPassword(res.Header) {
		return ""
	}
	for _, s := range schemes(res.Header) {
		switch s {
		case "digest", "negotiate", "ntlm", "negotiate without a realm", "ntlm without a realm":
			name, _, _ := strings.Cut(s, " ")
			return "; the server wants " + name + " authentication, which hark does not support"
		}
	}
	return ""
}
