package httpx

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hark/modules"
)

// TestAnAuthorityThatIsInstalledCountsForTheNextRequest, and no longer when it is gone: in the bundle and in the
// directory.
func TestAnAuthorityThatIsInstalledCountsForTheNextRequest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system keeps its authorities elsewhere")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer server.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	bundle, dir := filepath.Join(t.TempDir(), "bundle.crt"), t.TempDir()
	env := &modules.Env{Environ: []string{"SSL_CERT_FILE=" + bundle, "SSL_CERT_DIR=" + dir}}
	get := func() error {
		client, err := (Request{Args: Args{Verify: true}, Timeout: 10 * time.Second}).client(env)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Get(server.URL)
		if err == nil {
			answer.Body.Close()
		}
		return err
	}
	put := func(path string, text []byte) func() error {
		return func() error { return os.WriteFile(path, text, 0o644) }
	}
	for i, step := range []struct {
		do   func() error
		good bool
	}{
		{put(bundle, nil), false}, {put(bundle, text), true}, {put(bundle, []byte("\n")), false},
		{put(filepath.Join(dir, "lab.pem"), text), true}, {func() error { return os.Remove(filepath.Join(dir, "lab.pem")) }, false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if err := get(); (err == nil) != step.good {
			t.Errorf("step %d: %v", i, err)
		}
	}
}
