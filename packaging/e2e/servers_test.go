//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestServers plays the cases of servers/ beside a web server; the environment has its addresses, HTTP and HTTPS, and
// the file CA with its certificate.
func TestServers(t *testing.T) {
	paths, err := filepath.Glob("servers/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found (%v)", err)
	}
	env := startWeb(t)
	fleets := startFleets(t)
	for _, path := range paths {
		c := readCase(t, path)
		c.env = append(c.env, env...)
		t.Run(c.name, func(t *testing.T) {
			want := c.run(t, oracle(t, oracleDir(levels[0]), c.modes), nil)
			for _, mode := range c.modes {
				t.Run(mode, func(t *testing.T) { c.compare(t, want, c.run(t, ours(t, mode), fleets[mode].env())) })
			}
		})
	}
}

func startWeb(t *testing.T) []string {
	t.Helper()
	plain := httptest.NewServer(nil)
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(nil)
	t.Cleanup(secure.Close)
	site := website(plain.URL, secure.URL)
	plain.Config.Handler, secure.Config.Handler = site, site
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	return []string{"HTTP=" + plain.URL, "HTTPS=" + secure.URL, "CA=" + ca}
}

// changedAt is when everything on the site was changed last.
var changedAt = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func website(plain, secure string) http.Handler {
	site := http.NewServeMux()
	page := func(name, text string) {
		site.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "page.txt", changedAt, strings.NewReader(text))
		})
	}
	const text = "plain text\n"
	page("/plain", text)
	page("/sums", fmt.Sprintf("3a0d1f9a  other\n%x  plain\n", sha256.Sum256([]byte(text))))
	page("/archive.tgz", string(archive()))
	site.HandleFunc("/echo", echo)
	site.HandleFunc("/gzip", zipped)
	site.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			fmt.Fprint(w, "piece\n")
			w.(http.Flusher).Flush()
		}
	})
	site.HandleFunc("/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="given.txt"`)
		fmt.Fprint(w, "named\n")
	})
	site.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(code)
		if code != http.StatusNoContent {
			fmt.Fprintf(w, "status %d\n", code)
		}
	})
	site.HandleFunc("/to/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		http.Redirect(w, r, "/echo?from="+r.PathValue("code"), code)
	})
	site.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	site.Handle("/secure", http.RedirectHandler(secure+"/plain", http.StatusFound))
	site.HandleFunc("/cookies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=1; Path=/", `b="two words"; HttpOnly`}
		fmt.Fprint(w, "cookies\n")
	})
	site.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "joe" || password != "s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "welcome\n")
	})
	return fixedDate(site)
}

// fixedDate has answers tell no time of their own.
func fixedDate(site http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", changedAt.Format(http.TimeFormat))
		site.ServeHTTP(w, r)
	})
}

// echo returns what was asked for.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	if kind, boundary, ok := strings.Cut(r.Header.Get("Content-Type"), "boundary="); ok {
		text = strings.ReplaceAll(text, strings.Trim(boundary, `"`), "BOUNDARY")
		r.Header.Set("Content-Type", kind)
	}
	told := map[string]any{"method": r.Method, "query": r.URL.RawQuery, "body": text, "length": r.ContentLength}
	for _, name := range []string{"Accept", "Accept-Encoding", "Authorization", "Content-Type", "Cookie", "If-Modified-Since", "User-Agent", "X-Test", "Cache-Control"} {
		if v := r.Header.Values(name); v != nil {
			told[name] = v
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(told)
}

func zipped(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		fmt.Fprint(w, "unzipped\n")
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	defer z.Close()
	fmt.Fprint(z, "zipped\n")
}

// archive is a tree with a file.
func archive() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	_ = t.WriteHeader(&tar.Header{Name: "tree/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: changedAt})
	_ = t.WriteHeader(&tar.Header{Name: "tree/leaf", Mode: 0o640, Size: 5, ModTime: changedAt})
	fmt.Fprint(t, "leaf\n")
	t.Close()
	z.Close()
	return b.Bytes()
}
