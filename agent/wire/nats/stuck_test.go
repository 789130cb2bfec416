package nats

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"hark/agent/wire/natstest"
)

// silentProxy passes connections on to a server, until its first one falls silent: nothing comes through that any more, and
// it is not closed.
func silentProxy(t *testing.T, to string) (url string, silent *atomic.Bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	silent = &atomic.Bool{}
	go func() {
		for first := true; ; first = false {
			from, err := l.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", to)
			if err != nil {
				_ = from.Close()
				return
			}
			pass := func(w, r net.Conn) {
				defer w.Close()
				buf := make([]byte, 4096)
				for {
					n, err := r.Read(buf)
					if err != nil {
						return
					}
					if first && silent.Load() {
						continue
					}
					if _, err := w.Write(buf[:n]); err != nil {
						return
					}
				}
			}
			go pass(behind, from)
			go pass(from, behind)
		}
	}()
	return "nats://" + l.Addr().String(), silent
}

// A line that is silent is left for a new connection, unless the broker's machine is there and only the broker does not
// answer.
func TestASilentLineIsLeft(t *testing.T) {
	for name, cut := range map[string]bool{"the line is cut": true, "the broker is busy": false} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, &server.Options{})
			url, silent := silentProxy(t, s.Addr().String())
			again := make(chan struct{}, 10)
			tr, err := Dial(t.Context(), Config{URL: url, ID: "a", MaxDelay: 10 * time.Millisecond, Logger: zerolog.New(io.Discard),
				OnConnect: func() { again <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			if tr.stuck() {
				t.Error("a line is stuck that has just answered")
			}
			tr.stuck = func() bool { return cut }
			for len(again) > 0 {
				<-again
			}
			silent.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := tr.Flush(ctx); err == nil {
				t.Fatal("a silent line answers")
			}
			if !cut {
				if tr.Since().IsZero() || len(again) > 0 {
					t.Error("a busy broker was left")
				}
				return
			}
			select {
			case <-again:
			case <-time.After(20 * time.Second):
				t.Fatal("there is no new connection")
			}
			if err := tr.Flush(t.Context()); err != nil {
				t.Errorf("the new connection: %v", err)
			}
		})
	}
}
