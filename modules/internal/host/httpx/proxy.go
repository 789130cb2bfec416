package httpx

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// proxySettings are the proxies by scheme, and the hosts that are reached without.
type proxySettings struct {
	byScheme map[string]string
	none     string
}

// proxies reads the proxy variables of the task's environment as Python's urllib does: lower case wins over upper case,
// even where it is empty, and a CGI program does not take HTTP_PROXY, which a client may have set.
func proxies(environ []string) proxySettings {
	s := proxySettings{byScheme: map[string]string{}}
	read := func(lower bool) {
		for _, kv := range environ {
			name, val, _ := strings.Cut(kv, "=")
			scheme, ok := strings.CutSuffix(strings.ToLower(name), "_proxy")
			switch {
			case !ok || lower && name != strings.ToLower(name):
			case val != "":
				s.byScheme[scheme] = val
			case lower:
				delete(s.byScheme, scheme)
			}
		}
	}
	read(false)
	for _, kv := range environ {
		if strings.HasPrefix(kv, "REQUEST_METHOD=") {
			delete(s.byScheme, "http")
		}
	}
	read(true)
	s.none = s.byScheme["no"]
	return s
}

// of returns the proxy of a request, nil for none.
func (s proxySettings) of(req *http.Request) (*url.URL, error) {
	proxy := s.byScheme[req.URL.Scheme]
	if proxy == "" || s.bypassed(strings.ToLower(req.URL.Host), strings.ToLower(req.URL.Hostname())) {
		return nil, nil
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	u, err := url.Parse(proxy)
	if err == nil && u.Scheme == "https" && req.URL.Scheme == "https" {
		u.Scheme = "http" // urllib asks for a tunnel in plain text, whatever the proxy's address says
	}
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		err = fmt.Errorf("unknown url type: %s", u.Scheme)
	}
	return u, err
}

// bypassed reports whether a host is reached without a proxy: one that no_proxy names, with its port or without, and
// one below such a name. A star alone means all.
func (s proxySettings) bypassed(hostPort, host string) bool {
	if s.none == "*" {
		return true
	}
	for name := range strings.SplitSeq(s.none, ",") {
		name = strings.ToLower(strings.TrimLeft(strings.TrimSpace(name), "."))
		if name == "" {
			continue
		}
		if host == name || hostPort == name || strings.HasSuffix(host, "."+name) || strings.HasSuffix(hostPort, "."+name) {
			return true
		}
	}
	return false
}
