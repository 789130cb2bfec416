package link

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// modelDir is a directory in memory where there is one: there is much of it.
func modelDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "hark-model-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// kill ends an agent at once: nothing that it does from now on counts. Of each of its logs there is what left says.
func (m *model) kill(h *modelHost, left func([]byte) []byte) {
	h.mu.Lock()
	all := append(h.elders, h.process)
	h.elders = nil
	for _, p := range all {
		p.dead = true
		p.line.kill()
	}
	kept := h.disk(filepath.Join(h.dir, "sessions"))
	for path, text := range kept {
		kept[path] = left(text)
	}
	h.mu.Unlock()
	for _, p := range all {
		p.end()
	}
	h.restore(m.t, filepath.Join(h.dir, "sessions"), kept)
}

// cutPower ends a host: of the logs there is what was synced, their beginnings, and more or less of what was not;
// what is torn may hold anything.
func (m *model) cutPower(h *modelHost) {
	m.kill(h, func(text []byte) []byte {
		durable := bytes.IndexByte(text, '\n') + 1
		kept := durable + h.rand.IntN(len(text)-durable+1)
		if h.rand.IntN(4) == 0 {
			return append(text[:kept:kept], make([]byte, len(text)-kept)...)
		}
		return text[:kept]
	})
	h.boots++
}

// disk is what is under a directory.
func (h *modelHost) disk(dir string) map[string][]byte {
	out := map[string][]byte{}
	paths, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil {
			out[p] = text
		}
	}
	return out
}

func (h *modelHost) restore(t *testing.T, dir string, kept map[string][]byte) {
	for path := range h.disk(dir) {
		if _, there := kept[path]; !there {
			_ = os.Remove(path)
		}
	}
	for path, text := range kept {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
