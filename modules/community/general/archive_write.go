package general

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/fnmatch"
	"hark/modules/py/value"
)

// packer is an archive that is being written.
type packer interface {
	// add packs one file or directory; false says that a pattern leaves it out or that it cannot be in an archive.
	add(path, name string) (bool, error)
	Close() error
}

// pack writes the archive beside its place and then puts it there. It gives the archive's state.
func (p *packing) pack() (string, error) {
	dest := fsx.RealPath(p.dest)
	if fsx.IsDir(dest) {
		return "", p.unwritable(&fs.PathError{Op: "open", Path: dest, Err: syscall.EISDIR})
	}
	staged, err := p.args.Stage(dest)
	if err != nil {
		return "", err
	}
	defer staged.Discard()
	state := "compress"
	if p.archives || p.args.Format == "zip" || p.args.Format == "tar" {
		state = "archive"
	}
	if p.missing != nil {
		state = "incomplete"
	}
	if p.args.Format == "bz2" || p.args.Format == "xz" {
		plain, err := fsx.Stage(dest, true)
		if err != nil {
			return "", err
		}
		defer plain.Discard()
		if err := p.fill(plain, staged.Path, plain.Path); err != nil {
			return "", err
		}
		if err := errors.Join(plain.Close(), p.squeeze(plain.Path, staged.Path, "-c")); err != nil {
			return "", err
		}
		return state, staged.Commit(p.args.UnsafeWrites)
	}
	if err := p.fill(staged, staged.Path); err != nil {
		return "", err
	}
	return state, staged.Commit(p.args.UnsafeWrites)
}

// fill writes what is packed; own are the files that this makes itself.
func (p *packing) fill(w io.Writer, own ...string) error {
	if p.args.Format == "gz" {
		zipped, _ := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err := p.fillPlain(zipped, own); err != nil {
			return err
		}
		return zipped.Close()
	}
	return p.fillPlain(w, own)
}

func (p *packing) fillPlain(w io.Writer, own []string) error {
	if !p.archives && p.args.Format != "zip" && p.args.Format != "tar" {
		f, err := os.Open(p.targets[0])
		if err == nil {
			defer f.Close()
			_, err = io.Copy(w, f)
		}
		if err != nil {
			return p.unwritable(err)
		}
		p.packed = append(p.packed, p.targets[0])
		return nil
	}
	var to packer = &tarPacker{w: tar.NewWriter(w), patterns: p.args.ExclusionPatterns, inodes: map[[2]uint64]string{}}
	if p.args.Format == "zip" {
		to = &zipPacker{w: zip.NewWriter(w), patterns: p.args.ExclusionPatterns}
	}
	// Ansible packs the half-written archive too if it is among the files.
	own = append(own, fsx.RealPath(p.dest))
	var wrong []string
	for _, path := range p.within() {
		if isOneOf(path, own) {
			continue
		}
		did, err := to.add(path, strings.TrimPrefix(path, p.root))
		if err != nil {
			wrong = append(wrong, path+": "+oserr.Path(err, path))
		} else if did {
			p.packed = append(p.packed, path)
		}
	}
	if wrong != nil {
		return tool.Fail(nil, "Errors when writing archive at %s: %s", p.dest, strings.Join(wrong, "; "))
	}
	if err := to.Close(); err != nil {
		return p.unwritable(err)
	}
	return nil
}

func isOneOf(path string, files []string) bool {
	for _, file := range files {
		if filepath.Base(path) == filepath.Base(file) && fsx.RealPath(path) == file {
			return true
		}
	}
	return false
}

// unwritable is the failure to write the archive.
func (p *packing) unwritable(err error) error {
	why := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		why = oserr.Path(err, pe.Path)
	}
	if !p.archives && p.args.Format != "zip" && p.args.Format != "tar" {
		return tool.Fail(value.DictOf("path", p.paths[0], "dest", p.dest), "Unable to write to compressed file: %s", why)
	}
	format := p.args.Format
	if format != "zip" && format != "tar" {
		format = "tar." + format
	}
	return tool.Fail(nil, "Error when writing %s archive at %s: %s", format, p.dest, why)
}

// within returns the targets, but instead of directories all that is under them.
func (p *packing) within() []string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, _ := os.ReadDir(dir)
		var dirs, files []string
		for _, e := range entries {
			path := strings.TrimSuffix(dir, "/") + "/" + e.Name()
			if fsx.IsDir(path) {
				dirs = append(dirs, path)
			} else {
				files = append(files, path)
			}
		}
		out = append(append(out, dirs...), files...)
		for _, sub := range dirs {
			if !fsx.IsLink(sub) {
				walk(sub)
			}
		}
	}
	for _, target := range p.targets {
		if fsx.IsDir(target) {
			walk(target)
		} else {
			out = append(out, target)
		}
	}
	return out
}

// squeeze runs the format's own program from one file into another. Go's library can only read bzip2, and xz not at
// all.
func (p *packing) squeeze(from, to, option string) error {
	name := map[string]string{"bz2": "bzip2", "xz": "xz"}[p.args.Format]
	path, err := tool.Find(p.Env, name)
	if err != nil {
		return err
	}
	script := `exec "$0" "$1" <"$2" >"$3"`
	_, err = tool.Must(p.Ctx, p.Env,
		modules.Command{Argv: []string{"/bin/sh", "-c", script, path, option, from, to}, Literal: true,
			Env: []string{"LC_ALL=C"}})
	return err
}

func matchesAny(name string, patterns []string) bool {
	for _, pattern := range patterns {
		if fnmatch.Match(pattern, name) {
			return true
		}
	}
	return false
}

type tarPacker struct {
	w        *tar.Writer
	patterns []string
	inodes   map[[2]uint64]string // names of files with several links
}

func (t *tarPacker) add(path, name string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return false, err
		}
	}
	name = strings.TrimLeft(name, "/")
	if info.Mode()&fs.ModeSocket != 0 || matchesAny(name, t.patterns) {
		return false, nil
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return false, err
	}
	h.Name = name
	if info.IsDir() {
		h.Name += "/"
	}
	t.link(h, info)
	// These change by themselves, and Python does not keep them.
	h.AccessTime, h.ChangeTime, h.Format = time.Time{}, time.Time{}, tar.FormatPAX
	return true, t.write(h, path)
}

// link makes a further name of a packed file a link to the first one.
func (t *tarPacker) link(h *tar.Header, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || st.Nlink < 2 {
		return
	}
	inode := [2]uint64{uint64(st.Dev), st.Ino}
	if first, ok := t.inodes[inode]; ok && first != h.Name {
		h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		return
	}
	t.inodes[inode] = h.Name
}

func (t *tarPacker) write(h *tar.Header, path string) error {
	if h.Typeflag != tar.TypeReg {
		return t.w.WriteHeader(h)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(t.w, f, h.Size)
	return err
}

func (t *tarPacker) Close() error { return t.w.Close() }

type zipPacker struct {
	w        *zip.Writer
	patterns []string
}

// add follows links, as there are none in Python's zip files. Directories are packed, but do not count.
func (z *zipPacker) add(path, name string) (bool, error) {
	if matchesAny(path, z.patterns) {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if info.ModTime().Year() < 1980 {
		return false, errors.New("ZIP does not support timestamps before 1980")
	}
	h, err := zip.FileInfoHeader(info)
	if err != nil {
		return false, err
	}
	h.Name = strings.TrimLeft(name, "/")
	if info.IsDir() {
		h.Name += "/"
		_, err := z.w.CreateHeader(h)
		return false, err
	}
	h.Method = zip.Deflate
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	to, err := z.w.CreateHeader(h)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(to, f)
	return err == nil, err
}

func (z *zipPacker) Close() error { return z.w.Close() }
