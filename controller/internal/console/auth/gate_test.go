package auth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/console/auth"
)

// door is a gate before a page that says who reads it.
type door struct {
	http.Handler
	now time.Time
}

func open(c auth.Config) *door {
	d := &door{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	c.Secret = bytes.Repeat([]byte{7}, 32)
	c.Now = func() time.Time { return d.now }
	c.Port = "8470"
	g := auth.New(c, func(w http.ResponseWriter, _ *http.Request, status int, text string) { http.Error(w, text, status) })
	d.Handler = g.Wrap(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "for %q", auth.Who(r.Context())) }))
	return d
}

// ask sends a request; change is made to it before.
func (d *door) ask(target string, change ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8470"+target, nil)
	r.RemoteAddr = "127.0.0.1:5555"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result()
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}
func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// with shows the cookies of an answer.
func with(a *http.Response) func(*http.Request) {
	return func(r *http.Request) {
		for _, c := range a.Cookies() {
			r.AddCookie(c)
		}
	}
}

func expect(t *testing.T, what string, a *http.Response, status int) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s: %s, want %d", what, a.Status, status)
	}
}

func TestKeyLetsInAndIsTakenOutOfTheAddress(t *testing.T) {
	d := open(auth.Config{Key: "s3cret"})
	expect(t, "without cookie", d.ask("/runs/x"), http.StatusUnauthorized)
	expect(t, "with another key", d.ask("/?k=guess"), http.StatusForbidden)
	expect(t, "with no key", d.ask("/?k="), http.StatusForbidden)
	in := d.ask("/runs/x?k=s3cret&page=2")
	expect(t, "with the key", in, http.StatusSeeOther)
	if to := in.Header.Get("Location"); to != "/runs/x?page=2" {
		t.Errorf("sent on to %q", to)
	}
	c := in.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is open to scripts or other sites: %s", c)
	}
	expect(t, "with the cookie", d.ask("/runs/x", with(in)), http.StatusOK)
	d.now = d.now.Add(13 * time.Hour)
	expect(t, "with the cookie of yesterday", d.ask("/", with(in)), http.StatusUnauthorized)
	if to := d.ask("//evil.example/?k=s3cret").Header.Get("Location"); to != "/evil.example/" {
		t.Errorf("a visitor is sent to another site: %q", to)
	}
}

func TestForgedCookiesAreRefused(t *testing.T) {
	d := open(auth.Config{Key: "s3cret"})
	value := d.ask("/?k=s3cret").Cookies()[0].Value
	body, sum, _ := strings.Cut(value, ".")
	pass := base64.RawURLEncoding.EncodeToString([]byte(`{"who":"","until":"2099-01-01T00:00:00Z"}`))
	for _, forged := range []string{pass + "." + sum, body, body + ".", "." + sum, value + "A", "", pass + "." +
		base64.RawURLEncoding.EncodeToString(make([]byte, 32))} {
		a := d.ask("/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "hark-console-8470", Value: forged}) })
		expect(t, fmt.Sprintf("%q", forged), a, http.StatusUnauthorized)
	}
}

func TestOtherNamesAndOtherSitesAreRefused(t *testing.T) {
	d := open(auth.Config{Key: "k", Names: []string{"console.example.org"}})
	in := with(d.ask("/?k=k"))
	for _, name := range []string{"evil.example", "evil.example:8470", "127.0.0.1.evil.example", "10.0.0.1", "",
		"localhost.evil.example"} {
		expect(t, "called "+name, d.ask("/", in, host(name)), http.StatusMisdirectedRequest)
		expect(t, "with the key, called "+name, d.ask("/?k=k", host(name)), http.StatusMisdirectedRequest)
	}
	for _, name := range []string{"localhost:8470", "[::1]:8470", "127.0.0.1", "LOCALHOST", "console.example.org:8470"} {
		expect(t, "called "+name, d.ask("/", in, host(name)), http.StatusOK)
	}
	for _, origin := range []string{"http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8470",
		"http://localhost:8470"} {
		expect(t, "from "+origin, d.ask("/", in, header("Origin", origin)), http.StatusForbidden)
	}
	expect(t, "from itself", d.ask("/", in, header("Origin", "http://127.0.0.1:8470")), http.StatusOK)
	expect(t, "as a picture of another site", d.ask("/", in, header("Sec-Fetch-Site", "cross-site"),
		header("Sec-Fetch-Mode", "no-cors"), header("Sec-Fetch-Dest", "image")), http.StatusForbidden)
	expect(t, "in a frame of another site", d.ask("/", in, header("Sec-Fetch-Site", "cross-site"),
		header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")), http.StatusForbidden)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		expect(t, method, d.ask("/", in, func(r *http.Request) { r.Method = method }), http.StatusMethodNotAllowed)
	}
}

func TestEveryAnswerForbidsScriptsThatAreNotOurs(t *testing.T) {
	d := open(auth.Config{Key: "k"})
	for _, a := range []*http.Response{d.ask("/"), d.ask("/?k=k"), d.ask("/", with(d.ask("/?k=k"))), d.ask("/static/x"),
		d.ask("/", host("evil"))} {
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %q", a.Status, policy)
		}
	}
}

func TestProxyIsBelievedOnlyFromItsAddress(t *testing.T) {
	d := open(auth.Config{Header: "X-Forwarded-User", Proxies: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		Names: []string{"c.example"}})
	as := func(from string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = from } }
	anna := header("X-Forwarded-User", "anna")
	expect(t, "from the proxy", d.ask("/", as("10.1.2.3:4000"), anna), http.StatusOK)
	expect(t, "from elsewhere", d.ask("/", as("10.2.2.3:4000"), anna), http.StatusUnauthorized)
	expect(t, "from the proxy without a name", d.ask("/", as("10.1.2.3:4000")), http.StatusUnauthorized)
	two := func(r *http.Request) { r.Header["X-Forwarded-User"] = []string{"anna", "root"} }
	expect(t, "with two names", d.ask("/", as("10.1.2.3:4000"), two), http.StatusUnauthorized)
}

func TestMetricsHaveATokenOfTheirOwn(t *testing.T) {
	d := open(auth.Config{Key: "k", Token: "scrape"})
	expect(t, "metrics", d.ask("/metrics", header("Authorization", "Bearer scrape")), http.StatusOK)
	expect(t, "metrics with another", d.ask("/metrics", header("Authorization", "Bearer x")), http.StatusUnauthorized)
	expect(t, "a page", d.ask("/", header("Authorization", "Bearer scrape")), http.StatusUnauthorized)
}

func TestOperatorsSignInOnce(t *testing.T) {
	anna, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	eve, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("certificate"))
	d := open(auth.Config{Operators: map[string]string{anna.Key: "anna"}, TLS: true, Digest: digest})
	link := func(by *wire.Identity, key string, digest [sha256.Size]byte) string {
		var c auth.Challenge
		if err := json.NewDecoder(d.ask(auth.ChallengePath).Body).Decode(&c); err != nil {
			t.Fatal(err)
		}
		sig, err := by.Sign(auth.Statement(c.Nonce, digest))
		if err != nil {
			t.Fatal(err)
		}
		return auth.LoginPath + "?" + url.Values{"nonce": {c.Nonce}, "key": {key},
			"sig": {base64.RawURLEncoding.EncodeToString(sig)}}.Encode()
	}
	mine := link(anna, anna.Key, digest)
	in := d.ask(mine)
	expect(t, "signed", in, http.StatusSeeOther)
	if !in.Cookies()[0].Secure {
		t.Error("the cookie may travel without TLS")
	}
	var b bytes.Buffer
	_, _ = b.ReadFrom(d.ask("/", with(in)).Body)
	if b.String() != `for "anna"` {
		t.Errorf("the page is %s", b.String())
	}
	expect(t, "the same link again", d.ask(mine), http.StatusForbidden)
	expect(t, "signed for another server", d.ask(link(anna, anna.Key, sha256.Sum256([]byte("another")))),
		http.StatusForbidden)
	expect(t, "signed by nobody listed", d.ask(link(eve, eve.Key, digest)), http.StatusForbidden)
	expect(t, "signed in another's name", d.ask(link(eve, anna.Key, digest)), http.StatusForbidden)
	old := link(anna, anna.Key, digest)
	d.now = d.now.Add(3 * time.Minute)
	expect(t, "signed long ago", d.ask(old), http.StatusForbidden)
	for range 1000 {
		d.ask(auth.ChallengePath)
	}
	expect(t, "after many challenges", d.ask(link(anna, anna.Key, digest)), http.StatusSeeOther)
}

func TestLinkIsBoundToTheCertificateThatWasShown(t *testing.T) {
	anna, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	digest := sha256.Sum256(s.Certificate().Raw)
	s.Config.Handler = open(auth.Config{Operators: map[string]string{anna.Key: "anna"}, TLS: true, Digest: digest})
	link, err := auth.Link(context.Background(), s.URL, auth.Signer{Key: anna.Key, Sign: anna.Sign})
	if err != nil {
		t.Fatal(err)
	}
	client := s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a, err := client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	expect(t, "the link", a, http.StatusSeeOther)
	for _, bad := range []string{"", "console", "ftp://x", "http://console.example.org"} {
		if _, err := auth.Link(context.Background(), bad, auth.Signer{}); err == nil {
			t.Errorf("%q is taken for the address of a console", bad)
		}
	}
}
