package builtin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// asking is a server that wants a password in a scheme, and notes what it was sent: path, user and body.
func asking(t *testing.T, challenge string) (url string, seen *[]string) {
	t.Helper()
	seen = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		*seen = append(*seen, fmt.Sprintf("%s %s:%s %s", r.URL.Path, user, password, body))
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
			return
		}
		if user != "me" || password != "sesame" {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "in")
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

// TestPasswordsGoToWhoAsksForThem, as Python's urllib sends them: after a 401 that wants basic authentication, once, to
// the server that the request is for.
func TestPasswordsGoToWhoAsksForThem(t *testing.T) {
	const basic = `Basic realm="x"`
	for name, c := range map[string]struct {
		challenge string
		args      map[string]any
		status    int64
		want      string
	}{
		"asked":            {basic, map[string]any{}, 200, "/p : |/p me:sesame "},
		"with a body":      {basic, map[string]any{"method": "POST", "body": "b"}, 200, "/p : b|/p me:sesame b"},
		"another scheme":   {`Bearer realm="x", ` + basic, map[string]any{}, 200, "/p : |/p me:sesame "},
		"at once":          {basic, map[string]any{"force_basic_auth": true}, 200, "/p me:sesame "},
		"a wrong password": {basic, map[string]any{"password": "x"}, 401, "/p : |/p me:x "},
		"digest":           {`Digest realm="x", nonce="1"`, map[string]any{}, 401, "/p : "},
		"no challenge":     {"", map[string]any{}, 401, "/p : "},
	} {
		url, seen := asking(t, c.challenge)
		args := map[string]any{"user": "me", "password": "sesame", "url": url + "/p", "status_code": c.status}
		for k, v := range c.args {
			args[k] = v
		}
		r := URI.Run(context.Background(), plainEnv(t), modtest.Args(args))
		if got := strings.Join(*seen, "|"); r.Failed || got != c.want {
			t.Errorf("%s: %q, want %q (%s)", name, got, c.want, r.Msg)
		}
		if name == "digest" && !strings.Contains(r.Msg, "digest authentication, which hark does not support") {
			t.Errorf("%s: %s", name, r.Msg)
		}
	}
	url, seen := asking(t, basic)
	dest := filepath.Join(t.TempDir(), "f")
	r := GetURL.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{
		"url": url + "/p", "dest": dest, "url_username": "me", "url_password": "sesame"}))
	if got := strings.Join(*seen, "|"); r.Failed || got != "/p : |/p me:sesame " {
		t.Errorf("get_url: %q (%s)", got, r.Msg)
	}
	other, told := asking(t, basic)
	URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{
		"url": url + "/elsewhere?to=" + other + "/p", "user": "me", "password": "sesame", "status_code": int64(401)}))
	if got := strings.Join(*told, "|"); got != "/p : " {
		t.Errorf("another server was told %q", got)
	}
}

// TestCookiesAreAllThatWereSet: whatever their path, in the order of Python's jar, without those that a server has
// taken back or may not set.
func TestCookiesAreAllThatWereSet(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		want string
	}{
		"a path elsewhere":   {[]string{"sid=1; Path=/app"}, "sid=1"},
		"several paths":      {[]string{"a=1; Path=/x", "b=2; Path=/", "c=3; Path=/x"}, "a=1; c=3; b=2"},
		"set twice":          {[]string{"a=1; Path=/", "a=2; Path=/"}, "a=2"},
		"taken back":         {[]string{"a=1; Path=/", "b=2; Path=/", "a=x; Path=/; Max-Age=0"}, "b=2"},
		"of another domain":  {[]string{"a=1; Domain=example.org", "b=2"}, "b=2"},
		"secure, over http":  {[]string{"a=1; Secure; HttpOnly"}, "a=1"},
		"with quotation":     {[]string{`a="x y"`}, `a="x y"`},
		"of the past":        {[]string{"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, ""},
		"the same elsewhere": {[]string{"a=1; Path=/x", "a=2; Path=/y"}, "a=1; a=2"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, text := range c.set {
				w.Header().Add("Set-Cookie", text)
			}
		}))
		r := URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL + "/login"}))
		s.Close()
		if got := modtest.Entry(r, "cookies_string"); r.Failed || got != c.want {
			t.Errorf("%s: %v, want %s (%s)", name, got, c.want, r.Msg)
		}
	}
}

// TestAnswersAreReadInTheirCharset, as text and as JSON.
func TestAnswersAreReadInTheirCharset(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, content, json string }{
		"Latin-1":      {"text/plain; charset=iso-8859-1", "caf\xe9", "café", ""},
		"quoted":       {`text/plain; charset="ISO-8859-1"`, "caf\xe9", "café", ""},
		"UTF-16":       {"application/json; charset=utf-16", "\xff\xfe{\x00}\x00", "{}", "{}"},
		"none":         {"text/plain", "caf\xc3\xa9", "café", ""},
		"none, no UTF": {"text/plain", "caf\xe9", "caf\xe9", ""},
		"JSON":         {"application/json; charset=iso-8859-1", "{\"a\": \"\xe9\"}", "{\"a\": \"é\"}", "{'a': 'é'}"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = io.WriteString(w, c.body)
		}))
		r := URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL, "return_content": true}))
		s.Close()
		if got := modtest.Entry(r, "content"); r.Failed || got != c.content {
			t.Errorf("%s: %q, want %q (%s)", name, got, c.content, r.Msg)
		}
		if got := modules.Repr(modtest.Entry(r, "json")); c.json != "" && got != c.json {
			t.Errorf("%s: json is %s, want %s", name, got, c.json)
		}
	}
}
