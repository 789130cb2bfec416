package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const self = "/proc/self/fd/"

// possible reports why files cannot be held and asked where they lie.
func possible() error {
	p, err := open("/", unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer p.close()
	_, err = os.Readlink(p.path)
	return err
}

// held is a file that is open only to be held, or a name in a directory that is. Its path leads to that and nowhere
// else.
type held struct {
	fd   int
	path string
	base string // the name in the directory; "" for a file itself
}

func (h held) close() { _ = unix.Close(h.fd) }

// open holds a file, following links.
func open(path string, flags int) (held, error) {
	for {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return held{fd: fd, path: self + strconv.Itoa(fd)}, err
	}
}

// hold holds the file that a path leads to, if it lies where it may.
func hold(path string) (held, error) {
	h, err := open(path, 0)
	if err != nil {
		return held{}, err
	}
	at, err := os.Readlink(h.path)
	if err != nil || !within(at) {
		h.close()
		return held{}, &OutsideError{path}
	}
	return h, nil
}

// holdName holds the directory of a path, and so its last name, which may be that of a link or of nothing.
func holdName(path string) (held, error) {
	trimmed := strings.TrimRight(path, "/")
	dir, base := filepath.Split(trimmed)
	if base == "" || base == "." || base == ".." {
		return held{}, &OutsideError{path}
	}
	if dir == "" {
		dir = "."
	}
	h, err := open(dir, unix.O_DIRECTORY)
	if err != nil {
		return held{}, err
	}
	at, err := os.Readlink(h.path)
	if err != nil || !within(filepath.Join(at, base)) {
		h.close()
		return held{}, &OutsideError{path}
	}
	h.base, h.path = base, h.path+"/"+base
	return h, nil
}

// about puts the path as it was given into an error.
func about(op, path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// with does something to the file that a path leads to.
func with(op, path string, do func(h held) error) error {
	h, err := hold(path)
	if err == nil {
		defer h.close()
		err = do(h)
	}
	return about(op, path, err)
}

// withName does something to a name in a directory.
func withName(op, path string, do func(h held) error) error {
	h, err := holdName(path)
	if err == nil {
		defer h.close()
		err = do(h)
	}
	return about(op, path, err)
}

// Open is os.Open.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile.
func OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if !Confined() {
		return os.OpenFile(name, flag, perm)
	}
	fd := -1
	var err error
	if flag&os.O_CREATE != 0 {
		err = withName("open", name, func(h held) error {
			dir, err := unix.Open(strings.TrimSuffix(h.path, "/"+h.base), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(dir)
			fd, err = unix.Openat(dir, h.base, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
			return err
		})
	}
	// What is there may be a link, which leads to a file that is there.
	if flag&os.O_CREATE == 0 || errors.Is(err, unix.ELOOP) && flag&os.O_EXCL == 0 {
		err = with("open", name, func(h held) error {
			fd, err = unix.Open(h.path, flag&^(os.O_CREATE|unix.O_NOFOLLOW)|unix.O_CLOEXEC, 0)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Stat is os.Stat.
func Stat(name string) (info fs.FileInfo, err error) {
	if !Confined() {
		return os.Stat(name)
	}
	err = with("stat", name, func(h held) error {
		info, err = os.Stat(h.path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return named{info, filepath.Base(name)}, nil
}

// Lstat is os.Lstat.
func Lstat(name string) (info fs.FileInfo, err error) {
	if !Confined() {
		return os.Lstat(name)
	}
	if strings.HasSuffix(name, "/") || name == "." {
		return Stat(name)
	}
	err = withName("lstat", name, func(h held) error {
		info, err = os.Lstat(h.path)
		return err
	})
	return info, err
}

// StatT is syscall.Stat.
func StatT(name string, st *syscall.Stat_t) error {
	if !Confined() {
		return syscall.Stat(name, st)
	}
	return with("stat", name, func(h held) error { return syscall.Stat(h.path, st) })
}

// LstatT is syscall.Lstat.
func LstatT(name string, st *syscall.Stat_t) error {
	if !Confined() {
		return syscall.Lstat(name, st)
	}
	if strings.HasSuffix(name, "/") {
		return StatT(name, st)
	}
	return withName("lstat", name, func(h held) error { return syscall.Lstat(h.path, st) })
}

// Access is syscall.Access.
func Access(name string, mode uint32) error {
	if !Confined() {
		return syscall.Access(name, mode)
	}
	return with("access", name, func(h held) error { return syscall.Access(h.path, mode) })
}

// Chmod gives a file a mode, with the bits of the system.
func Chmod(name string, mode uint32) error {
	if !Confined() {
		return syscall.Chmod(name, mode)
	}
	return with("chmod", name, func(h held) error { return syscall.Chmod(h.path, mode) })
}

// Chown is os.Chown.
func Chown(name string, uid, gid int) error {
	if !Confined() {
		return os.Chown(name, uid, gid)
	}
	return with("chown", name, func(h held) error { return os.Chown(h.path, uid, gid) })
}

// Lchown is os.Lchown.
func Lchown(name string, uid, gid int) error {
	if !Confined() {
		return os.Lchown(name, uid, gid)
	}
	return withName("lchown", name, func(h held) error { return os.Lchown(h.path, uid, gid) })
}

// Chtimes is os.Chtimes.
func Chtimes(name string, access, modification time.Time) error {
	if !Confined() {
		return os.Chtimes(name, access, modification)
	}
	return with("chtimes", name, func(h held) error { return os.Chtimes(h.path, access, modification) })
}

// SetTimes is unix.UtimesNanoAt of a path.
func SetTimes(name string, times []unix.Timespec) error {
	if !Confined() {
		return unix.UtimesNanoAt(unix.AT_FDCWD, name, times, 0)
	}
	return with("chtimes", name, func(h held) error { return unix.UtimesNanoAt(unix.AT_FDCWD, h.path, times, 0) })
}

// Mkdir is os.Mkdir.
func Mkdir(name string, perm fs.FileMode) error {
	if !Confined() {
		return os.Mkdir(name, perm)
	}
	return withName("mkdir", name, func(h held) error { return os.Mkdir(h.path, perm) })
}

// MkdirAll is os.MkdirAll.
func MkdirAll(name string, perm fs.FileMode) error {
	if !Confined() {
		return os.MkdirAll(name, perm)
	}
	info, err := Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(filepath.Clean(name)); within(parent) {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := Mkdir(name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Remove is os.Remove.
func Remove(name string) error {
	if !Confined() {
		return os.Remove(name)
	}
	return withName("remove", name, func(h held) error { return os.Remove(h.path) })
}

// RemoveAll is os.RemoveAll, which follows no links.
func RemoveAll(name string) error {
	if !Confined() {
		return os.RemoveAll(name)
	}
	err := withName("remove", name, func(h held) error { return os.RemoveAll(h.path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Rename is os.Rename.
func Rename(from, to string) error {
	if !Confined() {
		return os.Rename(from, to)
	}
	return withName("rename", from, func(a held) error {
		return withName("rename", to, func(b held) error { return os.Rename(a.path, b.path) })
	})
}

// Symlink is os.Symlink. A link that would lead out is not made: others follow it, if this process does not.
func Symlink(target, name string) error {
	if !Confined() {
		return os.Symlink(target, name)
	}
	return withName("symlink", name, func(h held) error {
		dir, err := os.Readlink(strings.TrimSuffix(h.path, "/"+h.base))
		if err != nil {
			return err
		}
		at := target
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, target)
		}
		if !within(filepath.Clean(at)) || slices.Contains(strings.Split(strings.TrimLeft(target, "./"), "/"), "..") {
			return &OutsideError{target}
		}
		return os.Symlink(target, h.path)
	})
}

// Link is os.Link.
func Link(from, to string) error {
	if !Confined() {
		return os.Link(from, to)
	}
	return withName("link", from, func(a held) error {
		return withName("link", to, func(b held) error { return os.Link(a.path, b.path) })
	})
}

// Readlink is os.Readlink.
func Readlink(name string) (target string, err error) {
	if !Confined() {
		return os.Readlink(name)
	}
	err = withName("readlink", name, func(h held) error {
		target, err = os.Readlink(h.path)
		return err
	})
	return target, err
}

// EvalSymlinks is filepath.EvalSymlinks.
func EvalSymlinks(name string) (real string, err error) {
	if !Confined() {
		return filepath.EvalSymlinks(name)
	}
	err = with("lstat", name, func(h held) error {
		real, err = os.Readlink(h.path)
		return err
	})
	return real, err
}

// ReadDir is os.ReadDir.
func ReadDir(name string) ([]fs.DirEntry, error) {
	if !Confined() {
		return os.ReadDir(name)
	}
	list, err := List(name)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// List is ReadDir in the order of the disk.
func List(name string) ([]fs.DirEntry, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	for i, e := range list {
		if Confined() {
			list[i] = entry{e, filepath.Join(name, e.Name())}
		}
	}
	return list, err
}

// CreateTemp is os.CreateTemp.
func CreateTemp(dir, pattern string) (f *os.File, err error) {
	if !Confined() {
		return os.CreateTemp(dir, pattern)
	}
	if dir == "" {
		dir = os.TempDir()
	}
	err = with("open", dir, func(h held) error {
		made, err := os.CreateTemp(h.path, pattern)
		if err != nil {
			return err
		}
		defer made.Close()
		fd, err := unix.FcntlInt(made.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		f = os.NewFile(uintptr(fd), filepath.Join(dir, filepath.Base(made.Name())))
		return err
	})
	return f, err
}

// Held does something to a file by a path that leads to it and nowhere else; follow says whether a link at its end is
// followed.
func Held(name string, follow bool, do func(path string) error) error {
	switch {
	case !Confined():
		return do(name)
	case follow:
		return with("open", name, func(h held) error { return do(h.path) })
	}
	return withName("open", name, func(h held) error { return do(h.path) })
}
