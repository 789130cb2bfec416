package httpx

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hark/modules"
)

func TestLoginsAreFoundByHost(t *testing.T) {
	logins := parseNetrc("machine a login x password y\n macdef init\ndefault login guest password default\nmachine b account q login z")
	for host, want := range map[string]login{"a": {"x", "y"}, "b": {user: "z"}, "": {"guest", "default"}} {
		if logins[host] != want {
			t.Errorf("%s: %+v", host, logins[host])
		}
	}
}

// The answer begins and then nothing comes any more.
func TestStalledAnswersTimeOut(t *testing.T) {
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("begin"))
		w.(http.Flusher).Flush()
		<-over
	}))
	defer srv.Close()
	defer close(over)
	r := Request{Args: Args{URL: srv.URL}, Method: http.MethodGet, Timeout: 200 * time.Millisecond}
	res, err := r.Send(t.Context(), &modules.Env{})
	if err != nil || res.Status != http.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	got, err := res.Text(100)
	if err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnknownCiphersAreRefused(t *testing.T) {
	for _, ok := range []string{"ECDHE-RSA-AES128-GCM-SHA256", "AES256-SHA", "ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_RSA_WITH_AES_256_CBC_SHA"} {
		if ids, err := (Request{Args: Args{Ciphers: []string{ok}}}).suites(); len(ids) != 1 || err != nil {
			t.Errorf("%s: %v, %v", ok, ids, err)
		}
	}
	if _, err := (Request{Args: Args{Ciphers: []string{"ROT13"}}}).suites(); err == nil {
		t.Error("any cipher counts as known")
	}
}

// urllib asks for nothing compressed, and names the kind of a body that has none.
func TestRequestsHaveTheHeadersOfUrllib(t *testing.T) {
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte("unpacked"))
		_ = z.Close()
	}))
	defer srv.Close()
	r := Request{Args: Args{URL: srv.URL, Agent: "test", Decompress: true}, Method: http.MethodPost, Body: strings.NewReader("b")}
	res, err := r.Send(t.Context(), &modules.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := res.Text(100); string(text) != "unpacked" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for name, want := range map[string]string{"Accept-Encoding": "identity", "Content-Type": "application/x-www-form-urlencoded"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q", name, got.Get(name))
		}
	}
}
