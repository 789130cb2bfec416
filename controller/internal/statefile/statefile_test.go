package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type record struct {
	Version int    `json:"version"`
	Text    string `json:"text"`
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	got := record{Version: 1, Text: "none yet"}
	if err := Load(path, 1, &got); err != nil || got.Text != "none yet" {
		t.Fatalf("no file gave %v, %v", got, err)
	}
	for _, text := range []string{"one", "two"} {
		if err := Save(path, record{Version: 1, Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := Load(path, 1, &got); err != nil || got.Text != text {
			t.Errorf("%v, %v, want %q", got, err, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

func TestNewerVersionsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	if err := Save(path, record{Version: 2, Text: "later"}); err != nil {
		t.Fatal(err)
	}
	got := record{Version: 1}
	if err := Load(path, 1, &got); err == nil || !strings.Contains(err.Error(), "version 2") || got.Text != "" {
		t.Errorf("%v, %v", got, err)
	}
}
