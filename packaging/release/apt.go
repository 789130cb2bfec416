package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blakesmith/ar"
)

// aptRepository makes apt/: packages in pool, lists of them in dists/stable, a signature over all of it
// (wiki.debian.org/DebianRepository/Format).
func (r *release) aptRepository() error {
	debs, err := filepath.Glob(filepath.Join(r.out, "*.deb"))
	if err != nil {
		return err
	}
	lists := map[string]*bytes.Buffer{}
	for _, deb := range debs {
		stanza, arch, err := r.aptStanza(deb)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(deb), err)
		}
		for _, on := range aptArchitectures() {
			if arch == on || arch == "all" {
				if lists[on] == nil {
					lists[on] = &bytes.Buffer{}
				}
				lists[on].WriteString(stanza + "\n")
			}
		}
		if err := linkInto(deb, filepath.Join(r.out, "apt/pool")); err != nil {
			return err
		}
	}
	files := map[string][]byte{}
	for arch, list := range lists {
		dir := "main/binary-" + arch + "/"
		files[dir+"Packages"] = list.Bytes()
		if files[dir+"Packages.gz"], err = gzipped(list.Bytes()); err != nil {
			return err
		}
	}
	return r.aptRelease(filepath.Join(r.out, "apt/dists/stable"), files)
}

// aptArchitectures are Debian's names of the machines there are packages for.
func aptArchitectures() []string { return []string{"amd64", "arm64", "armhf", "i386"} }

// aptRelease writes the lists and the file that has their digests, with its signature within (InRelease) and beside
// (Release.gpg).
func (r *release) aptRelease(dir string, files map[string][]byte) error {
	var b strings.Builder
	fmt.Fprintf(&b,
		"Origin: %s\nLabel: %s\nSuite: stable\nCodename: stable\nVersion: %s\nDate: %s\nArchitectures: %s\n"+
			"Components: main\nDescription: Packages of hark\n",
		r.project.Name, r.project.Name, r.version, r.made.Format("Mon, 02 Jan 2006 15:04:05 UTC"),
		strings.Join(aptArchitectures(), " "))
	names := make([]string, 0, len(files))
	for name, text := range files {
		names = append(names, name)
		if err := writeAll(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	slices.Sort(names)
	b.WriteString("SHA256:\n")
	for _, name := range names {
		fmt.Fprintf(&b, " %x %d %s\n", sha256.Sum256(files[name]), len(files[name]), name)
	}
	text := []byte(b.String())
	beside, err := r.sign.armored(text)
	if err != nil {
		return err
	}
	within, err := r.sign.within(text)
	if err != nil {
		return err
	}
	return errors.Join(writeAll(filepath.Join(dir, "Release"), text), writeAll(filepath.Join(dir, "Release.gpg"), beside),
		writeAll(filepath.Join(dir, "InRelease"), within))
}

// aptStanza is what a list of packages says of one, and its architecture.
func (r *release) aptStanza(deb string) (stanza, arch string, err error) {
	control, err := debControl(deb)
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(deb)
	if err != nil {
		return "", "", err
	}
	for line := range strings.SplitSeq(control, "\n") {
		if value, ok := strings.CutPrefix(line, "Architecture: "); ok {
			arch = value
		}
	}
	return fmt.Sprintf("%sFilename: pool/%s\nSize: %d\nMD5sum: %x\nSHA1: %x\nSHA256: %x\n", control, filepath.Base(deb),
		len(text), md5.Sum(text), sha1.Sum(text), sha256.Sum256(text)), arch, nil
}

// debControl is the control file of a package.
func debControl(deb string) (string, error) {
	f, err := os.Open(deb)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for members := ar.NewReader(f); ; {
		h, err := members.Next()
		if err != nil {
			return "", fmt.Errorf("it has no control.tar.gz: %w", err)
		}
		if strings.TrimSuffix(h.Name, "/") != "control.tar.gz" {
			continue
		}
		plain, err := gzip.NewReader(members)
		if err != nil {
			return "", err
		}
		for files := tar.NewReader(plain); ; {
			h, err := files.Next()
			if err != nil {
				return "", fmt.Errorf("it has no control file: %w", err)
			}
			if filepath.Clean(h.Name) == "control" {
				text, err := io.ReadAll(files)
				return strings.TrimRight(string(text), "\n") + "\n", err
			}
		}
	}
}

// linkInto has a file in a directory too, without another copy where the file system can.
func linkInto(file, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.Base(file))
	if os.Link(file, to) == nil {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// writeAll writes a file and the directories above it.
func writeAll(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// gzipped is a text, compressed, without a name and a time in it.
func gzipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
