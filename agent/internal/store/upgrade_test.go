package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryLayoutHasItsUpgrade(t *testing.T) {
	if n := len(upgrades()); n != layout-1 {
		t.Errorf("%d upgrades lead to layout %d", n, layout)
	}
}

func TestUpgradesAreDoneOnceAndInOrder(t *testing.T) {
	dir := t.TempDir()
	var did []string
	step := func(name string) func(string) error {
		return func(string) error {
			did = append(did, name)
			return nil
		}
	}
	number := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "version"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	if err := upgrade(dir, nil); err != nil || number() != "1" {
		t.Fatalf("a new directory has version %s, %v", number(), err)
	}
	full := errors.New("disk full")
	broken := []func(string) error{step("two"), func(string) error { return full }}
	if err := upgrade(dir, broken); !errors.Is(err, full) || number() != "2" {
		t.Errorf("after a step that failed: version %s, %v", number(), err)
	}
	if err := upgrade(dir, []func(string) error{step("two"), step("three"), step("four")}); err != nil || number() != "4" {
		t.Errorf("version %s, %v", number(), err)
	}
	if got := strings.Join(did, " "); got != "two three four" {
		t.Errorf("did %s", got)
	}
	if err := upgrade(dir, []func(string) error{step("two")}); err == nil || !strings.Contains(err.Error(), "upgrade hark-agent") {
		t.Errorf("a newer directory: %v", err)
	}
	if number() != "4" {
		t.Error("a directory that is refused was changed")
	}
}
