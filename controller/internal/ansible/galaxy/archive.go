package galaxy

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
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
		h, err := t.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("%s holds more than %d bytes", path, int64(maxArchive))
		}
		m := member{name: strings.TrimSuffix(h.Name, "/"), link: h.Linkname, kind: h.Typeflag, mode: h.FileInfo().Mode().Perm()}
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

// members are the names, kinds and links of an archive.
func members(path string) ([]member, error) {
	var out []member
	err := eachMember(path, func(m member, _ io.Reader) (bool, error) {
		out = append(out, m)
		return true, nil
	})
	return out, err
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
