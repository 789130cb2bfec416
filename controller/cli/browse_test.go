package cli_test

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/controller/cli"
	"hark/controller/config"
)

// opener is an xdg-open that writes down what any user could list of it, and what it was told to open.
const opener = `#!/bin/sh
cat /proc/$$/cmdline /proc/$$/environ > "$OPENED/seen"
printf %s "$1" > "$OPENED/url"
: > "$OPENED/done"
`

// shared is an output that is read while a command writes it.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// desk is a user with a browser that is a script.
type desk struct {
	opened, temp string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	bin := t.TempDir()
	d := &desk{opened: t.TempDir(), temp: filepath.Join(t.TempDir(), "a #1?")}
	if err := os.Mkdir(d.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("OPENED", d.opened)
	t.Setenv("TMPDIR", d.temp)
	t.Setenv("HARK_HOME", filepath.Join(t.TempDir(), "hark"))
	t.Setenv("HARK_ANSIBLE", "2.14") // whatever is installed
	return d
}

// start runs a command; end interrupts it and expects that it goes well.
func start(t *testing.T, args ...string) (out *shared, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out = &shared{}
	done := make(chan int, 1)
	s := cli.System{Args: append([]string{"hark"}, args...), In: strings.NewReader(""), Out: out, Err: out, NoTTY: true, World: config.ThisWorld()}
	go func() { done <- cli.Main(ctx, s) }()
	end = sync.OnceFunc(func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("hark %s ends with %d: %s", strings.Join(args, " "), code, out)
		}
	})
	t.Cleanup(end)
	return out, end
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// follow is what a browser shows that was given what xdg-open was; secret must be in no list of processes.
func (d *desk) follow(t *testing.T, secret string) string {
	t.Helper()
	await(t, "xdg-open", func() bool { _, err := os.Stat(filepath.Join(d.opened, "done")); return err == nil })
	seen, err := os.ReadFile(filepath.Join(d.opened, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	if len(secret) < 20 || bytes.Contains(seen, []byte(secret)) {
		t.Errorf("the secret %q is in %q", secret, seen)
	}
	text, err := os.ReadFile(filepath.Join(d.opened, "url"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(text))
	if err != nil || u.Scheme != "file" {
		t.Fatalf("xdg-open was given %q", text)
	}
	for path, mode := range map[string]os.FileMode{u.Path: 0o600, filepath.Dir(u.Path): 0o700} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st, err)
		}
	}
	page, err := os.ReadFile(u.Path)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`http-equiv="refresh" content="0; url=([^"]*)"`).FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page leads nowhere: %s", page)
	}
	jar, _ := cookiejar.New(nil) // of no options there is no error
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := browser.Get(html.UnescapeString(string(found[1])))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("the page leads to %s %v", a.Status, err)
	}
	return string(body)
}

func (d *desk) empty(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

var readyAt = regexp.MustCompile(`console ready at (\S+)`)

func address(t *testing.T, out *shared) string {
	t.Helper()
	await(t, "the console", func() bool { return readyAt.MatchString(out.String()) })
	return readyAt.FindStringSubmatch(out.String())[1]
}

// What lets a browser in stands in no list of processes, and the browser is let in.
func TestNoListOfProcessesShowsWhatLetsABrowserIn(t *testing.T) {
	t.Run("console", func(t *testing.T) {
		d := newDesk(t)
		out, end := start(t, "console", "--open", "--listen", "127.0.0.1:0")
		_, key, _ := strings.Cut(address(t, out), "?k=")
		if body := d.follow(t, key); !strings.Contains(body, "Runs") {
			t.Errorf("the browser shows %s", body)
		}
		end()
		d.empty(t)
	})
	t.Run("login", func(t *testing.T) {
		d := newDesk(t)
		shown, end := start(t, "key", "show", "--public")
		await(t, "the key", func() bool { return strings.HasPrefix(strings.TrimSpace(shown.String()), "U") })
		end()
		site, _ := start(t, "console", "--listen", "127.0.0.1:0", "--operator", strings.TrimSpace(shown.String())+"=anna")
		out, end := start(t, "console", "login", address(t, site), "--open")
		await(t, "the link", func() bool { return strings.Contains(out.String(), "sig=") })
		u, err := url.Parse(strings.TrimSpace(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		if body := d.follow(t, u.Query().Get("nonce")); !strings.Contains(body, "Runs") {
			t.Errorf("the browser shows %s", body)
		}
		end()
		d.empty(t)
	})
	t.Run("no browser", func(t *testing.T) {
		d := newDesk(t)
		t.Setenv("PATH", t.TempDir())
		out, end := start(t, "console", "--open", "--listen", "127.0.0.1:0")
		await(t, "a warning", func() bool { return strings.Contains(out.String(), "cannot open the browser") })
		d.empty(t)
		end()
	})
}
