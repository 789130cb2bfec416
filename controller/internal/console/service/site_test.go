package service_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"hark/controller/internal/console/service"
	"hark/controller/internal/fleet/trust"
)

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	id, err := service.Reader(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]service.Config{
		"give HOST:PORT":                        {Listen: "here"},
		"give --tls-cert and --tls-key":         {Listen: "0.0.0.0:0"},
		"a certificate needs its key":           {Listen: "127.0.0.1:0", Certificate: "x"},
		"nobody could sign in":                  {Listen: "192.0.2.1:0", Certificate: "x", Key: "y"},
		"only from named proxies":               {Listen: "127.0.0.1:0", Header: "X-User"},
		"is not an operator's public key":       {Listen: "127.0.0.1:0", Operators: []string{"anna"}},
		"neither an address nor a network":      {Listen: "127.0.0.1:0", Header: "X-User", Proxies: []string{"proxy"}},
		"cannot use the certificate /none.pem":  {Listen: "127.0.0.1:0", Certificate: "/none.pem", Key: "/none.key"},
		"others could read along: to listen on": {Listen: ":0", Operators: []string{id.Key}},
	} {
		c.Dir, c.Log = t.TempDir(), zerolog.Nop()
		err := service.Run(context.Background(), c, func(string) { t.Errorf("%+v is served", c) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

func TestPortInUseIsSaid(t *testing.T) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	c := service.Config{Dir: t.TempDir(), Records: t.TempDir(), Listen: on.Addr().String(), Log: zerolog.Nop()}
	if err := service.Run(context.Background(), c, nil); err == nil ||
		!strings.Contains(err.Error(), "another program does") {
		t.Error(err)
	}
}

// TestSecretsAreItsOwners: what a console keeps is for its user alone, and one that others can read is not used.
func TestSecretsAreItsOwners(t *testing.T) {
	c := service.Config{Dir: filepath.Join(t.TempDir(), "console"), Records: t.TempDir(), Listen: "127.0.0.1:0",
		Log: zerolog.Nop()}
	var first string
	run := func() error {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		return service.Run(ctx, c, func(address string) {
			u, err := url.Parse(address)
			if err != nil {
				t.Error(err)
			}
			if key := u.Query().Get("k"); first != "" && key != first || len(key) < 40 {
				t.Errorf("the key was %q and is %q", first, key)
			} else {
				first = key
			}
			stop()
		})
	}
	for range 2 {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		if st, err := e.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), st.Mode(), err)
		}
	}
	if err := os.Chmod(filepath.Join(c.Dir, "secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("a secret that others can read is used: %v", err)
	}
}

// TestBrokerThatIsAwayHidesNothingElse: the runs of this machine are shown, and what is missing is said.
func TestBrokerThatIsAwayHidesNothingElse(t *testing.T) {
	c := service.Config{Dir: t.TempDir(), Records: t.TempDir(), Listen: "127.0.0.1:0", Log: zerolog.Nop()}
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := service.Use(c.Dir, trust.Access{URL: "nats://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	err := service.Run(ctx, c, func(address string) {
		go func() {
			defer stop()
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			in, err := client.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			in.Body.Close()
			r, err := http.NewRequest(http.MethodGet, strings.Split(address, "?")[0]+"runs", nil)
			if err != nil {
				t.Error(err)
				return
			}
			for _, x := range in.Cookies() {
				r.AddCookie(x)
			}
			a, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Body.Close()
			var b strings.Builder
			if err := a.Write(&b); err != nil || !strings.Contains(b.String(), "runs of other machines are not shown") ||
				a.StatusCode != http.StatusOK {
				t.Errorf("%s %v: %.300s", a.Status, err, b.String())
			}
		}()
	})
	if err != nil {
		t.Error(err)
	}
}
