// Package hostfs is the files of the host as modules open them: the functions of package os by their names, which
// keep to some directories where the process was confined to these. What counts is what the kernel has opened and not
// how it was called: each file is opened first, following links, then it is asked where it lies, and all that is done
// is done to that very file. So a link, or a directory that somebody swaps meanwhile, leads nowhere.
package hostfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// OutsideError is that a file does not lie where the process may open files.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("this host's policy does not allow it: %s leads out of its paths", e.Path)
}

// Unwrap is what callers take it for: they lack the permission.
func (e *OutsideError) Unwrap() error { return syscall.EACCES }

// OutsidePolicy marks the error for package oserr, which keeps its text.
func (e *OutsideError) OutsidePolicy() {}

var confined struct {
	sync.RWMutex
	dirs []string // clean and absolute; nil is everywhere
}

// Confine keeps the process to directories, for as long as it lives. Called again it must name the same ones.
func Confine(dirs []string) error {
	clean := make([]string, len(dirs))
	for i, dir := range dirs {
		if clean[i] = filepath.Clean(dir); !filepath.IsAbs(dir) {
			return fmt.Errorf("%q is not an absolute path", dir)
		}
	}
	confined.Lock()
	defer confined.Unlock()
	switch {
	case len(clean) == 0:
		return errors.New("a process cannot be confined to no directory")
	case confined.dirs != nil && !slices.Equal(confined.dirs, clean):
		return errors.New("the process is confined to other directories")
	case confined.dirs == nil:
		if err := possible(); err != nil {
			return fmt.Errorf("modules cannot be confined to paths on this host: %w", err)
		}
	}
	confined.dirs = clean
	return nil
}

// Confined reports whether the process keeps to some directories.
func Confined() bool { return bounds() != nil }

func bounds() []string {
	confined.RLock()
	defer confined.RUnlock()
	return confined.dirs
}

// within reports whether a path without links lies where it may.
func within(path string) bool {
	return slices.ContainsFunc(bounds(), func(dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	})
}

// Above reports whether a path is that of a directory above those to which the process keeps: it is there, and nobody
// can ask for it.
func Above(path string) bool {
	return slices.ContainsFunc(bounds(), func(dir string) bool {
		return strings.HasPrefix(dir, strings.TrimSuffix(filepath.Clean(path), "/")+"/")
	})
}

// ReadFile reads a whole file.
func ReadFile(name string) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// tree is the files below a directory, for the walks of package fs.
type tree struct{}

func (tree) Open(name string) (fs.File, error)          { return Open(name) }
func (tree) Stat(name string) (fs.FileInfo, error)      { return Lstat(name) }
func (tree) ReadDir(name string) ([]fs.DirEntry, error) { return ReadDir(name) }

// WalkDir is filepath.WalkDir.
func WalkDir(root string, f fs.WalkDirFunc) error {
	if !Confined() {
		return filepath.WalkDir(root, f)
	}
	return fs.WalkDir(tree{}, root, f)
}

// entry is one of a directory; its Info is that of the file as hostfs finds it.
type entry struct {
	fs.DirEntry
	path string
}

func (e entry) Info() (fs.FileInfo, error) { return Lstat(e.path) }

// named is a file's information under the name that was asked for.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }
