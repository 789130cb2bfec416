// Package auth decides who may read the pages of a console: somebody on the same machine who has its random key, an
// operator who signed in with the key of operators, or somebody for whom a listed proxy vouches. It lets nobody
// write: all that passes are GET and HEAD.
package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// sessionLife is for how long somebody stays signed in.
const sessionLife = 12 * time.Hour

// Config says who may come in. The zero value lets nobody in.
type Config struct {
	// Secret signs cookies; who stays signed in over a restart has been given one of the same secret. It is at least
	// 32 bytes.
	Secret []byte
	// Key lets in who brings it in an address (?k=); "" is no such way.
	Key string
	// Token lets programs read /metrics (Authorization: Bearer); "" is no such way.
	Token string
	// Names are what the console may be called by besides the names of the loopback: hosts without ports.
	Names []string
	// TLS says that browsers reach it by https, and Digest is that of its certificate, to which signatures are bound.
	TLS    bool
	Digest [sha256.Size]byte
	// Operators are who may sign in: names by public key.
	Operators map[string]string
	// Header is the name that a proxy with an address in Proxies vouches for; "" is no such way.
	Header  string
	Proxies []netip.Prefix
	// Port tells the cookies of consoles on one machine apart.
	Port string
	Now  func() time.Time
}

// Gate stands before all pages. It is safe for concurrent use.
type Gate struct {
	c Config
	// refuse writes the page for who is not let in.
	refuse func(w http.ResponseWriter, r *http.Request, status int, text string)

	mu     sync.Mutex
	nonces []nonce // that may still be signed, the oldest first; guarded by mu
}

// New makes a gate; refuse writes what is said to those who do not pass.
func New(c Config, refuse func(w http.ResponseWriter, r *http.Request, status int, text string)) *Gate {
	return &Gate{c: c, refuse: refuse}
}

// who is the key under which a request's context has the name of the reader.
type who struct{}

// Who is the name of the one who reads, "" if nobody knows it: who has the key of a console on the loopback.
func Who(ctx context.Context) string {
	name, _ := ctx.Value(who{}).(string)
	return name
}

// Wrap is next behind the gate. What lies under /static/ is for everybody.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		if status, text := g.misdirected(r); status != 0 {
			g.refuse(w, r, status, text)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/static/"):
			next.ServeHTTP(w, r)
		case r.URL.Path == ChallengePath:
			g.challenge(w, r)
		case r.URL.Path == LoginPath:
			g.login(w, r)
		case r.URL.Query().Has("k"):
			g.byKey(w, r)
		default:
			name, ok := g.knows(r)
			if !ok {
				g.refuse(w, r, http.StatusUnauthorized, g.howToSignIn())
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), who{}, name)))
		}
	})
}

// headers are those of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// misdirected tells requests apart that no page of ours makes: by another name (somebody's domain that points here),
// from another site, or with a method that changes things.
func (g *Gate) misdirected(r *http.Request) (status int, text string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "The console only shows: it takes GET and nothing else."
	case !g.called(r.Host):
		return http.StatusMisdirectedRequest, "This console does not go by the name in the address. Start it with --name to give it one more."
	case !g.ours(r):
		return http.StatusForbidden, "Another site asked for this page."
	}
	return 0, ""
}

// called reports whether the console goes by a name.
func (g *Gate) called(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if slices.Contains(g.c.Names, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// ours reports whether a request comes of a page of the console, or of a person who opens one.
func (g *Gate) ours(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Host == r.Host && u.Scheme == g.scheme(r)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (g *Gate) scheme(r *http.Request) string {
	if g.c.TLS || r.TLS != nil {
		return "https"
	}
	if g.proxied(r) && r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}

// byKey lets in who brings the key, and takes it out of the address.
func (g *Gate) byKey(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if g.c.Key == "" || subtle.ConstantTimeCompare([]byte(q.Get("k")), []byte(g.c.Key)) != 1 {
		g.refuse(w, r, http.StatusForbidden, "The key in the address is not that of this console: take the address that it printed when it started.")
		return
	}
	q.Del("k")
	g.admit(w, r, "", "/"+strings.TrimLeft(r.URL.Path, "/"), q)
}

// admit gives the cookie, and sends the browser on.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, name, path string, q url.Values) {
	// Lax, since links from elsewhere shall lead to what they name; no request changes anything, and pages of others
	// may only lead here.
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie(), Value: g.session(name), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: g.scheme(r) == "https",
		MaxAge: int(sessionLife / time.Second),
	})
	to := url.URL{Path: path, RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (g *Gate) cookie() string { return "hark-console-" + g.c.Port }

// pass is what a cookie says.
type pass struct {
	Who   string    `json:"who"`
	Until time.Time `json:"until"`
}

// session is a signed pass.
func (g *Gate) session(name string) string {
	text, _ := json.Marshal(pass{name, g.c.Now().Add(sessionLife)}) // of strings and a time
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(g.sum(text))
}

func (g *Gate) sum(text []byte) []byte {
	m := hmac.New(sha256.New, g.c.Secret)
	m.Write([]byte("console session\n"))
	m.Write(text)
	return m.Sum(nil)
}

// knows returns who sent a request.
func (g *Gate) knows(r *http.Request) (name string, ok bool) {
	if g.c.Token != "" && r.URL.Path == "/metrics" {
		given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if found && subtle.ConstantTimeCompare([]byte(given), []byte(g.c.Token)) == 1 {
			return "", true
		}
	}
	if g.c.Header != "" && g.proxied(r) {
		if names := r.Header.Values(g.c.Header); len(names) == 1 && names[0] != "" {
			return names[0], true
		}
	}
	for _, c := range r.CookiesNamed(g.cookie()) {
		if p, ok := g.read(c.Value); ok && g.still(p) {
			return p.Who, true
		}
	}
	return "", false
}

// still reports whether the way by which somebody was let in is open: an operator who is taken from the list is out
// with the next start.
func (g *Gate) still(p pass) bool {
	if p.Who == "" {
		return g.c.Key != ""
	}
	for _, name := range g.c.Operators {
		if name == p.Who {
			return true
		}
	}
	return false
}

func (g *Gate) read(value string) (pass, bool) {
	body, sum, found := strings.Cut(value, ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	given, err2 := base64.RawURLEncoding.DecodeString(sum)
	if !found || err != nil || err2 != nil || !hmac.Equal(given, g.sum(text)) {
		return pass{}, false
	}
	var p pass
	if json.Unmarshal(text, &p) != nil || g.c.Now().After(p.Until) {
		return pass{}, false
	}
	return p, true
}

// proxied reports whether the other end of a request's connection is a listed proxy.
func (g *Gate) proxied(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || g.c.Header == "" {
		return false
	}
	return slices.ContainsFunc(g.c.Proxies, func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap()) })
}

func (g *Gate) howToSignIn() string {
	switch {
	case g.c.Key != "":
		return "Take the address that `hark console` printed when it started: it has the key that lets you in."
	case len(g.c.Operators) > 0:
		return "Sign in with your operator's key: `hark console login` with the address of this page."
	case g.c.Header != "":
		return "Come by the proxy that knows you: this console takes its word."
	}
	return "This console lets nobody in."
}
