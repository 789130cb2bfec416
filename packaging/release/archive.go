package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// archives makes a .tar.gz of each program, for machines without packages.
func (r *release) archives() error {
	for _, p := range append(agents(), controllers()...) {
		if err := r.compile(p); err != nil {
			return err
		}
		dir := fmt.Sprintf("%s_%s_%s_%s", p.name, r.version, p.system, p.arch)
		files := []entry{{path: filepath.Join(dir, p.name), from: r.path(p), mode: 0o755}}
		for _, name := range []string{"LICENSE", "README.md"} {
			files = append(files, entry{path: filepath.Join(dir, name), from: filepath.Join(r.root, name), mode: 0o644})
		}
		if p.name == "hark-agent" {
			for _, name := range []string{"agent.yml", "hark-agent.service"} {
				files = append(files,
					entry{path: filepath.Join(dir, name), from: filepath.Join(r.root, "agent/hark-agent", name), mode: 0o644})
			}
		}
		text, err := tarball(files, r.made)
		if err != nil {
			return err
		}
		if err := writeGzip(filepath.Join(r.out, dir+".tar.gz"), text); err != nil {
			return err
		}
	}
	return nil
}

// entry is a file of an archive: from is where its text lies if text is nil; link makes it a symbolic link, a path
// that ends with / a directory.
type entry struct {
	path, from, link string
	text             []byte
	mode             int64
	owner            int
}

// tarball is an archive in which nothing but the given entries makes a difference.
func tarball(files []entry, made time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		text := f.text
		if text == nil && f.from != "" {
			var err error
			if text, err = os.ReadFile(f.from); err != nil {
				return nil, err
			}
		}
		h := &tar.Header{Name: f.path, Mode: f.mode, Size: int64(len(text)), ModTime: made, Typeflag: tar.TypeReg,
			Uid: f.owner, Gid: f.owner, Format: tar.FormatPAX}
		switch {
		case f.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		case f.path[len(f.path)-1] == '/':
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// packed is a compressed archive.
func packed(files []entry, made time.Time) ([]byte, error) {
	text, err := tarball(files, made)
	if err != nil {
		return nil, err
	}
	return gzipped(text)
}
