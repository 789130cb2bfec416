package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if err := upgrade(dir, []func(string) error{step("two")}); err == nil ||
		!strings.Contains(err.Error(), "upgrade hark-agent") {
		t.Errorf("a newer directory: %v", err)
	}
	if number() != "4" {
		t.Error("a directory that is refused was changed")
	}
}

// TestGoingBackBringsTheOldLayoutBack: whatever the steps did, and also when it was interrupted; blobs and jobs stay
// as they are now.
func TestGoingBackBringsTheOldLayoutBack(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := func() map[string]string {
		t.Helper()
		files := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				rel, _ := filepath.Rel(dir, path)
				text, rerr := os.ReadFile(path)
				files[rel], err = string(text), rerr
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	for name, text := range map[string]string{"version": "1\n", "journal": "old", "sessions/a.log": "old",
		"blobs/x": "blob", "jobs/1/state": "job"} {
		write(name, text)
	}
	want := all()
	step := func(dir string) error {
		write("journal", "new")
		write("sessions/b.log", "new")
		write("more/c", "new")
		return os.Remove(filepath.Join(dir, "sessions/a.log"))
	}
	cut := errors.New("cut off")
	if err := upgrade(dir,
		[]func(string) error{func(dir string) error { return errors.Join(step(dir), cut) }}); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	write("sessions/a.log", "half done")
	if err := upgrade(dir, []func(string) error{step, func(string) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if now, _ := version(dir); now != 3 {
		t.Fatalf("after the upgrade it has version %d", now)
	}
	if err := upgrade(dir, nil); err == nil ||
		!strings.Contains(err.Error(), "it has version 3, this agent knows 1; upgrade hark-agent") {
		t.Errorf("an older agent: %v", err)
	}
	if err := goBack(dir, 2); err == nil || !strings.Contains(err.Error(), "this agent knows 2") {
		t.Errorf("back to a version that was never there: %v", err)
	}
	if err := goBack(dir, 1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, all()); diff != "" {
		t.Errorf("it is not what it was:\n%s", diff)
	}
	if err := goBack(dir, 1); err != nil {
		t.Errorf("once more: %v", err)
	}
}
