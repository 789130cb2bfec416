package health_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"hark/controller/internal/fleet/health"
)

func TestItAnswersWhetherItWorks(t *testing.T) {
	var fails error
	h := httptest.NewServer(health.Handler(func(context.Context) error { return fails }))
	defer h.Close()
	for _, tt := range []struct {
		method, path string
		fails        error
		status       int
		says         string
	}{
		{http.MethodGet, "/healthz", nil, 200, "ok\n"},
		{http.MethodGet, "/healthz", errors.New("the store is full"), 503, "not ok: the store is full\n"},
		{http.MethodGet, "/", nil, 404, "404 page not found\n"},
		{http.MethodPost, "/healthz", nil, 405, "only GET and HEAD\n"},
	} {
		fails = tt.fails
		r, err := http.NewRequest(tt.method, h.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != tt.status || string(text) != tt.says {
			t.Errorf("%s %s: %s %q", tt.method, tt.path, a.Status, text)
		}
	}
}

func TestAnAddressThatIsTakenIsTold(t *testing.T) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	if _, err := health.Serve(on.Addr().String(), nil); err == nil ||
		!strings.Contains(err.Error(), on.Addr().String()) {
		t.Error(err)
	}
	stop, err := health.Serve("", nil)
	if err != nil {
		t.Fatal(err)
	}
	stop()
}

// systemd hears that a program is ready, and lives, and nothing while it does not work.
func TestTheWatchdogIsFedWhileItWorks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	on, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "300000")
	heard := func() string {
		buf := make([]byte, 100)
		n, err := on.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	health.Ready(zerolog.Nop())
	if got := heard(); got != "READY=1" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	checks := make(chan error)
	var work sync.WaitGroup
	work.Go(func() {
		health.Watch(ctx, zerolog.Nop(), func(ctx context.Context) error {
			select {
			case err := <-checks:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	checks <- nil
	if got := heard(); got != "WATCHDOG=1" {
		t.Error(got)
	}
	checks <- errors.New("no")
	health.Ready(zerolog.Nop())
	if got := heard(); got != "READY=1" {
		t.Errorf("it does not work, and systemd hears %s", got)
	}
	cancel()
	work.Wait()
}
