// Package securefile reads files that decide whom a program obeys and believes: who else can write them could decide
// it too. Files that others may not even read are a kind of their own. What is wrong is told with what mends it.
package securefile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Kind says what others may not do with a file.
type Kind fs.FileMode

// The kinds of files.
const (
	Ours   Kind = 0o022 // nobody else writes it
	Secret Kind = 0o077 // nobody else reads or writes it
)

// Read reads a file that belongs to root or to this process's user, as its directory does. The error is
// fs.ErrNotExist if there is none.
func Read(path string, k Kind) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if err := check(path, st, k); err != nil {
		return nil, err
	}
	if err := Dir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// Dir reports whether others could replace what lies in a directory.
func Dir(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode()&fs.ModeSticky != 0 && owner(st) == 0 {
		return nil // /tmp: only who owns a file replaces it
	}
	return check(path, st, Ours)
}

func check(path string, st fs.FileInfo, k Kind) error {
	if uid := owner(st); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to somebody else (uid %d): only root and uid %d may own it", path, uid, os.Geteuid())
	}
	if mode := st.Mode().Perm(); mode&fs.FileMode(k) != 0 {
		can, mend := "write", "go-w"
		if k == Secret {
			can, mend = "read", "go="
		}
		return fmt.Errorf("others can %s %s (mode %04o): run chmod %s on it", can, path, mode, mend)
	}
	return nil
}

func owner(st fs.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return os.Geteuid()
}
