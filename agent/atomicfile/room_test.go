package atomicfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
)

func TestRoomIsToldOf(t *testing.T) {
	if err := atomicfile.Room(t.TempDir()); err != nil && !strings.Contains(err.Error(), "is full") {
		t.Errorf("a directory like any other: %v", err)
	}
	if err := atomicfile.Room(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("there is room where there is nothing")
	}
	var st unix.Statfs_t
	if err := unix.Statfs("/proc", &st); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Room("/proc"); err == nil { // it has no blocks
		t.Error("there is room in /proc")
	}
}
