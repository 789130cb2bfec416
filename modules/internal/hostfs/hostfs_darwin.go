package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A file cannot be held without being opened here, so nothing is confined.
func possible() error { return errors.New("only agents on Linux can") }

// These are the functions of package os.
func Open(name string) (*os.File, error)                           { return os.Open(name) }
func OpenFile(name string, f int, p fs.FileMode) (*os.File, error) { return os.OpenFile(name, f, p) }
func Stat(name string) (fs.FileInfo, error)                        { return os.Stat(name) }
func Lstat(name string) (fs.FileInfo, error)                       { return os.Lstat(name) }
func StatT(name string, st *syscall.Stat_t) error                  { return syscall.Stat(name, st) }
func LstatT(name string, st *syscall.Stat_t) error                 { return syscall.Lstat(name, st) }
func Access(name string, mode uint32) error                        { return syscall.Access(name, mode) }
func Chmod(name string, mode uint32) error                         { return syscall.Chmod(name, mode) }
func Chown(name string, uid, gid int) error                        { return os.Chown(name, uid, gid) }
func Lchown(name string, uid, gid int) error                       { return os.Lchown(name, uid, gid) }
func Chtimes(name string, access, modification time.Time) error {
	return os.Chtimes(name, access, modification)
}
func SetTimes(name string, times []unix.Timespec) error {
	return unix.UtimesNanoAt(unix.AT_FDCWD, name, times, 0)
}
func Mkdir(name string, perm fs.FileMode) error                  { return os.Mkdir(name, perm) }
func MkdirAll(name string, perm fs.FileMode) error               { return os.MkdirAll(name, perm) }
func Remove(name string) error                                   { return os.Remove(name) }
func RemoveAll(name string) error                                { return os.RemoveAll(name) }
func Rename(from, to string) error                               { return os.Rename(from, to) }
func Symlink(target, name string) error                          { return os.Symlink(target, name) }
func Link(from, to string) error                                 { return os.Link(from, to) }
func Readlink(name string) (string, error)                       { return os.Readlink(name) }
func EvalSymlinks(name string) (string, error)                   { return filepath.EvalSymlinks(name) }
func ReadDir(name string) ([]fs.DirEntry, error)                 { return os.ReadDir(name) }
func CreateTemp(dir, pattern string) (*os.File, error)           { return os.CreateTemp(dir, pattern) }
func Held(name string, _ bool, do func(path string) error) error { return do(name) }

// List is ReadDir in the order of the disk.
func List(name string) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
