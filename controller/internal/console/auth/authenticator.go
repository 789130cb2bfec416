// Package auth decides who may read the pages of a console: a user of the same machine who has its random key, an
// operator who signed in with the operator's key, or a user named by a listed proxy. Nobody may write: only GET and
// HEAD pass.
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

// sessionLife is how long a user stays signed in.
const sessionLife = 12 * time.Hour

// Config says who may read. The zero value admits nobody.
type Config struct {
	// Secret signs cookies; they stay valid over a restart with the same secret. It has at least 32 bytes.
	Secret []byte
	// Key admits whoever has it in an address (?k=); "" admits nobody so.
	Key string
	// Token admits programs to /metrics (Authorization: Bearer); "" admits none.
	Token string
	// Names are the console's host names, without ports, beside those of the loopback.
	Names []string
	// TLS says that browsers use https. Digest is that of the certificate, to which signatures are bound.
	TLS    bool
	Digest [sha256.Size]byte
	// Operators are the operators who may sign in: names by public key.
	Operators map[string]string
	// Header is the header in which a proxy with an address in Proxies names the user; "" accepts none.
	Header  string
	Proxies []netip.Prefix
	// Port separates the cookies of consoles on one machine.
	Port string
	Now  func() time.Time
}

// Authenticator checks every request for a page. It is safe for concurrent use.
type Authenticator struct {
	c Config
	// refuse writes the page for a request that is not admitted.
	refuse func(w http.ResponseWriter, r *http.Request, status int, text string)

	mu     sync.Mutex
	nonces []nonce // that may still be signed, the oldest first; guarded by mu
}

// New returns an Authenticator. refuse writes the answer to requests that it does not admit.
func New(c Config, refuse func(w http.ResponseWriter, r *http.Request, status int, text string)) *Authenticator {
	return &Authenticator{c: c, refuse: refuse}
}

// who is the key of the reader's name in a request's context.
type who struct{}

// Who returns the name of the reader, "" if it is not known, as with the key of a console on the loopback.
func Who(ctx context.Context) string {
	name, _ := ctx.Value(who{}).(string)
	return name
}

// Wrap returns next with the checks before it. Everybody may read what is below /static/.
func (g *Authenticator) Wrap(next http.Handler) http.Handler {
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

// headers sets the headers of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy",
		"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// misdirected recognises requests that no page of the console makes: with another host name (somebody's domain that
// points here), from another site, or with a method that changes things.
func (g *Authenticator) misdirected(r *http.Request) (status int, text string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "The console only shows: it takes GET and nothing else."
	case !g.called(r.Host):
		return http.StatusMisdirectedRequest,
			"This console does not go by the name in the address. Start it with --name to give it one more."
	case !g.ours(r):
		return http.StatusForbidden, "Another site asked for this page."
	}
	return 0, ""
}

// called reports whether a host is one of the console's names.
func (g *Authenticator) called(hostport string) bool {
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

// ours reports whether a request comes from a page of the console, or from a person who opens one.
func (g *Authenticator) ours(r *http.Request) bool {
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

func (g *Authenticator) scheme(r *http.Request) string {
	if g.c.TLS || r.TLS != nil {
		return "https"
	}
	if g.proxied(r) && r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}

// byKey admits a request with the key, and removes the key from the address.
func (g *Authenticator) byKey(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if g.c.Key == "" || subtle.ConstantTimeCompare([]byte(q.Get("k")), []byte(g.c.Key)) != 1 {
		g.refuse(w, r, http.StatusForbidden,
			"The key in the address is not that of this console: take the address that it printed when it started.")
		return
	}
	q.Del("k")
	g.admit(w, r, "", "/"+strings.TrimLeft(r.URL.Path, "/"), q)
}

// admit sets the cookie and redirects the browser.
func (g *Authenticator) admit(w http.ResponseWriter, r *http.Request, name, path string, q url.Values) {
	// Lax, so that links from elsewhere work. No request changes anything, and pages of other sites may only link here.
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie(), Value: g.session(name), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: g.scheme(r) == "https",
		MaxAge: int(sessionLife / time.Second),
	})
	to := url.URL{Path: path, RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (g *Authenticator) cookie() string { return "hark-console-" + g.c.Port }

// pass is the content of a cookie.
type pass struct {
	Who   string    `json:"who"`
	Until time.Time `json:"until"`
}

// session returns a signed pass.
func (g *Authenticator) session(name string) string {
	text, _ := json.Marshal(pass{name, g.c.Now().Add(sessionLife)}) // of strings and a time
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(g.sum(text))
}

func (g *Authenticator) sum(text []byte) []byte {
	m := hmac.New(sha256.New, g.c.Secret)
	m.Write([]byte("console session\n"))
	m.Write(text)
	return m.Sum(nil)
}

// knows returns who sent a request.
func (g *Authenticator) knows(r *http.Request) (name string, ok bool) {
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

// still reports whether the way in which a user was admitted is still open: an operator who is removed from the list is
// out after the next start.
func (g *Authenticator) still(p pass) bool {
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

func (g *Authenticator) read(value string) (pass, bool) {
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

// proxied reports whether a request comes from a listed proxy.
func (g *Authenticator) proxied(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || g.c.Header == "" {
		return false
	}
	return slices.ContainsFunc(g.c.Proxies, func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap()) })
}

func (g *Authenticator) howToSignIn() string {
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
