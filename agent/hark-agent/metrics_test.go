package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// TestAgentTellsItsNumbersToItsOwner: by a socket that nobody else can open, and to none when it does not run.
func TestAgentTellsItsNumbersToItsOwner(t *testing.T) {
	dir, err := os.MkdirTemp("", "m") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var b strings.Builder
	if err := askMetrics(dir, &b); err == nil || !strings.Contains(err.Error(), "no agent runs") {
		t.Errorf("without an agent: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	n := numbers{
		version: "1.4.2", since: time.Unix(1000, 0), playing: func() bool { return true }, connected: time.Now,
		refused: func() map[wire.Reason]uint64 { return map[wire.Reason]uint64{"stale": 3} },
	}
	wg.Go(func() { tellMetrics(ctx, dir, n, zerolog.Nop()) })
	for until := time.Now().Add(10 * time.Second); askMetrics(dir, &b) != nil && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	for _, want := range []string{`hark_agent_info{version="1.4.2"} 1`, "hark_agent_connected 1", "hark_agent_playing 1", `hark_agent_refused_total{reason="stale"} 3`, "process_resident_memory_bytes"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if st, err := os.Stat(filepath.Join(dir, metricsSocket)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", st, err)
	}
	stop()
	wg.Wait()
	if _, err := os.Stat(filepath.Join(dir, metricsSocket)); err == nil {
		t.Error("the socket stays behind")
	}
}
