package httpx

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Cookie is a cookie as Python's jar has it. One without "=" has no value.
type Cookie struct {
	Name, Value string
	HasValue    bool
}

// cookieJar keeps what servers set, and remembers all of it: Python's results have the cookies of the whole jar, not
// only those that would be sent to the same URL again.
type cookieJar struct {
	http.CookieJar
	off bool // the user names the cookies that are sent

	mu   sync.Mutex
	kept []keptCookie // in the order of Python's jar; guarded by mu
}

type keptCookie struct {
	domain, path string
	Cookie
}

// Cookies implements http.CookieJar.
func (j *cookieJar) Cookies(u *url.URL) []*http.Cookie {
	if j.off {
		return nil
	}
	return j.CookieJar.Cookies(u)
}

// take notes the cookies of an answer, as the class CookieJar of Python reads those of Netscape.
func (j *cookieJar) take(u *url.URL, header http.Header) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range header.Values("Set-Cookie") {
		if name, attrs, ok := parseCookie(fromLatin1(line)); ok {
			j.keep(u, name, attrs)
		}
	}
}

// parseCookie reads a header Set-Cookie. Of an attribute that stands twice the first counts. ok is false for a cookie
// that is none.
func parseCookie(line string) (c Cookie, attrs map[string]string, ok bool) {
	attrs = map[string]string{}
	for i, part := range strings.Split(line, ";") {
		key, val, has := strings.Cut(strings.TrimSpace(part), "=")
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		switch name := strings.ToLower(key); {
		case i == 0 && key == "":
			return c, nil, false
		case i == 0:
			c = Cookie{key, val, has}
		case key == "":
		case !has && (name == "domain" || name == "path" || name == "version" || name == "max-age"):
			return c, nil, false
		case name == "max-age":
			if _, err := strconv.Atoi(val); err != nil {
				return c, nil, false
			}
			fallthrough
		default:
			if _, twice := attrs[name]; !twice {
				attrs[name] = val
			}
		}
	}
	return c, attrs, true
}

// expired reports whether a cookie is over. A time that cannot be read is none.
func expired(attrs map[string]string) bool {
	if age, ok := attrs["max-age"]; ok {
		n, err := strconv.Atoi(age)
		return err == nil && n <= 0
	}
	for _, format := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(format, strings.Trim(attrs["expires"], `"`)); err == nil {
			return !at.After(time.Now())
		}
	}
	return false
}

// keep notes one cookie. It assumes mu held.
func (j *cookieJar) keep(u *url.URL, c Cookie, attrs map[string]string) {
	host := strings.ToLower(u.Hostname())
	k := keptCookie{host, attrs["path"], c}
	if domain, ok := attrs["domain"]; ok {
		if k.domain = "." + strings.ToLower(strings.TrimPrefix(domain, ".")); !allows(host, k.domain) {
			return
		}
	}
	if ports, ok := attrs["port"]; ok && ports != "" && !allowsPort(ports, u) {
		return
	}
	if k.path == "" {
		k.path = "/"
		if i := strings.LastIndexByte(u.EscapedPath(), '/'); i > 0 {
			k.path = u.EscapedPath()[:i]
		}
	}
	at := slices.IndexFunc(j.kept, func(x keptCookie) bool {
		return x.domain == k.domain && x.path == k.path && x.Name == k.Name
	})
	gone := expired(attrs)
	switch {
	case gone && at >= 0:
		j.kept = slices.Delete(j.kept, at, at+1)
	case gone:
	case at >= 0:
		j.kept[at] = k
	default:
		j.kept = slices.Insert(j.kept, j.place(k), k)
	}
}

// place returns where a new cookie belongs: behind those of its domain and path, which stand in the order in which
// they were first set. It assumes mu held.
func (j *cookieJar) place(k keptCookie) int {
	end := len(j.kept)
	for i := end - 1; i >= 0; i-- {
		if j.kept[i].domain == k.domain {
			if end == len(j.kept) {
				end = i + 1
			}
			if j.kept[i].path == k.path {
				return i + 1
			}
		}
	}
	return end
}

// allows reports whether a host may set a cookie for a domain, which begins with a dot.
func allows(host, domain string) bool {
	if net.ParseIP(host) == nil && !strings.Contains(host, ".") {
		host += ".local"
	}
	return (strings.Contains(domain[1:], ".") || domain == ".local") && strings.HasSuffix("."+host, domain)
}

// allowsPort reports whether a list of ports names that of a request.
func allowsPort(ports string, u *url.URL) bool {
	_, own, _ := strings.Cut(addressOf(u), ":")
	for _, p := range strings.Split(strings.Join(strings.Fields(ports), ""), ",") {
		if _, err := strconv.Atoi(p); err != nil {
			return false
		}
		if p == own {
			return true
		}
	}
	return false
}

// all returns the cookies of the jar.
func (j *cookieJar) all() []Cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Cookie
	for _, k := range j.kept {
		out = append(out, k.Cookie)
	}
	return out
}
