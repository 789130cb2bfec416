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

// A process that has handed over plays its runs on. Its directory is where it was.
func TestHandingOverIsNoTrouble(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.HandOver("life", []string{"r1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Trouble(); err != nil && !strings.Contains(err.Error(), "is full") { // as the disk of the test may be
		t.Error(err)
	}
}
