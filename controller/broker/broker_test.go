package broker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"hark/controller/internal/fleet/roster"
)

func TestBrokerKeepsTheRostersStreamAndStops(t *testing.T) {
	dir := t.TempDir()
	said := make(lines, 100)
	cfg := Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", URLFile: filepath.Join(dir, "url"), Logger: zerolog.New(said)}
	for range 2 { // the second time the store is there
		ctx, cancel := context.WithCancel(context.Background())
		ready, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- Run(ctx, cfg, func(url string) {
				if _, err := os.Stat(cfg.URLFile); err == nil { // what ready notes is there for those who wait for the file
					t.Error("the URL file is there before the broker is ready")
				}
				ready <- url
			})
		}()
		select {
		case url := <-ready:
			look(t, url)
			said.await(t, "broker ready")
			if text, err := os.ReadFile(cfg.URLFile); err != nil || strings.TrimSpace(string(text)) != url {
				t.Errorf("URL file holds %q (%v), want %q", text, err, url)
			}
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(30 * time.Second):
			t.Fatal("the broker is not ready after 30 s")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(cfg.URLFile); err == nil {
		t.Error("the URL file of a broker that is gone is still there")
	}
}

// lines are those of a log.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// await waits for a line with a text.
func (l lines) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case line := <-l:
			if strings.Contains(line, text) {
				return
			}
		case <-late:
			t.Fatalf("%q was not said in 30 s", text)
		}
	}
}

// TestBrokerServesWithoutItsRoster when its disk takes nothing, for which a file in the place of the stream's
// directory stands: plays go on.
func TestBrokerServesWithoutItsRoster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	streams := filepath.Join(data, "jetstream", "jetstream", "$G", "streams")
	if err := os.MkdirAll(streams, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(streams, roster.StreamName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := &saying{}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: data, Listen: "127.0.0.1:0", Logger: zerolog.New(said)}, func(url string) { ready <- url })
	}()
	select {
	case url := <-ready:
		nc, err := nats.Connect(url)
		if err != nil {
			t.Error(err)
		} else {
			nc.Close()
		}
	case err := <-ended:
		t.Fatalf("it does not serve: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("the broker is not ready after 30 s")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(said.String(), "serves without its roster") {
		t.Errorf("it does not say so: %s", said)
	}
}

// saying keeps what is logged.
type saying struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (s *saying) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *saying) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func look(t *testing.T, url string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.StreamInfo(roster.StreamName); err != nil {
		t.Errorf("the roster's stream is missing: %v", err)
	}
}

func TestBrokerRefusesWhatItCannotServe(t *testing.T) {
	for want, cfg := range map[string]Config{
		"without TLS and credentials the broker serves this machine only": {Data: t.TempDir(), Listen: "0.0.0.0:4222"},
		"the port must be a number":                                       {Data: t.TempDir(), Listen: "127.0.0.1:x"},
		"it needs a directory":                                            {Listen: "127.0.0.1:0"},
	} {
		err := Run(context.Background(), cfg, func(string) { t.Error("ready") })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v gave %v, want %q", cfg, err, want)
		}
	}
}

func TestBrokerDoesNotShareItsDataOrAddress(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: dir, Listen: "127.0.0.1:0", Logger: zerolog.Nop()}, func(url string) { ready <- url })
	}()
	defer func() {
		cancel()
		<-ended
	}()
	var address string
	select {
	case url := <-ready:
		address = strings.TrimPrefix(url, "nats://")
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	for want, cfg := range map[string]Config{
		"another one uses the directory": {Data: dir, Listen: "127.0.0.1:0"},
		"address already in use":         {Data: t.TempDir(), Listen: address},
	} {
		began := time.Now()
		err := Run(context.Background(), cfg, func(string) { t.Error("ready") })
		if err == nil || !strings.Contains(err.Error(), want) || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s, want %q", err, time.Since(began), want)
		}
	}
}
