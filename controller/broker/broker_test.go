package broker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"hark/controller/internal/roster"
)

func TestBrokerKeepsTheRostersStreamAndStops(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", URLFile: filepath.Join(dir, "url"), Logger: zerolog.Nop()}
	for range 2 { // the second time the store is there
		ctx, cancel := context.WithCancel(context.Background())
		ready, ended := make(chan string, 1), make(chan error, 1)
		go func() { ended <- Run(ctx, cfg, func(url string) { ready <- url }) }()
		select {
		case url := <-ready:
			look(t, url)
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
		"without TLS and credentials the broker serves this machine alone": {Data: t.TempDir(), Listen: "0.0.0.0:4222"},
		"the port must be a number":                                        {Data: t.TempDir(), Listen: "127.0.0.1:x"},
		"it needs a directory":                                             {Listen: "127.0.0.1:0"},
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
