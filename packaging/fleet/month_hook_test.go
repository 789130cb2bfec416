//go:build fleet

package fleet

import (
	"encoding/json"
	"io"
	stdnet "net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// notified is a notification as somebody gets it.
type notified struct {
	ID, Type, Subject string
	Data              struct {
		What, Text, Duty, Run, Key, Commit string
		Hosts                              []string
		Left                               int
	}
}

// hook is where notifications are sent.
type hook struct {
	url string

	mu    sync.Mutex
	got   []notified // guarded by mu
	twice []string   // ids that came again; guarded by mu
}

// listen takes notifications until the test ends.
func listen(t *testing.T) *hook {
	t.Helper()
	on, err := stdnet.Listen("tcp", net()+".1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hook{url: "http://" + on.Addr().String()}
	server := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(on) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var n notified
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil || r.Header.Get("webhook-signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.got, func(had notified) bool { return had.ID == n.ID }) {
		h.twice = append(h.twice, n.ID)
	}
	h.got = append(h.got, n)
}

func (h *hook) all() []notified {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// repeated are the ids of notifications that came more than once.
func (h *hook) repeated() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.twice)
}

// await waits for a notification of a kind that names something.
func (h *hook) await(t *testing.T, kind, names string) {
	t.Helper()
	await(t, "notified of "+kind+" "+names, func() bool {
		return slices.ContainsFunc(h.all(), func(n notified) bool {
			return n.Type == kind && strings.Contains(n.Data.Text, names)
		})
	})
}

// open are the hosts of duties that were told to stand so, and of which nobody has told the end.
func (h *hook) open() map[string]bool {
	hosts := map[string]bool{}
	for _, n := range h.all() {
		kind, ok := strings.CutPrefix(n.Data.Key, "duty/")
		if !ok {
			continue
		}
		switch n.Data.What {
		case "failed", "drifted", "absent":
			for _, name := range n.Data.Hosts {
				hosts[kind+" "+name] = true
			}
		case "fixed":
			for _, name := range n.Data.Hosts {
				delete(hosts, kind+" "+name)
			}
		case "paused":
			hosts[kind] = true
		case "resumed":
			delete(hosts, kind)
		}
	}
	return hosts
}
