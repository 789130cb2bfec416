package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func plainEnv(t *testing.T) *modules.Env {
	t.Helper()
	return &modules.Env{Environ: []string{"HOME=" + t.TempDir()}, Warn: func(string, ...any) {}}
}

// server answers what the tests ask of it.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/file.txt", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "content\n")
	})
	sum := sha256.Sum256([]byte("content\n"))
	mux.HandleFunc("/sums", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "00ff  other.txt\n%s *./file.txt\n", hex.EncodeToString(sum[:]))
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		http.SetCookie(w, &http.Cookie{Name: "c", Value: "1"})
		fmt.Fprint(w, `{"n": 12345678901234567890}`)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s|%s|%s:%s|%s", r.Method, r.Header.Get("Content-Type"), user, password, body)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/file.txt", http.StatusFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestGetURLDownloadsOnceAndChecks(t *testing.T) {
	s, dir := server(t), t.TempDir()
	dest := filepath.Join(dir, "file.txt")
	args := map[string]any{"url": s.URL + "/file.txt", "dest": dir, "mode": "0600", "checksum": "sha256:" + s.URL + "/sums"}
	r := GetURL.Run(context.Background(), plainEnv(t), modtest.Args(args))
	if r.Failed || !r.Changed || modtest.Entry(r, "dest") != dest || modtest.Entry(r, "status_code") != int64(200) || modtest.Entry(r, "mode") != "0600" {
		t.Fatalf("first download: %+v", r)
	}
	args["dest"] = dest
	if r := GetURL.Run(context.Background(), plainEnv(t), modtest.Args(args)); r.Failed || r.Changed || r.Msg != "file already exists" {
		t.Errorf("second download: %+v", r)
	}
	delete(args, "checksum")
	if r := GetURL.Run(context.Background(), plainEnv(t), modtest.Args(args)); r.Failed || r.Changed || r.Msg != "HTTP Error 304: Not Modified" {
		t.Errorf("download of what is not newer: %+v", r)
	}
}

func TestGetURLKeepsNothingThatIsWrong(t *testing.T) {
	s, dir := server(t), t.TempDir()
	dest := filepath.Join(dir, "x")
	for want, args := range map[string]map[string]any{
		"The checksum for " + dest + " did not match 00ff":                  {"url": s.URL + "/file.txt", "checksum": "sha1:00ff"},
		"The checksum parameter has to be in format <algorithm>:<checksum>": {"url": s.URL + "/file.txt", "checksum": "00ff"},
		"The checksum format is invalid":                                    {"url": s.URL + "/file.txt", "checksum": "sha1:xyz"},
		"Request failed":                                                    {"url": s.URL + "/none"},
		"Unable to find a checksum for file 'echo' in":                      {"url": s.URL + "/echo", "checksum": "sha256:" + s.URL + "/sums"},
		"Request failed: <urlopen error unknown url type: gopher>":          {"url": "gopher://x/y"},
		"unknown url type: 'nourl'":                                         {"url": "nourl"},
		"unknown url type: '/x:y'":                                          {"url": "/x:y"},
		"Invalid IPv6 URL":                                                  {"url": "http://[bad/"},
	} {
		args["dest"] = dest
		r := GetURL.Run(context.Background(), plainEnv(t), modtest.Args(args))
		if _, err := os.Stat(dest); !r.Failed || !strings.HasPrefix(r.Msg, want) || err == nil {
			t.Errorf("%v gave %q (file: %v), want %q", args, r.Msg, err, want)
		}
	}
}

func TestURISendsAndReads(t *testing.T) {
	s := server(t)
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"body": map[string]any{"b": 1, "a": []any{true}}, "body_format": "json", "method": "POST"}, `POST|application/json|:|{"a": [true], "b": 1}`},
		{map[string]any{"body": map[string]any{"x": []any{"1", "2 3"}}, "body_format": "form-urlencoded", "method": "PUT"}, "PUT|application/x-www-form-urlencoded|:|x=1&x=2+3"},
		{map[string]any{"user": "me", "password": "sesame", "force_basic_auth": true}, "GET||me:********|"},
		{map[string]any{"user": "me", "password": "sesame"}, "GET||:|"}, // nobody asks for it
		{map[string]any{"body": "raw", "headers": map[string]any{"Content-Type": "a/b"}, "method": "PATCH"}, "PATCH|a/b|:|raw"},
	} {
		c.args["url"], c.args["return_content"] = s.URL+"/echo", true
		if r := URI.Run(context.Background(), plainEnv(t), modtest.Args(c.args)); r.Failed || modtest.Entry(r, "content") != c.want {
			t.Errorf("%v gave %v, want %q (%s)", c.args, modtest.Entry(r, "content"), c.want, r.Msg)
		}
	}
	r := URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL + "/json"}))
	if modules.Repr(modtest.Entry(r, "json")) != "{'n': 12345678901234567890}" || modtest.Entry(r, "cookies_string") != "c=1" {
		t.Errorf("JSON answer: %+v", r)
	}
	r = URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL + "/away"}))
	if r.Failed || modtest.Entry(r, "redirected") != true || modtest.Entry(r, "url") != s.URL+"/file.txt" {
		t.Errorf("redirect: %+v", r)
	}
	r = URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL + "/none", "status_code": []any{200, 201}}))
	if !r.Failed || r.Msg != "Status code was 404 and not [200, 201]: HTTP Error 404: Not Found" {
		t.Errorf("missing page: %+v", r)
	}
}

func TestURIWritesTheAnswer(t *testing.T) {
	s, dir := server(t), t.TempDir()
	r := URI.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"url": s.URL + "/file.txt", "dest": dir}))
	text, err := os.ReadFile(filepath.Join(dir, "file.txt"))
	if err != nil || string(text) != "content\n" || !r.Changed || modtest.Entry(r, "path") != filepath.Join(dir, "file.txt") {
		t.Errorf("wrote %q (%v): %+v", text, err, r)
	}
}

func TestWaitForPortsAndFiles(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "220 ready\r\n")
			conn.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("one\nkey=value\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []map[string]any{
		{"port": port}, {"port": port, "search_regex": "^220"}, {"path": file}, {"path": file + "x", "state": "absent"}, {"port": 1, "state": "drained"},
	} {
		if r := WaitFor.Run(context.Background(), plainEnv(t), modtest.Args(args)); r.Failed || r.Changed {
			t.Errorf("%v gave %+v", args, r)
		}
	}
	r := WaitFor.Run(context.Background(), plainEnv(t), modtest.Args(map[string]any{"path": file, "search_regex": `^(?P<k>\w+)=(.*)$`}))
	if !reflect.DeepEqual(modtest.Entry(r, "match_groupdict"), map[string]any{"k": "key"}) {
		t.Errorf("groups: %+v", r.Data)
	}
	for want, args := range map[string]map[string]any{
		fmt.Sprintf("Timeout when waiting for 127.0.0.1:%d to stop.", port): {"port": port, "state": "stopped"},
		"Timeout when waiting for file " + file + "x":                       {"path": file + "x"},
		"Timeout when waiting for search string no in " + file:              {"path": file, "search_regex": "no"},
		"Timeout when waiting for " + file + " to be absent.":               {"path": file, "state": "absent"},
		"mine": {"path": file, "state": "absent", "msg": "mine"},
		"port and path parameter can not both be passed to wait_for": {"path": file, "port": 1},
		"exclude_hosts should only be with state=drained":            {"port": 1, "exclude_hosts": "x"},
	} {
		args["timeout"], args["sleep"] = 0, 0
		if r := WaitFor.Run(context.Background(), plainEnv(t), modtest.Args(args)); !r.Failed || r.Msg != want {
			t.Errorf("%v gave %q, want %q", args, r.Msg, want)
		}
	}
}

// What is sent from the controller comes byte by byte, whole and with its length.
func TestURISendsFilesOfTheController(t *testing.T) {
	content := "\x00\xff" + strings.Repeat("x", 100)
	e := plainEnv(t)
	e.Source = func(_ context.Context, dir, name string, _ bool) (*modules.Source, error) {
		return &modules.Source{Path: "/project/" + dir + "/" + name, Digest: "digest of " + name, Size: int64(len(content))}, nil
	}
	e.Open = func(_ context.Context, digest string) (io.ReadCloser, error) {
		if digest != "digest of a.bin" {
			return nil, fmt.Errorf("asked for %s", digest)
		}
		return io.NopCloser(strings.NewReader(content)), nil
	}
	var got []byte
	var length int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		length = r.ContentLength
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			f, _, err := r.FormFile("upload")
			if err != nil {
				return
			}
			got, _ = io.ReadAll(base64.NewDecoder(base64.StdEncoding, f))
			return
		}
		got, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	for name, args := range map[string]map[string]any{
		"src":  {"src": "a.bin"},
		"form": {"body_format": "form-multipart", "body": map[string]any{"upload": map[string]any{"filename": "a.bin"}, "word": "w"}},
	} {
		args["url"], args["method"] = s.URL, "POST"
		got, length = nil, 0
		given := modtest.Args(args)
		if err := URI.Resolve(t.Context(), e, given); err != nil {
			t.Fatal(err)
		}
		if r := URI.Run(t.Context(), e, given); r.Failed || string(got) != content || length < int64(len(content)) {
			t.Errorf("%s: %d bytes of %d came: %+v", name, len(got), length, r)
		}
	}
}
