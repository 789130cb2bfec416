package link

import (
	"os"
	"path/filepath"
	"testing"
)

// modelDir is a directory in memory where there is one: logs are synced before each step.
func modelDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "hark-model-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// logs are the sizes of the logs of the host's sessions.
func (h *modelHost) logs() map[string]int {
	out := map[string]int{}
	paths, _ := filepath.Glob(filepath.Join(h.dir, "sessions", "*.log"))
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil {
			out[p] = len(text)
		}
	}
	return out
}

// kill ends an agent as a power cut does: nothing that it does from now on counts, and of its logs there is what was synced, and more or
// less of what was not.
func (m *model) kill(h *modelHost) {
	h.mu.Lock()
	p := h.process
	p.dead = true
	p.line.kill()
	kept := h.disk(filepath.Join(h.dir, "sessions"))
	for path, text := range kept {
		durable := min(h.synced[path], len(text))
		kept[path] = text[:durable+h.rand.IntN(len(text)-durable+1)]
	}
	h.mu.Unlock()
	p.end()
	h.restore(m.t, filepath.Join(h.dir, "sessions"), kept)
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
