package galaxy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Build makes the archive of a collection's source tree in a directory.
func (c *Client) Build(dir, output string, force bool) (string, error) {
	m, err := metaOfSource(c.Screen, dir, false)
	if err != nil {
		return "", err
	}
	if err := m.name.checkNames(filepath.Join(dir, "galaxy.yml")); err != nil {
		return "", err
	}
	if strings.Contains(m.version, "/") {
		return "", failf("%s: %q cannot be a version: the archive is named after it.", filepath.Join(dir, "galaxy.yml"),
			m.version)
	}
	man, err := makeManifest(c.Screen, dir, m)
	if err != nil {
		return "", err
	}
	path := filepath.Join(output, fmt.Sprintf("%s-%s-%s.tar.gz", m.name.namespace, m.name.name, m.version))
	switch {
	case isDir(path):
		return "", failf("The output collection artifact '%s' already exists, but is a directory - aborting", path)
	case exists(path) && !force:
		return "", failf("The file '%s' already exists. You can use --force to re-create the collection artifact.", path)
	}
	if err := man.pack(dir, path); err != nil {
		return "", err
	}
	c.Screen.Say("Created collection for " + m.name.String() + " at " + path)
	return path, nil
}

// Output makes the directory that archives are put into.
func Output(path string) error {
	if isFile(path) {
		return failf("- the output collection directory %s is a file - aborting", path)
	}
	return os.MkdirAll(path, 0o777)
}

// pack writes the archive beside its place and moves it there.
func (m *manifest) pack(dir, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".hark-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	z := gzip.NewWriter(f)
	t := tar.NewWriter(z)
	err = m.members(t, dir)
	if err = errors.Join(err, t.Close(), z.Close(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (m *manifest) members(t *tar.Writer, dir string) error {
	for _, own := range []struct {
		name string
		data []byte
	}{{manifestName, m.manifest}, {filesName, m.files}} {
		h := &tar.Header{Name: own.name, Size: int64(len(own.data)), Mode: 0o644, ModTime: time.Now(), Typeflag: tar.TypeReg}
		if err := put(t, h, bytes.NewReader(own.data)); err != nil {
			return err
		}
	}
	for _, e := range m.entries {
		if err := pack(t, dir, e); err != nil {
			return err
		}
	}
	return nil
}

// pack adds a file, a directory, or a link within the collection.
func pack(t *tar.Writer, dir string, e entry) error {
	path := filepath.Join(dir, e.name)
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st.Mode()&os.ModeSymlink != 0 && leadsInside(path, dir) {
		to, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		here, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(here, to)
		if err != nil {
			return err
		}
		return put(t, &tar.Header{Name: e.name, Linkname: rel, Mode: 0o644, Typeflag: tar.TypeSymlink}, nil)
	}
	if st, err = os.Stat(path); err != nil {
		return err
	}
	h := &tar.Header{Name: e.name, Mode: 0o644, ModTime: st.ModTime().Truncate(time.Second), Typeflag: tar.TypeReg,
		Size: st.Size()}
	if st.Mode()&0o100 != 0 || st.IsDir() {
		h.Mode = 0o755
	}
	if st.IsDir() {
		h.Name, h.Typeflag, h.Size = e.name+"/", tar.TypeDir, 0
		return put(t, h, nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return put(t, h, f)
}

func put(t *tar.Writer, h *tar.Header, content io.Reader) error {
	if err := t.WriteHeader(h); err != nil || content == nil {
		return err
	}
	_, err := io.Copy(t, content)
	return err
}
