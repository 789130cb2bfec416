package fsx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Staged is a file that waits beside its destination to take its place at once. Either Commit or Discard
// must follow.
type Staged struct {
	// Path is the temporary file.
	Path string
	// Lazy leaves it to the caller to make many files durable at once, with SyncTree.
	Lazy bool
	file *os.File
	dest string
	most uint32 // the permissions that it may have
	// fallback is set when the directory of the destination takes no new files: only an unsafe write can help.
	fallback error
}

// Stage makes an empty temporary file in the directory of dest, or elsewhere if unsafe and that is impossible. It is
// readable by its owner only.
func Stage(dest string, unsafe bool) (*Staged, error) {
	dir, base := filepath.Split(dest)
	if len(base) > 100 {
		base = base[:100]
	}
	f, err := hostfs.CreateTemp(orDot(dir), ".hark-*-"+base)
	if err == nil {
		return &Staged{Path: f.Name(), file: f, dest: dest, most: PermBits}, nil
	}
	temp := dir + base
	var pe *os.PathError
	if errors.As(err, &pe) {
		temp = pe.Path
	}
	// Ansible reports this as an exception too: that of the rename it tried first.
	why := &Error{
		Msg: fmt.Sprintf("The destination directory (%s) is not writable by the current user. Error was: %s",
			strings.TrimSuffix(dir, "/"), oserr.Bytes(err, temp)),
		Data: value.DictOf("exception", oserr.Class(err)+": "+oserr.Bytes(err, temp)+" -> "+value.ReprBytes(dest)),
	}
	if !unsafe {
		return nil, why
	}
	if errors.Is(err, syscall.ENOENT) { // no unsafe write helps; Ansible's rename fails
		return nil, failure("Could not replace file: %s to %s: %s -> %s", temp, dest, oserr.Bytes(err, temp),
			value.ReprBytes(dest))
	}
	f, err = hostfs.CreateTemp("", "hark-*")
	if err != nil {
		return nil, err
	}
	return &Staged{Path: f.Name(), file: f, dest: dest, most: PermBits, fallback: why}, nil
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// Write adds to the file.
func (s *Staged) Write(b []byte) (int, error) { return s.file.Write(b) }

// Narrow takes the mode that the file is to have: Commit then gives it no permission beyond that, so that a secret
// lies open at no time. A symbolic mode depends on what Commit gives, and changes nothing here.
func (s *Staged) Narrow(mode value.Value) {
	if n, ok := absolute(mode); ok {
		s.most = n & PermBits
	}
}

// Close ends the writing and makes it durable; Commit does it too.
func (s *Staged) Close() error {
	if s.file == nil {
		return nil
	}
	var err error
	if !s.Lazy {
		err = s.file.Sync()
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}

// Discard removes the temporary file. After Commit it does nothing.
func (s *Staged) Discard() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	if s.Path != "" {
		_ = hostfs.Remove(s.Path)
		s.Path = ""
	}
}

// Commit puts the file in the place of dest, with the mode, owner, extended attributes and context that dest had; a
// new file gets what the umask leaves of 0666. With unsafe, a destination that cannot be replaced is written in
// place.
func (s *Staged) Commit(unsafe bool) error { return s.commit(unsafe, s.dress) }

// CommitNew is Commit as if dest had not been there: where a link makes way for a file.
func (s *Staged) CommitNew(unsafe bool) error { return s.commit(unsafe, s.dressNew) }

// commit is Commit with a choice of what the file gets.
func (s *Staged) commit(unsafe bool, dress func() error) error {
	defer s.Discard()
	if err := s.Close(); err != nil {
		return err
	}
	if s.fallback != nil {
		return s.overwrite()
	}
	if err := dress(); err != nil {
		return err
	}
	if err := hostfs.Rename(s.Path, s.dest); err != nil {
		if unsafe && errors.Is(err, syscall.EBUSY) {
			return s.overwrite()
		}
		return failure("Could not replace file: %s to %s: %s", s.Path, s.dest,
			oserr.Bytes(err, s.Path)+" -> "+value.ReprBytes(s.dest))
	}
	s.Path = ""
	return nil
}

// SyncTree makes everything on the file system of path durable.
func SyncTree(path string) {
	if f, err := hostfs.Open(path); err == nil {
		syncFileSystem(f)
		f.Close()
	}
}

// dressNew gives the temporary file what a new file gets.
func (s *Staged) dressNew() error {
	uid, gid := Self()
	if err := hostfs.Chown(s.Path, uid, gid); err != nil && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if SELinux() {
		if context := DefaultContext(s.dest); context != nil {
			_ = setContext(s.Path, context)
		}
	}
	return hostfs.Chmod(s.Path, 0o666&^Umask()&s.most)
}

// dress gives the temporary file what the destination has, but for the bits that let others run as its owner or
// group: they were meant for another content, and Ansible, which sets the owner last, loses them too.
func (s *Staged) dress() error {
	var st syscall.Stat_t
	if err := hostfs.StatT(s.dest, &st); err != nil {
		return s.dressNew()
	}
	if err := hostfs.Chown(s.Path, int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, syscall.EPERM) {
		return err
	}
	copyXattrs(s.dest, s.Path) // before the mode, which they can widen
	mode := uint32(st.Mode) & s.most &^ syscall.S_ISUID
	if mode&syscall.S_IXGRP != 0 {
		mode &^= syscall.S_ISGID
	}
	return hostfs.Chmod(s.Path, mode)
}

// overwrite copies into the destination itself.
func (s *Staged) overwrite() error {
	in, err := hostfs.Open(s.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := hostfs.OpenFile(s.dest, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return failure("Could not write data to file (%s) from (%s): %s", s.dest, s.Path, oserr.Bytes(err, s.dest))
	}
	return nil
}

// copyXattrs copies extended attributes as far as they can be: ACLs and contexts are among them.
func copyXattrs(from, to string) {
	_ = hostfs.Held(from, true, func(from string) error {
		return hostfs.Held(to, true, func(to string) error {
			copyHeldXattrs(from, to)
			return nil
		})
	})
}

func copyHeldXattrs(from, to string) {
	size, err := unix.Listxattr(from, nil)
	if err != nil || size <= 0 {
		return
	}
	names := make([]byte, size)
	if size, err = unix.Listxattr(from, names); err != nil {
		return
	}
	val := make([]byte, 64<<10)
	for _, name := range strings.Split(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if n, err := unix.Getxattr(from, name, val); err == nil {
			_ = unix.Setxattr(to, name, val[:n], 0)
		}
	}
}

// WriteFile replaces a file's content at once, see Staged.
func WriteFile(dest string, content []byte, unsafe bool) error {
	s, err := Stage(dest, unsafe)
	if err != nil {
		return err
	}
	return s.write(content, unsafe)
}

func (s *Staged) write(content []byte, unsafe bool) error {
	defer s.Discard()
	if _, err := s.Write(content); err != nil {
		return err
	}
	return s.Commit(unsafe)
}
