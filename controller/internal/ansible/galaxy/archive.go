package galaxy

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// member is a file, directory or link of an archive.
type member struct {
	name, link string
	kind       byte // of archive/tar
	mode       fs.FileMode
}

// eachMember gives the members of an archive, which may be packed with gzip or bzip2, until f says no.
func eachMember(path string, f func(m member, r io.Reader) (more bool, err error)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := unpacked(file)
	if err != nil {
		return err
	}
	var left int64 = maxArchive
	for t, n := tar.NewReader(r), 0; ; n++ {
		if n > maxMembers {
			return failf("%s has more than %d members", path, maxMembers)
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if left -= h.Size; left < 0 {
			return failf("%s holds more than %d bytes", path, int64(maxArchive))
		}
		m := member{name: strings.TrimSuffix(h.Name, "/"), link: h.Linkname, kind: h.Typeflag,
			mode: h.FileInfo().Mode().Perm()}
		if more, err := f(m, t); err != nil || !more {
			return err
		}
	}
}

func unpacked(f io.Reader) (io.Reader, error) {
	b := bufio.NewReader(f)
	head, _ := b.Peek(3) // a short file is no archive, and tar says so
	switch string(head) {
	case "\x1f\x8b\x08":
		return gzip.NewReader(b)
	case "BZh":
		return bzip2.NewReader(b), nil
	}
	return b, nil
}

// members returns the names, kinds and links of an archive.
func members(path string) ([]member, error) {
	var out []member
	err := eachMember(path, func(m member, _ io.Reader) (bool, error) {
		out = append(out, m)
		return true, nil
	})
	return out, err
}

// unpacking is a directory into which an archive is unpacked. Whatever links the archive has brought, nothing is made
// outside of the directory.
type unpacking struct {
	root  *os.Root
	dir   string
	links []string // that were made
}

func unpackInto(dir string) (*unpacking, error) {
	root, err := os.OpenRoot(dir)
	return &unpacking{root: root, dir: dir}, err
}

// below returns a path in the directory as its root has it.
func (u *unpacking) below(path string) (string, error) { return filepath.Rel(u.dir, path) }

// file makes a file where nothing is.
func (u *unpacking) file(path string, r io.Reader, mode fs.FileMode) error {
	rel, err := u.below(path)
	if err == nil {
		err = u.root.MkdirAll(filepath.Dir(rel), 0o755)
	}
	if err != nil {
		return err
	}
	f, err := u.root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func (u *unpacking) link(target, path string) error {
	rel, err := u.below(path)
	if err == nil {
		err = u.root.MkdirAll(filepath.Dir(rel), 0o755)
	}
	if err == nil {
		err = u.root.Symlink(target, rel)
	}
	if err == nil {
		u.links = append(u.links, rel)
	}
	return err
}

func (u *unpacking) mkdir(path string) error {
	rel, err := u.below(path)
	if err != nil {
		return err
	}
	return u.root.MkdirAll(rel, 0o755)
}

// close ends the unpacking. Links that lead out of the directory, by way of others, are removed; the error names one.
func (u *unpacking) close() error {
	var bad error
	for _, rel := range u.links {
		if _, err := u.root.Stat(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			bad = errors.Join(failf("the link %s leads out of %s", rel, u.dir), u.root.Remove(rel))
		}
	}
	return errors.Join(bad, u.root.Close())
}

// writeFile puts a file of an archive where nothing is.
func writeFile(path string, r io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// insideReal reports whether the directory of path, with its links followed, still lies in root: links that an
// archive brought must not lead later members out of it.
func insideReal(root, path string) bool {
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	base, err := filepath.EvalSymlinks(root)
	return err == nil && child(real, base)
}
