package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStateDirectoryThatIsGoneIsToldOf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Trouble(); err != nil && !strings.Contains(err.Error(), "is full") { // as the disk of the test may be
		t.Errorf("at first: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Trouble(); err == nil || !strings.Contains(err.Error(), "was deleted or replaced") {
		t.Errorf("deleted: %v", err)
	}
	other, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := s.Trouble(); err == nil {
		t.Error("a directory that another agent has made in its place is taken for its own")
	}
}
