// Package securefile reads files that decide which operators a program obeys and trusts: whoever else can write
// them could decide it too. Files that others may not even read are a kind of their own. Errors say how to fix them.
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
func Read(path string, k Kind) ([]byte, error) { return ReadOf(path, k, os.Geteuid()) }

// ReadOf is Read for a file that belongs to root or to the user uid: root reads the files of a service that has a user
// of its own.
func ReadOf(path string, k Kind, uid int) ([]byte, error) {
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
	if err := check(path, st, k, uid); err != nil {
		return nil, err
	}
	if err := dirOf(filepath.Dir(path), uid); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// Dir reports whether others could replace what lies in a directory.
func Dir(path string) error { return dirOf(path, os.Geteuid()) }

func dirOf(path string, uid int) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode()&fs.ModeSticky != 0 && owner(st) == 0 {
		return nil // /tmp: only who owns a file replaces it
	}
	return check(path, st, Ours, uid)
}

func check(path string, st fs.FileInfo, k Kind, uid int) error {
	if is := owner(st); is != 0 && is != uid {
		may := "root"
		if uid != 0 {
			may = fmt.Sprintf("root and uid %d", uid)
		}
		return fmt.Errorf("%s belongs to somebody else (uid %d): only %s may own it", path, is, may)
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
