package httpx

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The expectations are those of Python's urllib.
func TestFilesAreThoseOfThisHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"file://localhost" + path: "OK (4 bytes)",
		"file://" + path:          "OK (4 bytes)",
		"file:" + path:            "OK (4 bytes)",
		"file://other" + path:     "Request failed: <urlopen error file not on local host>",
	} {
		res, err := (Request{Args: Args{URL: address}}).Send(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Msg != want {
			t.Errorf("%s: %s", address, res.Msg)
		}
		if res.Body != nil {
			if text, _ := io.ReadAll(res.Body); string(text) != "one\n" {
				t.Errorf("%s: %q", address, text)
			}
			res.Body.Close()
		}
	}
}
