//go:build e2e || fleet

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// told is a hook that keeps the events that it is told.
type told struct {
	*httptest.Server

	mu     sync.Mutex
	events []toldEvent // guarded by mu
}

type toldEvent struct {
	Type string
	Data struct {
		What, Text, Link, Duty, By string
		Hosts                      []string
	}
}

func newTold(t *testing.T) *told {
	h := &told{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e toldEvent
		if json.Unmarshal(body, &e) == nil && r.Header.Get("Webhook-Signature") != "" {
			h.mu.Lock()
			h.events = append(h.events, e)
			h.mu.Unlock()
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// types are the types of what was told.
func (h *told) types() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, e := range h.events {
		all = append(all, e.Type)
	}
	return strings.Join(all, " ")
}
