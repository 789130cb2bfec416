package builtin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hark/modules/modtest"
)

// crossroads sends everybody from /start on, from /loop back to itself, and tells at /end how it was asked.
func crossroads(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/start", http.RedirectHandler("/end", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{`c="two words"`}
		fmt.Fprintf(w, "%s %q %q", r.Method, r.Header.Get("X-Test"), r.Header.Get("Cache-Control"))
		w.(http.Flusher).Flush()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestURIFollowsAsItIsTold(t *testing.T) {
	s := crossroads(t)
	for _, c := range []struct {
		follow, method string
		status         int
	}{
		{"all", "POST", 200}, {"safe", "POST", 302}, {"urllib2", "POST", 200}, {"none", "GET", 302}, {"safe", "GET", 200},
	} {
		args := map[string]any{"url": s.URL + "/start", "follow_redirects": c.follow, "method": c.method, "status_code": c.status, "return_content": c.status == 200}
		r := URI.Run(t.Context(), plainEnv(t), modtest.Args(args))
		content, _ := modtest.Entry(r, "content").(string)
		if r.Failed || c.status == 200 && !strings.HasPrefix(content, "GET ") {
			t.Errorf("%s of %s: %+v", c.method, c.follow, r)
		}
		if r.Data.Has("body") != (c.status == 302) {
			t.Errorf("%s of %s has body %v", c.method, c.follow, modtest.Entry(r, "body"))
		}
	}
}

func TestURISaysThatRedirectsDoNotEnd(t *testing.T) {
	r := URI.Run(t.Context(), plainEnv(t), modtest.Args(map[string]any{"url": crossroads(t).URL + "/loop"}))
	want := "Status code was 302 and not [200]: HTTP Error 302: The HTTP server returned a redirect error that would lead to an infinite loop.\n" +
		"The last 30x error message was:\nFound"
	if !r.Failed || r.Msg != want || modtest.Entry(r, "status") != int64(302) {
		t.Errorf("%+v", r)
	}
}

func TestURITellsWhatWasSentAsItWas(t *testing.T) {
	args := map[string]any{"url": crossroads(t).URL + "/end", "return_content": true, "force": true, "headers": map[string]any{"X-Test": "é"}}
	r := URI.Run(t.Context(), plainEnv(t), modtest.Args(args))
	if got, want := modtest.Entry(r, "content"), `GET "\xe9" ""`; got != want {
		t.Errorf("the server saw %v, want %s", got, want)
	}
	if modtest.Entry(r, "connection") != "close" || modtest.Entry(r, "transfer_encoding") != "chunked" || modtest.Entry(r, "cookies_string") != `c="two words"` {
		t.Errorf("%+v", r.Data)
	}
}

func TestGetURLTellsOfFilesWithoutAStatus(t *testing.T) {
	dir := t.TempDir()
	r := GetURL.Run(t.Context(), plainEnv(t), modtest.Args(map[string]any{"url": "file:///proc/self/comm", "dest": dir + "/f"}))
	if r.Failed || !strings.HasPrefix(r.Msg, "OK (") || modtest.Entry(r, "status_code") != nil {
		t.Errorf("%+v", r)
	}
}
